// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// CertificateMode is what kind of certificate a BMC shows.
type CertificateMode string

// The kinds of certificates. The zero value is one that verifies against [Rack.CAPEM].
const (
	CertificateValid      CertificateMode = ""
	CertificateExpired    CertificateMode = "expired"
	CertificateSelfSigned CertificateMode = "self-signed" // as BMCs ship: verifies only by pinning
	CertificateWrongHost  CertificateMode = "wrong-host"
)

// authority is the rack's own CA, made anew each time.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// identity is the certificate a BMC shows; made when first wanted.
type identity struct {
	mode CertificateMode
	cert *tls.Certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificateTemplate("Simulated rack CA", time.Now())
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("redfish rack: CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	err = pem.Encode(&buf, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &authority{cert: cert, key: key, pem: buf.Bytes()}, err
}

func certificateTemplate(name string, from time.Time) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: from.Add(-time.Hour), NotAfter: from.AddDate(10, 0, 0),
	}
}

// issue makes the leaf certificate of a BMC.
func (a *authority) issue(mode CertificateMode, name string, address netip.Addr) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificateTemplate(name, time.Now())
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{address.AsSlice()}
	parent, parentKey := a.cert, a.key
	switch mode {
	case CertificateValid:
	case CertificateExpired:
		template.NotAfter = time.Now().Add(-time.Minute)
	case CertificateWrongHost:
		template.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)}
	case CertificateSelfSigned:
		parent, parentKey = template, key
	default:
		return nil, fmt.Errorf("redfish rack: unknown certificate mode %q", mode)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, fmt.Errorf("redfish rack: certificate of %q: %w", name, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// CAPEM returns the certificate of the rack's CA.
func (r *Rack) CAPEM() []byte { return bytes.Clone(r.ca.pem) }

// Client returns an HTTP client that trusts the rack's CA, with connections of its own.
func (r *Rack) Client() *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(r.ca.cert)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: 1,
	}}
}

// tlsConfig shows each connection the certificate of its BMC. No resumption: a changed certificate must
// be seen by the next connection.
func (r *Rack) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS12,
		SessionTicketsDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			b := hello.Conn.(*simConn).bmc
			defer b.rack.enter()()
			return b.certificate()
		},
	}
}

func (b *BMC) certificate() (*tls.Certificate, error) {
	if b.identity.cert == nil {
		cert, err := b.rack.ca.issue(b.identity.mode, b.spec.Name, b.address)
		if err != nil {
			return nil, err
		}
		b.identity.cert = cert
	}
	return b.identity.cert, nil
}

// SetCertificate gives the BMC a new certificate and ends its connections.
func (b *BMC) SetCertificate(mode CertificateMode) error {
	defer b.rack.enter()()
	was := b.identity
	b.identity = identity{mode: mode}
	if _, err := b.certificate(); err != nil {
		b.identity = was
		return err
	}
	b.cutConns()
	return nil
}

// Fingerprint returns the SHA-256 of the BMC's certificate (of its DER form), in lower-case hex: what a
// person would pin.
func (b *BMC) Fingerprint() (string, error) {
	defer b.rack.enter()()
	cert, err := b.certificate()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(cert.Certificate[0])
	return hex.EncodeToString(sum[:]), nil
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net/http"
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

// identity is the certificate a BMC shows; made when first wanted.
type identity struct {
	mode CertificateMode
	cert *tls.Certificate
}

// CAPEM returns the certificate of the rack's CA.
func (r *Rack) CAPEM() []byte { return r.ca.PEM() }

// Client returns an HTTP client that trusts the rack's CA, with connections of its own.
func (r *Rack) Client() *http.Client {
	pool := x509.NewCertPool()
	r.ca.Trust(pool)
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
		cert, err := b.issue(b.identity.mode)
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

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// authority is the CA that the certificate of the services verifies against.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// newAuthority makes a CA, or takes up the one of the directory, so that clients may keep trusting it.
func newAuthority(dir string) (*authority, error) {
	file := filepath.Join(dir, "ca.pem")
	if dir != "" {
		data, err := os.ReadFile(file)
		if err == nil {
			return parseAuthority(data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate("Simulated cloud CA")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	data := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})...)
	if dir != "" {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return nil, err
		}
	}
	return parseAuthority(data)
}

func parseAuthority(data []byte) (*authority, error) {
	certBlock, rest := pem.Decode(data)
	keyBlock, _ := pem.Decode(rest)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("the CA file holds no certificate and key")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	return &authority{cert: cert, key: key, pem: pem.EncodeToMemory(certBlock)}, err
}

func certificate(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(fmt.Sprintf("crypto/rand failed: %v", err)) // it does not
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
	}
}

// serverConfig is that of the services, which are all at one address.
func (a *authority) serverConfig(address netip.Addr) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate("Simulated cloud")
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{address.AsSlice()}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}

// CAPEM returns the certificate of the CA that the services' verifies against; nil without TLS.
func (c *Cloud) CAPEM() []byte {
	if c.ca == nil {
		return nil
	}
	return bytes.Clone(c.ca.pem)
}

// Client returns an HTTP client that trusts the cloud, with connections of its own.
func (c *Cloud) Client() *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	if c.ca != nil {
		pool := x509.NewCertPool()
		pool.AddCert(c.ca.cert)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}
}

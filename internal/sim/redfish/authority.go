// SPDX-License-Identifier: Apache-2.0

package redfish

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
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// authority is the rack's own CA: made anew each time, or kept in the state directory so that what trusts
// it still does after a restart.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // the certificate
}

// openAuthority loads the CA of a state directory, and makes one where there is none. Without a directory
// it makes one.
func openAuthority(dir string) (*authority, error) {
	if dir == "" {
		return newAuthority()
	}
	file := filepath.Join(dir, "ca.pem")
	data, err := os.ReadFile(file)
	if err == nil {
		a, err := parseAuthority(data)
		if err != nil {
			return nil, fmt.Errorf("redfish rack: state: %s: %w", file, err)
		}
		return a, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("redfish rack: state: %w", err)
	}
	a, err := newAuthority()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return a, writeFile(file, append(bytes.Clone(a.pem), pemBlock("EC PRIVATE KEY", der)...))
}

func parseAuthority(data []byte) (*authority, error) {
	certBlock, rest := pem.Decode(data)
	keyBlock, _ := pem.Decode(rest)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("not a certificate and a key")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: pemBlock("CERTIFICATE", certBlock.Bytes)}, nil
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
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
	return &authority{cert: cert, key: key, pem: pemBlock("CERTIFICATE", der)}, err
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

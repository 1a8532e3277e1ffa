// SPDX-License-Identifier: Apache-2.0

package wire

import (
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

// Authority is a simulator's own CA: made anew each time, or kept in its state directory so that what trusts it still
// does after a restart.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// OpenAuthority takes up the CA of a state directory, and makes one of that name where there is none. Without a
// directory it makes one.
func OpenAuthority(dir, name string) (*Authority, error) {
	if dir == "" {
		return newAuthority(name)
	}
	file := filepath.Join(dir, "ca.pem")
	data, err := os.ReadFile(file)
	if err == nil {
		a, err := parseAuthority(data)
		if err != nil {
			return nil, fmt.Errorf("CA: %s: %w", file, err)
		}
		return a, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("CA: %w", err)
	}
	a, err := newAuthority(name)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("CA: %w", err)
	}
	return a, ReplaceFile(file, append(a.PEM(), pemBlock("EC PRIVATE KEY", der)...))
}

func newAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("CA: %w", err)
	}
	template := newTemplate(name)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, key: key}, err
}

func parseAuthority(data []byte) (*Authority, error) {
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
	return &Authority{cert: cert, key: key}, err
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func newTemplate(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
	}
}

// PEM is the certificate of the CA.
func (a *Authority) PEM() []byte { return pemBlock("CERTIFICATE", a.cert.Raw) }

// Trust adds the CA to the roots of a client.
func (a *Authority) Trust(roots *x509.CertPool) { roots.AddCert(a.cert) }

// Issue makes the certificate of a service at that address. edit, unless nil, makes it a bad one.
func (a *Authority) Issue(name string, address netip.Addr, edit func(*x509.Certificate)) (*tls.Certificate, error) {
	return issue(newLeaf(name, address, edit), a.cert, a.key)
}

// IssueByItself makes a certificate as devices ship with: by itself, no CA vouches for it.
func IssueByItself(name string, address netip.Addr) (*tls.Certificate, error) {
	return issue(newLeaf(name, address, nil), nil, nil)
}

func newLeaf(name string, address netip.Addr, edit func(*x509.Certificate)) *x509.Certificate {
	leaf := newTemplate(name)
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.IPAddresses = []net.IP{address.AsSlice()}
	if edit != nil {
		edit(leaf)
	}
	return leaf
}

// issue signs a leaf; without a parent by itself.
func issue(leaf, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		parent, parentKey = leaf, key
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, fmt.Errorf("certificate of %q: %w", leaf.Subject.CommonName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

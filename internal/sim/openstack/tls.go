// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// serveTLS gives the services, which are all at one address, a certificate.
func (c *Cloud) serveTLS(address netip.Addr) error {
	var err error
	if c.ca, err = wire.OpenAuthority(c.config.StateDir, "Simulated cloud CA"); err != nil {
		return fmt.Errorf("openstack simulator: %w", err)
	}
	cert, err := c.ca.Issue("Simulated cloud", address, nil)
	if err != nil {
		return fmt.Errorf("openstack simulator: %w", err)
	}
	c.server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert}}
	return nil
}

// CAPEM returns the certificate of the CA that the services' verifies against; nil without TLS.
func (c *Cloud) CAPEM() []byte {
	if c.ca == nil {
		return nil
	}
	return c.ca.PEM()
}

// Client returns an HTTP client that trusts the cloud, with connections of its own.
func (c *Cloud) Client() *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	if c.ca != nil {
		pool := x509.NewCertPool()
		c.ca.Trust(pool)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// issue makes a certificate of that kind for the BMC.
func (b *BMC) issue(mode CertificateMode) (*tls.Certificate, error) {
	name, ca := b.spec.Name, b.rack.ca
	switch mode {
	case CertificateValid:
		return ca.Issue(name, b.address, nil)
	case CertificateExpired:
		return ca.Issue(name, b.address, func(leaf *x509.Certificate) { leaf.NotAfter = time.Now().Add(-time.Minute) })
	case CertificateWrongHost:
		return ca.Issue(name, b.address, func(leaf *x509.Certificate) { leaf.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)} })
	case CertificateSelfSigned:
		return wire.IssueByItself(name, b.address)
	}
	return nil, fmt.Errorf("redfish rack: unknown certificate mode %q", mode)
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
)

// errContested is in the error of a lease that was written over somebody else's, or may have been. It stands: whoever wrote it waits until
// it lapses like everybody, for the one whose lease it replaced may be asking for the VM at this moment.
var errContested = errors.New("the lease was written over another's")

// honoured says whether the write of a lease to p, which named p's revision, came before all others. Neutron's If-Match is no
// compare-and-swap by itself: of two writes at once that name the same revision both are answered 200. But a write moves the revision by
// one, so the answer to the second one tells that it was the second.
func (a actor) honoured(p, written *ports.Port, err error) error {
	switch {
	case err != nil && certainlyNotDone(err):
		return err
	case err != nil:
		e := *asError(err)
		e.Err = errors.Join(errContested, e.Err)
		return &e
	case written.RevisionNumber != p.RevisionNumber+1:
		e := busy("somebody else wrote to a port of this server at the same moment", a.pool.leases.apart())
		e.Err = errContested
		return e
	}
	return nil
}

// apart is a wait after which a lease taken now has lapsed, and that is not as long for two.
func (l *leases) apart() time.Duration {
	return l.time + rand.N(l.use) //nolint:gosec // to come apart, not to be secret
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// stuckAfter is how long a VM may say that it is being deleted before it is deleted once more: the service that was at it may have died.
const stuckAfter = 5 * time.Minute

// DeleteFailed implements provider.Instances. Whatever expect says, the VM must be in ERROR and bear no trace of a launch (I2).
func (a actor) DeleteFailed(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect) error {
	expect.NeverLaunched = true
	s, err := a.own(ctx, ref, expect)
	if provider.ClassOf(err) == provider.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Status != stateError && !isGoing(s) {
		return mismatch("the VM is " + s.Status + ", not ERROR")
	}
	return a.removeServer(ctx, s)
}

// Dismantle implements provider.Instances. All that there is of ref is looked up before anything is deleted, by identity, by id, and by
// where its ports are plugged in, so that neither a lost memory nor lost tags leave anything behind (B088, B195).
func (a actor) Dismantle(ctx context.Context, ref provider.InstanceRef) error {
	if err := a.check(ctx, ref); err != nil {
		return err
	}
	unlock, err := a.pool.creating.lock(ctx, ref.Identity)
	if err != nil {
		return connectionError("waiting for a creation of this server under way", err)
	}
	defer unlock()
	plugs, err := a.ownPorts(ctx, ref)
	if err != nil {
		return err
	}
	vms, err := a.allServers(ctx, ref, plugs)
	if err != nil {
		return err
	}
	if err := a.ReleaseFloatingIP(ctx, ref); err != nil {
		return err
	}
	for i := range vms {
		if err := a.removeServer(ctx, &vms[i]); err != nil {
			return err
		}
	}
	leased := false
	for i := range plugs {
		p := &plugs[i]
		leased = leased || (a.pool.leases.left(p) > 0 && len(vms) == 0)
		if err := a.removeOwnPort(ctx, p, vms); err != nil {
			return err
		}
	}
	if leased {
		if err := a.noneCame(ctx, ref); err != nil {
			return err
		}
	}
	if len(plugs) == 0 {
		return nil
	}
	// An allocation that was on the wire may have come after the first look. After the ports none can: Neutron refuses one for a port that
	// is not there.
	return a.ReleaseFloatingIP(ctx, ref)
}

// allServers finds every VM of ref.
func (a actor) allServers(ctx context.Context, ref provider.InstanceRef, plugs []ports.Port) ([]servers.Server, error) {
	vms, err := a.serversOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range vms {
		if !marksOfServer(&vms[i]).owned(ref) {
			return nil, mismatch("VM " + vms[i].ID + " bears this server's identity and belongs to another cluster")
		}
	}
	if ref.ID != "" && !slices.Contains(idsOf(vms), ref.ID) {
		s, err := a.byID(ctx, ref)
		if err != nil {
			return nil, err
		}
		if s != nil {
			vms = append(vms, *s)
		}
	}
	for i := range plugs {
		device := plugs[i].DeviceID
		if device == "" || !isCompute(plugs[i].DeviceOwner) || slices.Contains(idsOf(vms), device) {
			continue
		}
		s, err := a.server(ctx, device)
		switch {
		case provider.ClassOf(err) == provider.NotFound:
		case err != nil:
			return nil, err
		case marksOfServer(s).owned(ref):
			vms = append(vms, *s)
		}
	}
	return vms, nil
}

// byID is the VM that was remembered, where it is still there and ref's. One that is another server's by now is left alone; one that bears
// nothing any more is not deleted on memory alone.
func (a actor) byID(ctx context.Context, ref provider.InstanceRef) (*servers.Server, error) {
	s, err := a.server(ctx, ref.ID)
	if provider.ClassOf(err) == provider.NotFound {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	if err != nil {
		return nil, err
	}
	switch m := marksOfServer(s); {
	case m.owned(ref):
		return s, nil
	case m.identity != "" && m.identity != ref.Identity:
		return nil, nil //nolint:nilnil // it was given to another server
	default:
		return nil, mismatch("VM " + s.ID + " does not bear this server's identity and this cluster's mark any more")
	}
}

// removeServer deletes a VM that is known to be ours. nil once a GET by its id said 404.
func (a actor) removeServer(ctx context.Context, s *servers.Server) error {
	compute, err := a.compute(ctx)
	if err != nil {
		return err
	}
	what := "VM " + s.ID
	if s.TaskState == taskDeleting && a.opts.Clock().Sub(s.Updated) < stuckAfter {
		return stillThere(what, func() error { _, err := a.server(ctx, s.ID); return err })
	}
	if s.Status == stateSoftDeleted { // the cloud keeps deleted VMs for a while, with their ports
		err = servers.ForceDelete(ctx, compute, s.ID).ExtractErr()
	} else {
		err = servers.Delete(ctx, compute, s.ID).ExtractErr()
	}
	if err = a.session.checked("deleting "+what, err); err != nil && !gone(err) {
		return err
	}
	return stillThere(what, func() error { _, err := a.server(ctx, s.ID); return err })
}

// removeOwnPort deletes a port of ref. One that is in use by what is not ref's stays, and is named.
func (a actor) removeOwnPort(ctx context.Context, p *ports.Port, removed []servers.Server) error {
	if p.DeviceID == "" || slices.Contains(idsOf(removed), p.DeviceID) {
		return a.removePort(ctx, p.ID)
	}
	if !isCompute(p.DeviceOwner) {
		return busy("port "+p.ID+" of this server is in use by "+p.DeviceOwner, 0)
	}
	_, err := a.server(ctx, p.DeviceID)
	switch {
	case err == nil:
		return busy(fmt.Sprintf("port %s of this server is plugged into VM %s, which is not this server's", p.ID, p.DeviceID), 0)
	case provider.ClassOf(err) == provider.NotFound:
		return a.removePort(ctx, p.ID)
	default:
		return err
	}
}

// noneCame looks once more for a VM where a lease was in force: a POST that was on the wire may have made one before its ports went. After
// that it cannot, since Nova refuses a port that is not there.
func (a actor) noneCame(ctx context.Context, ref provider.InstanceRef) error {
	vms, err := a.serversOf(ctx, ref)
	if err != nil {
		return err
	}
	if len(vms) > 0 {
		return busy("VM "+vms[0].ID+" of this server came to be meanwhile", goingAgain)
	}
	return nil
}

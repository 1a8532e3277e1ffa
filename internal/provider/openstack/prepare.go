// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// preparePorts finds or makes the ports of ref, as planned, and takes the lease. When it returns, no other process held a lease on a port
// of ref at a moment after ours was written.
func (a actor) preparePorts(ctx context.Context, ref provider.InstanceRef, p plan, stamp string) ([]*ports.Port, error) {
	found, err := a.freePorts(ctx, ref)
	if err != nil {
		return nil, err
	}
	inv := sortOut(found, p.ports)
	for _, extra := range inv.surplus { // of an earlier attempt, or of another spec (B192, B194)
		if err := a.removePort(ctx, extra.ID); err != nil {
			return nil, err
		}
	}
	ready := make([]*ports.Port, len(p.ports))
	for i, w := range p.ports {
		if ready[i], err = a.readyPort(ctx, ref, i, w, inv.chosen[i], stamp); err != nil {
			return nil, ofPort(i, err)
		}
	}
	return ready, a.holdLease(ctx, ref, ready, stamp)
}

// freePorts lists the ports of ref, none of them plugged in or leased by another. A port that is plugged in while no VM of the identity is
// listed says that one exists, or is being made.
func (a actor) freePorts(ctx context.Context, ref provider.InstanceRef) ([]ports.Port, error) {
	found, err := a.ownPorts(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range found {
		p := &found[i]
		if left := a.pool.leases.left(p); left > 0 {
			return nil, busy("a VM of this server may be being made; it is looked for until that has lapsed", left)
		}
		if p.DeviceID == "" {
			continue
		}
		freed, err := a.freeOfGone(ctx, p)
		if err != nil {
			return nil, err
		}
		found[i] = *freed
	}
	return found, nil
}

// freeOfGone frees a port whose VM is gone by its id. Where it is not, the port stays as it is.
func (a actor) freeOfGone(ctx context.Context, p *ports.Port) (*ports.Port, error) {
	if !isCompute(p.DeviceOwner) {
		return nil, busy("port "+p.ID+" of this server is in use by "+p.DeviceOwner, 0)
	}
	_, err := a.server(ctx, p.DeviceID)
	switch {
	case err == nil:
		return nil, busy(fmt.Sprintf("port %s of this server is plugged into VM %s, which is not listed under this server's identity", p.ID, p.DeviceID), 0)
	case provider.ClassOf(err) == provider.NotFound:
		return a.unplug(ctx, p)
	default:
		return nil, err
	}
}

// readyPort makes the port, or makes of the one there is what is planned. The first port takes the lease by the same write.
func (a actor) readyPort(ctx context.Context, ref provider.InstanceRef, index int, w plannedPort, p *ports.Port, stamp string) (*ports.Port, error) {
	if p == nil {
		return a.makePort(ctx, ref, index, w, stamp)
	}
	opts := w.difference(p)
	if index == 0 {
		if opts == nil {
			opts = &ports.UpdateOpts{RevisionNumber: &p.RevisionNumber}
		}
		name := portName(ref.Name, index, stamp)
		opts.Name = &name
	}
	if opts != nil {
		tags := p.Tags
		written, err := a.updatePort(ctx, p.ID, *opts)
		if err != nil {
			return nil, err
		}
		p = written
		p.Tags = tags
	}
	return p, a.tagPort(ctx, ref, p, index)
}

// holdLease looks at the ports once more: the lease is held where ours stands on the first port, and nobody else's on any. Two processes
// that each made a first port see each other's here, and both wait.
func (a actor) holdLease(ctx context.Context, ref provider.InstanceRef, ready []*ports.Port, stamp string) error {
	found, err := a.ownPorts(ctx, ref)
	if err != nil {
		return err
	}
	held := false
	for i := range found {
		p := &found[i]
		ours := stampOf(p) == stamp
		if left := a.pool.leases.left(p); left > 0 && !ours {
			return busy("another process may be making this server's VM", left)
		}
		if p.DeviceID != "" {
			return busy("port "+p.ID+" of this server was plugged in meanwhile", goingAgain)
		}
		held = held || (ours && p.ID == ready[0].ID)
	}
	if !held {
		return busy("the first port of this server changed meanwhile", goingAgain)
	}
	return nil
}

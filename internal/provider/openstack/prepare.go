// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"errors"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// preparePorts makes of the ports that ref has, found and free, those that are planned, and takes the lease. When it returns, no other
// process held a lease on a port of ref at a moment after ours was written.
func (a actor) preparePorts(ctx context.Context, ref provider.InstanceRef, p plan, found []ports.Port, stamp string) (prepared, error) {
	inv := sortOut(found, p.ports)
	for _, extra := range inv.surplus { // of an earlier attempt, or of another spec (B192, B194)
		if err := a.removePort(ctx, extra.ID); err != nil {
			return prepared{}, err
		}
	}
	out := prepared{ready: make([]*ports.Port, len(p.ports))}
	for i, w := range p.ports {
		var err error
		if out.ready[i], err = a.readyPort(ctx, ref, i, w, inv.chosen[i], stamp); err != nil {
			return prepared{}, ofPort(i, err)
		}
		if inv.chosen[i] == nil {
			out.made = append(out.made, out.ready[i].ID)
		}
	}
	if err := a.holdLease(ctx, ref, out.ready, stamp); err != nil {
		a.takeBack(ctx, out.made)
		return prepared{}, err
	}
	return out, nil
}

// prepared are the ports for a VM, and those of them that were made for it now.
type prepared struct {
	ready []*ports.Port
	made  []string // ids
}

// takeBack deletes ports made a moment ago for a VM that is then made by somebody else, with other ports. Nobody else uses them: they are
// under our lease. What cannot be deleted now goes with the server.
func (a actor) takeBack(ctx context.Context, made []string) {
	for _, id := range made {
		_ = a.removePort(ctx, id)
	}
}

// freePorts lists the ports of ref, none of them plugged in or leased by another. Where one is plugged into a VM that bears ref's marks in
// its metadata alone, having lost its tags, that VM is returned instead.
func (a actor) freePorts(ctx context.Context, ref provider.InstanceRef) ([]ports.Port, *servers.Server, error) {
	found, err := a.ownPorts(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	for i := range found {
		p := &found[i]
		if p.DeviceID != "" {
			s, err := a.pluggedInto(ctx, ref, p)
			if err != nil || s != nil {
				return nil, s, err
			}
			freed, err := a.unplug(ctx, p)
			if err != nil {
				return nil, nil, err
			}
			found[i] = *freed
		}
		if left := a.pool.leases.left(p); left > 0 {
			return nil, nil, busy("a VM of this server may be being made; it is looked for until that has lapsed", left)
		}
	}
	return found, nil, nil
}

// pluggedInto is the VM of ref that a port is plugged into; nil where what it is plugged into is gone by its id. A port that is plugged into
// anything else says that a VM exists, or is being made.
func (a actor) pluggedInto(ctx context.Context, ref provider.InstanceRef, p *ports.Port) (*servers.Server, error) {
	if !isCompute(p.DeviceOwner) {
		return nil, busy("port "+p.ID+" of this server is in use by "+p.DeviceOwner, 0)
	}
	s, err := a.server(ctx, p.DeviceID)
	switch {
	case provider.ClassOf(err) == provider.NotFound:
		return nil, nil //nolint:nilnil // it is gone, and that is no error
	case err != nil:
		return nil, err
	case isGoing(s):
		return nil, busy("VM "+s.ID+" of this server is being deleted", goingAgain)
	case marksOfServer(s).owned(ref):
		return s, nil
	default:
		return nil, busy(fmt.Sprintf("port %s of this server is plugged into VM %s, which is not listed under this server's identity", p.ID, p.DeviceID), 0)
	}
}

// newPort makes a port that there is not, unless an earlier request for it may be carried out yet: that is waited for (B192).
func (a actor) newPort(ctx context.Context, ref provider.InstanceRef, index int, w plannedPort, stamp string) (*ports.Port, error) {
	if left := a.pool.leases.expected(ref.Identity, index); left > 0 {
		return nil, busy("an earlier request for this port was not answered in time, and may be carried out yet", min(left, goingAgain))
	}
	p, err := a.makePort(ctx, ref, index, w, stamp)
	var e *provider.Error
	if p == nil && errors.As(err, &e) && e.Reason == provider.ReasonTimeout {
		a.pool.leases.mayComeLate(ref.Identity, index)
	}
	return p, err
}

// readyPort makes the port, or makes of the one there is what is planned. The first port takes the lease by the same write.
func (a actor) readyPort(ctx context.Context, ref provider.InstanceRef, index int, w plannedPort, p *ports.Port, stamp string) (*ports.Port, error) {
	if p == nil {
		return a.newPort(ctx, ref, index, w, stamp)
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
		if index == 0 {
			err = a.honoured(p, written, err)
		}
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

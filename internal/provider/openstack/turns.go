// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// turns lets the VMs of one server group be made one after another: Nova finds hosts for VMs that are asked for at once without a look
// at each other (B207). The turns are those of this process. A second manager beside it, or one that took over a moment ago, may ask
// once at the same time: the group's policy is kept by Nova then as well as it ever is.
type turns struct {
	clock func() time.Time

	mu     sync.Mutex
	groups map[string]turn // by id of the server group: those that a VM was made in, so that the next one waits for its host
}

// turn is where one server group stands.
type turn struct {
	taken bool
	last  string    // the VM that was made last, unless it is known to have a host
	until time.Time // until when a request of unknown outcome may be carried out yet
}

func newTurns(clock func() time.Time) *turns {
	return &turns{clock: clock, groups: map[string]turn{}}
}

// take takes the group's turn, unless somebody has it, and tells which VM must have a host first.
func (t *turns) take(group string) (last string, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[group]
	if g.taken {
		return "", goingAgain
	}
	if left := g.until.Sub(t.clock()); left > 0 {
		return "", left
	}
	t.groups[group] = turn{taken: true, last: g.last}
	return g.last, 0
}

// give ends a turn.
func (t *turns) give(group string, next turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if next == (turn{}) {
		delete(t.groups, group)
		return
	}
	t.groups[group] = next
}

// makeInTurn makes the VM once the last one of its server group has a host, and is Busy until then.
func (a actor) makeInTurn(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec, p plan) (provider.Outcome, error) {
	last, wait := a.pool.turns.take(p.group)
	if wait > 0 {
		return provider.Outcome{}, busy("another VM of server group "+spec.ServerGroup+" is being made", wait)
	}
	next := turn{last: last}
	defer func() { a.pool.turns.give(p.group, next) }()
	if err := a.placed(ctx, last); err != nil {
		return provider.Outcome{}, err
	}
	made, err := a.make(ctx, ref, spec, p)
	next = turn{}
	switch {
	case made.Made != nil:
		next.last = made.Made.InstanceID
	case err != nil && !certainlyNotDone(err):
		next.until = a.pool.turns.clock().Add(a.pool.leases.use) // a request may be on its way
	}
	return made, err
}

// placed is nil once the cloud has found a host for that VM, or none, or has it no more.
func (c *Cloud) placed(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	s, err := c.server(ctx, id)
	switch {
	case provider.ClassOf(err) == provider.NotFound:
		return nil
	case err != nil:
		return err
	case unplaced(s):
		return busy(fmt.Sprintf("the cloud looks for a host for VM %s of the same server group", id), goingAgain)
	}
	return nil
}

func unplaced(s *servers.Server) bool {
	return s.Status == stateBuild && s.HostID == "" && (s.TaskState == taskScheduling || s.TaskState == "")
}

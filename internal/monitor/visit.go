// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// visit is one go at one BMC: discovery where that is due, then its servers that are due, one request after the other.
type visit struct {
	entry    *entry
	cancel   context.CancelFunc
	bmc      string
	uid      types.UID // of the BMC object
	epoch    int
	discover bool
	servers  []turn
	retell   *failure // not nil: tell this failure again, and ask nothing
	leave    bool     // the BMC object is gone: drop what is kept for it
}

// turn is a server that is due in a visit.
type turn struct {
	server string
	due    time.Time
}

// visit carries out a visit. Nothing that happens in it stops the monitor or another visit.
func (m *Monitor) visit(ctx context.Context, v *visit) {
	defer func() {
		if panicked := recover(); panicked != nil {
			m.log.Error(nil, "Panic while looking at a BMC", "bmc", v.bmc, "panic", panicked, "stack", string(debug.Stack()))
			m.fleet.bmcStruck(v, ownFailure(), m.now())
		}
		if m.fleet.end(v, m.now()) {
			m.forget(ctx, v.bmc)
		}
	}()
	if v.leave {
		return
	}
	bmc := &v1alpha1.BMC{}
	if err := m.read(ctx, v.bmc, bmc); err != nil || bmc.UID != v.uid {
		m.fleet.postpone(v, m.now())
		return
	}
	if v.retell != nil {
		m.tell(ctx, v, bmc, *v.retell)
		return
	}
	m.ask(ctx, v, bmc)
}

func (m *Monitor) ask(ctx context.Context, v *visit, bmc *v1alpha1.BMC) {
	observer, err := m.observer(ctx, v, bmc)
	if err != nil {
		return
	}
	// While the region says unreachable, a discovery decides whether it is: what is behind a BMC may have changed meanwhile.
	if v.discover || bmcStanding(bmc.Status.Observed) != standingGood {
		if !m.discover(ctx, v, bmc, observer) {
			return
		}
	}
	for _, turn := range v.servers {
		if ctx.Err() != nil || !m.look(ctx, v, bmc, observer, turn.server) {
			return
		}
	}
}

// bmcFailed counts a failure of a BMC and tells it once it is confirmed.
func (m *Monitor) bmcFailed(ctx context.Context, v *visit, bmc *v1alpha1.BMC, fail failure) {
	if ctx.Err() != nil {
		return // we broke it off ourselves
	}
	s, current := m.fleet.bmcStruck(v, fail, m.now())
	if current && s.confirmed(fail, bmcStanding(bmc.Status.Observed), m.cadence.Failures) {
		m.tell(ctx, v, bmc, fail)
	}
}

// tell writes a failure into the regions of a BMC and of all servers behind it.
func (m *Monitor) tell(ctx context.Context, v *visit, bmc *v1alpha1.BMC, fail failure) {
	servers := m.fleet.tells(v, fail)
	result := m.writeBMC(ctx, v, bmc, bmcFailed(bmc.Status.Observed, fail), m.now())
	if result == writeDone {
		m.log.Info("BMC unreachable", "bmc", bmc.Name, "reason", fail.reason)
	}
	results := []writeResult{result}
	for _, name := range servers {
		server := &v1alpha1.Server{}
		if err := m.read(ctx, name, server); err != nil {
			continue // gone: its event tells
		}
		results = append(results, m.writeServer(ctx, server, serverFailed(server.Status.Observed, fail), m.now()))
	}
	if pause, again := m.again(results...); again {
		m.fleet.tellAgain(v, m.now().Add(pause))
	}
}

// again is the pause before what could not be written is tried anew: short after a lost race, longer while the API server does
// not answer.
func (m *Monitor) again(results ...writeResult) (time.Duration, bool) {
	switch {
	case slices.Contains(results, writeFailed):
		return m.cadence.WriteDeadline, true
	case slices.Contains(results, writeLost):
		return m.cadence.Fast, true
	}
	return 0, false
}

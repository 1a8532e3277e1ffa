// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// errUnasked is a NotModified that nobody asked for: it says nothing about the machine.
var errUnasked = &provider.Error{
	Class: provider.Transient, Reason: provider.ReasonProtocolError,
	Message: "the BMC answered an unconditional request with NotModified",
}

// observer returns what looks at a BMC.
func (m *Monitor) observer(ctx context.Context, v *visit, bmc *v1alpha1.BMC) (provider.Observer, error) {
	bounded, cancel := context.WithTimeout(ctx, m.cadence.LookDeadline)
	defer cancel()
	observer, err := m.observers.For(bounded, bmc)
	if err == nil {
		return observer, nil
	}
	var known *provider.Error
	if errors.As(err, &known) {
		m.bmcFailed(ctx, v, bmc, failureOf(err))
		return nil, err
	}
	if ctx.Err() == nil {
		m.log.Error(err, "Cannot look at a BMC", "bmc", bmc.Name)
		m.bmcFailed(ctx, v, bmc, ownFailure())
	}
	return nil, err
}

// discover asks a BMC what it is. false: it failed, and the visit is over.
func (m *Monitor) discover(ctx context.Context, v *visit, bmc *v1alpha1.BMC, observer provider.Observer) bool {
	began := m.now()
	bounded, cancel := context.WithTimeout(ctx, m.cadence.ReadDeadline)
	facts, err := observer.Discover(bounded)
	cancel()
	if err != nil {
		fail := failureOf(err)
		m.metrics.looked(lookDiscovery, fail.outcome, m.now().Sub(began))
		m.bmcFailed(ctx, v, bmc, fail)
		return false
	}
	m.metrics.looked(lookDiscovery, outcomeOK, m.now().Sub(began))
	m.fleet.discovered(v, m.now())
	result := m.writeBMC(ctx, v, bmc, bmcPicture(facts), began)
	if pause, again := m.again(result); again {
		m.fleet.rediscover(v, m.now().Add(pause))
	}
	if result == writeDone && bmcStanding(bmc.Status.Observed) == standingBad {
		m.log.Info("BMC reachable", "bmc", bmc.Name)
	}
	return true
}

// look takes a picture of one server. false: the BMC as a whole did not serve us, and the visit is over.
func (m *Monitor) look(ctx context.Context, v *visit, bmc *v1alpha1.BMC, observer provider.Observer, name string) bool {
	server := &v1alpha1.Server{}
	if err := m.read(ctx, name, server); err != nil {
		m.fleet.postpone(v, m.now()) // gone: its event is about to tell
		return true
	}
	// R4: which intent was open is read before the provider is asked.
	began := m.now()
	shot := taken{intent: openIntent(server), media: mediaMatter(server)}
	asked := m.fleet.question(server, began)
	if shot.media && !asked.inventory {
		asked.media, asked.etag = true, "" // no ETag of the system tells of its drives
	}
	shot.task = m.task(ctx, observer, server.Status.Observed, shot)
	facts, err := m.observe(ctx, observer, server, asked)
	if err != nil {
		return m.serverFailed(ctx, v, bmc, server, failureOf(err))
	}
	shot.at = m.now()
	picture := serverPicture(server.Status.Observed, facts, shot)
	l := look{asked: asked, etag: facts.ETag, result: m.writeServer(ctx, server, picture, began)}
	if facts.NotModified {
		l.etag = asked.etag
	}
	if m.fleet.looked(server, l, m.now()) {
		m.log.Info("Server reachable", "server", name, "bmc", bmc.Name)
	}
	return true
}

// task asks how the intent's task goes, until it has come to its end. It is asked before the picture is taken, so that a picture which says
// that the work is done shows what it did. An error says nothing about the task. How long the BMC wants not to be asked again (Retry-After) is
// not waited for: the ladder of looks grows by itself, and what is asked for again meanwhile becomes another task, whose end alone counts.
func (m *Monitor) task(ctx context.Context, observer provider.Observer, seen *v1alpha1.ServerObserved, shot taken) provider.TaskState {
	began := m.now()
	if shot.intent.Task == "" || taskOf(seen, shot).Final() {
		return provider.TaskState{}
	}
	bounded, cancel := context.WithTimeout(ctx, m.cadence.LookDeadline)
	defer cancel()
	state, err := observer.ObserveTask(bounded, shot.intent.Task)
	outcome := outcomeOK
	if err != nil {
		outcome = failureOf(err).outcome
	}
	m.metrics.looked(lookTask, outcome, m.now().Sub(began))
	return state
}

func (m *Monitor) observe(
	ctx context.Context, observer provider.Observer, server *v1alpha1.Server, asked question,
) (provider.SystemFacts, error) {
	began, kind, depth, deadline := m.now(), lookState, provider.DepthState, m.cadence.LookDeadline
	switch {
	case asked.inventory:
		kind, depth, deadline = lookInventory, provider.DepthInventory, m.cadence.ReadDeadline
	case asked.media:
		kind, depth, deadline = lookMedia, provider.DepthMedia, m.cadence.ReadDeadline
	}
	bounded, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	system := provider.SystemRef{UUID: server.Spec.Redfish.SystemUUID, ID: server.Spec.Redfish.SystemID}
	facts, err := observer.Observe(bounded, system, depth, asked.etag)
	if err == nil && facts.NotModified && asked.etag == "" {
		err = errUnasked
	}
	outcome := outcomeOK
	switch {
	case err != nil:
		outcome = failureOf(err).outcome
	case facts.NotModified:
		outcome = outcomeNotModified
	}
	m.metrics.looked(kind, outcome, m.now().Sub(began))
	return facts, err
}

// serverFailed counts a failed look at a server and tells it once it is confirmed. false: the visit is over.
func (m *Monitor) serverFailed(
	ctx context.Context, v *visit, bmc *v1alpha1.BMC, server *v1alpha1.Server, fail failure,
) bool {
	if ctx.Err() != nil {
		return false // we broke it off ourselves
	}
	s, current := m.fleet.serverStruck(v, server, fail, m.now())
	if !current {
		return false
	}
	if fail.wide {
		m.bmcFailed(ctx, v, bmc, fail)
	}
	if s.confirmed(fail, serverStanding(server.Status.Observed), m.cadence.Failures) && !fail.definite {
		result := m.writeServer(ctx, server, serverFailed(server.Status.Observed, fail), m.now())
		if result == writeDone {
			m.fleet.told(server)
			m.log.Info("Server not read", "server", server.Name, "bmc", bmc.Name, "reason", fail.reason)
		}
	}
	return !fail.wide
}

func (m *Monitor) writeServer(
	ctx context.Context, server *v1alpha1.Server, picture *v1alpha1.ServerObserved, began time.Time,
) writeResult {
	o := observation[*v1alpha1.Server, v1alpha1.ServerObserved]{
		base: server, picture: picture, oldest: m.oldest(),
		expect: func(digest uint64) { m.fleet.expect(server, digest) },
	}
	result, err := serverRegion.write(ctx, m, o, began)
	m.wrote(serverRegion.kind, result, err)
	return result
}

func (m *Monitor) writeBMC(
	ctx context.Context, v *visit, bmc *v1alpha1.BMC, picture *v1alpha1.BMCObserved, began time.Time,
) writeResult {
	o := observation[*v1alpha1.BMC, v1alpha1.BMCObserved]{
		base: bmc, picture: picture, oldest: m.oldest(),
		expect: func(digest uint64) { m.fleet.expectBMC(v, digest) },
	}
	result, err := bmcRegion.write(ctx, m, o, began)
	m.wrote(bmcRegion.kind, result, err)
	return result
}

// oldest is when a picture must have been begun to be worth writing: no look takes longer than its deadline and a write.
func (m *Monitor) oldest() time.Time {
	return m.now().Add(-max(m.cadence.ReadDeadline, m.cadence.LookDeadline) - m.cadence.WriteDeadline)
}

func (m *Monitor) wrote(kind string, result writeResult, err error) {
	m.metrics.wrote(kind, result)
	if err != nil && !errors.Is(err, context.Canceled) {
		m.log.Error(err, "Cannot write what was seen")
	}
}

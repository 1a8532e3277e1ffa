// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// runClouds is the scheduler of clouds. Each is looked at by itself, so that one that hangs costs the others nothing: there are few, and a
// look is one after the other.
func (m *Monitor) runClouds(ctx context.Context) {
	var visits sync.WaitGroup
	defer visits.Wait()
	for ctx.Err() == nil {
		if pause := m.clouds.wait(m.now()); pause > 0 {
			rest(ctx, m.clouds.kick, pause)
			continue
		}
		if during, v := m.clouds.begin(ctx, m.now()); v != nil {
			visits.Go(func() { m.visitCloud(during, v) })
		}
	}
}

// visitCloud carries out a visit. Nothing that happens in it stops the monitor or another visit.
func (m *Monitor) visitCloud(ctx context.Context, v *cloudVisit) {
	defer func() {
		if panicked := recover(); panicked != nil {
			m.log.Error(nil, "Panic while looking at a cloud", "cloud", v.cloud, "panic", panicked, "stack", string(debug.Stack()))
			m.clouds.struck(v, ownFailure(), m.now())
		}
		if m.clouds.end(v, m.now()) {
			m.forgetCloud(ctx, v.cloud)
		}
	}()
	if v.leave {
		return
	}
	cloud := &v1alpha1.Cloud{}
	if err := m.read(ctx, v.cloud, cloud); err != nil || cloud.UID != v.uid {
		m.clouds.postpone(v, m.now())
		return
	}
	if v.retell != nil {
		m.tellCloud(ctx, v, cloud, *v.retell)
		return
	}
	if err := m.lookAtCloud(ctx, v, cloud); err != nil {
		m.cloudFailed(ctx, v, cloud, err)
	}
}

// lookAtCloud is one look. An error that is a *provider.Error is the cloud's.
func (m *Monitor) lookAtCloud(ctx context.Context, v *cloudVisit, cloud *v1alpha1.Cloud) error {
	bounded, cancel := context.WithTimeout(ctx, m.cadence.Clouds.LookDeadline)
	defer cancel()
	observer, err := m.observeClouds.ForCloud(bounded, cloud)
	if err != nil {
		return ours(err)
	}
	a := &asking{m: m, observer: observer, owner: m.owner, doubts: m.cadence.Clouds.Doubts}
	defer func() { m.metrics.cloudCalls.Observe(float64(a.calls)) }()
	// While the region says unreachable, the cloud itself says whether it is.
	if v.about || cloudStanding(cloud.Status.Observed) != standingGood {
		if err := m.askAbout(bounded, a, v, cloud); err != nil {
			return err
		}
	}
	if len(v.servers) == 0 {
		m.clouds.looked(v, nil, false, m.now())
		return nil
	}
	found, err := a.gather(bounded, v)
	if err != nil {
		return err
	}
	owed := m.depict(ctx, v, found) || a.owed
	m.clouds.looked(v, found.memory, owed, m.now())
	return nil
}

// ownError is trouble on this side of the wire, of which nothing follows about the cloud.
type ownError struct{ error }

// Unwrap gives the cause to errors.Is and errors.As.
func (e ownError) Unwrap() error { return e.error }

// ours marks an error that is no provider's.
func ours(err error) error {
	var known *provider.Error
	if errors.As(err, &known) {
		return err
	}
	return ownError{err}
}

// askAbout asks a cloud what it is.
func (m *Monitor) askAbout(ctx context.Context, a *asking, v *cloudVisit, cloud *v1alpha1.Cloud) error {
	facts, err := ask(a, lookCloud, func() (provider.CloudFacts, error) { return a.observer.Cloud(ctx) })
	if err != nil {
		return err
	}
	result := m.writeCloud(ctx, v, cloud, cloudPicture(facts))
	_, owed := m.again(result)
	m.clouds.askedAbout(v, owed, m.now())
	if result == writeDone && cloudStanding(cloud.Status.Observed) == standingBad {
		m.log.Info("Cloud reachable", "cloud", cloud.Name)
	}
	return nil
}

// depict writes what a look found into the regions of the servers. It says whether one of them could not be written.
func (m *Monitor) depict(ctx context.Context, v *cloudVisit, found *gathered) (owed bool) {
	told := m.now()
	results := m.writeServers(ctx, v, func(server *v1alpha1.Server) *v1alpha1.ServerObserved {
		seen := found.sight(server)
		if seen.unknown {
			return nil
		}
		return virtualPicture(server.Status.Observed, seen, taken{intent: openIntent(server), at: told, project: found.memory.project})
	})
	_, owed = m.again(results...)
	return owed
}

// writeServers writes a picture of each server of the visit; where there is none to make, nothing. Several at a time: a change of a whole
// cloud, as an outage, is a write for each of its servers.
func (m *Monitor) writeServers(ctx context.Context, v *cloudVisit, picture func(*v1alpha1.Server) *v1alpha1.ServerObserved) []writeResult {
	results := make([]writeResult, len(v.servers))
	var writers errgroup.Group
	writers.SetLimit(max(1, m.cadence.Clouds.Writes))
	for i, server := range v.servers {
		told := picture(server)
		if told == nil {
			continue
		}
		if serverRegion.same(server.Status.Observed, told) {
			m.metrics.wrote(serverRegion.kind, writeNone)
			m.clouds.saw(server, m.now())
			continue
		}
		writers.Go(func() error {
			results[i] = m.writeVirtual(ctx, v, server, told)
			return nil
		})
	}
	_ = writers.Wait() // none of them returns an error: each result stands for itself
	return results
}

func (m *Monitor) writeVirtual(ctx context.Context, v *cloudVisit, server *v1alpha1.Server, picture *v1alpha1.ServerObserved) writeResult {
	o := observation[*v1alpha1.Server, v1alpha1.ServerObserved]{
		base: server, picture: picture, oldest: m.now().Add(-m.cadence.cloudPictureAge()),
		expect: func(digest uint64) { m.clouds.expect(server, digest) },
	}
	result, err := serverRegion.write(ctx, m, o, v.began)
	m.wrote(serverRegion.kind, result, err)
	if result == writeDone && picture.Reachable {
		m.clouds.saw(server, m.now())
	}
	return result
}

func (m *Monitor) writeCloud(ctx context.Context, v *cloudVisit, cloud *v1alpha1.Cloud, picture *v1alpha1.CloudObserved) writeResult {
	o := observation[*v1alpha1.Cloud, v1alpha1.CloudObserved]{
		base: cloud, picture: picture, oldest: m.now().Add(-m.cadence.cloudPictureAge()),
		expect: func(digest uint64) { m.clouds.expectCloud(v, digest) },
	}
	result, err := cloudRegion.write(ctx, m, o, v.began)
	m.wrote(cloudRegion.kind, result, err)
	return result
}

// cloudFailed counts a failed look and tells it once it is confirmed.
func (m *Monitor) cloudFailed(ctx context.Context, v *cloudVisit, cloud *v1alpha1.Cloud, err error) {
	if ctx.Err() != nil {
		return // we broke it off ourselves
	}
	fail := cloudFailureOf(err)
	if fail.own {
		m.log.Error(err, "Cannot look at a cloud", "cloud", cloud.Name)
	}
	s, current := m.clouds.struck(v, fail, m.now())
	if current && s.confirmed(fail, cloudStanding(cloud.Status.Observed), m.cadence.Failures) {
		m.tellCloud(ctx, v, cloud, fail)
	}
}

// tellCloud writes a failure into the regions of a cloud and of all its servers.
func (m *Monitor) tellCloud(ctx context.Context, v *cloudVisit, cloud *v1alpha1.Cloud, fail failure) {
	m.clouds.tells(v, fail)
	v.began = m.now()
	result := m.writeCloud(ctx, v, cloud, cloudFailed(cloud.Status.Observed, fail))
	if result == writeDone {
		m.log.Info("Cloud unreachable", "cloud", cloud.Name, "reason", fail.reason)
	}
	results := m.writeServers(ctx, v, func(server *v1alpha1.Server) *v1alpha1.ServerObserved {
		return serverFailed(server.Status.Observed, fail)
	})
	if pause, again := m.again(slices.Concat(results, []writeResult{result})...); again {
		m.clouds.tellAgain(v, m.now().Add(pause))
	}
}

// cloudFailureOf classes an error of a look at a cloud. All of them are the cloud's as a whole.
func cloudFailureOf(err error) failure {
	var own ownError
	if errors.As(err, &own) {
		return ownFailure()
	}
	f := failureOf(err)
	var known *provider.Error
	if !errors.As(err, &known) {
		f.message = "the cloud could not be read"
		if f.reason == provider.ReasonTimeout {
			f.message = "the cloud did not answer within the deadline"
		}
	}
	f.wide, f.absent = true, false
	f.definite = f.outcome == string(provider.Denied) || f.outcome == string(provider.Terminal)
	return f
}

// forgetCloud drops what is kept for a cloud whose object is gone. Its visit's context has ended with the object.
func (m *Monitor) forgetCloud(ctx context.Context, cloud string) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cadence.LookDeadline)
	defer cancel()
	m.observeClouds.Forget(bounded, cloud)
}

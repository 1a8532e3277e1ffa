// SPDX-License-Identifier: Apache-2.0

package judge_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

func TestALegalHistoryHasNoViolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		report := judge.Judge(drawLegal(t).events)
		if len(report.Violations) > 0 {
			t.Fatal(report.Violations)
		}
		if !report.Settled {
			t.Fatal("the end was not judged")
		}
	})
}

// illegal are effects that nobody asked for, on a machine that a tenant has.
func illegal(p probe) []judge.Event {
	all := []judge.Event{{Kind: judge.PoweredOff}, {Kind: judge.Reset}}
	if p.identity == "" {
		all = append(all,
			judge.Event{Kind: judge.Armed, Tenant: p.tenant}, judge.Event{Kind: judge.Armed, Tenant: "other"}, judge.Event{Kind: judge.Armed},
			judge.Event{Kind: judge.MediaInserted, Tenant: p.tenant}, judge.Event{Kind: judge.MediaInserted, Tenant: "other"},
			judge.Event{Kind: judge.NetworkBoot, Tenant: p.tenant}, judge.Event{Kind: judge.NetworkBoot, Tenant: "other"}, judge.Event{Kind: judge.NetworkBoot},
			judge.Event{Kind: judge.Installed, Tenant: p.tenant}, judge.Event{Kind: judge.Installed, Tenant: "other"},
			judge.Event{Kind: judge.Began, Tenant: "other"},
			judge.Event{Kind: judge.NetworkBoot, Tenant: p.tenant, Machine: "free"},
		)
	} else {
		all = append(all, judge.Event{Kind: judge.DeletedVM}, judge.Event{Kind: judge.RebuiltVM},
			judge.Event{Kind: judge.CreatedVM, Machine: "twin", Tenant: p.tenant, Identity: p.identity},
			judge.Event{Kind: judge.CreatedVM, Machine: "twin", Identity: p.identity},
			judge.Event{Kind: judge.CreatedVM, Machine: "twin", Tenant: p.tenant, Identity: "another"},
		)
	}
	for i := range all {
		all[i].At, all[i].Detail = p.at, "injected"
		if all[i].Machine == "" {
			all[i].Machine = p.machine
		}
	}
	return all
}

func TestOneIllegalEffectAnywhereIsReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLegal(t)
		p := rapid.SampledFrom(l.probes).Draw(t, "probe")
		effect := rapid.SampledFrom(illegal(p)).Draw(t, "effect")
		report := judge.Judge(append(slices.Clone(l.events), effect))
		if !blamed(report, effect) {
			t.Fatalf("not reported: %v\namong %v\n%v", effect, l.events, report.Violations)
		}
	})
}

// An effect that had its ask only after it arrived is illegal too.
func TestAnAskThatComesAfterTheEffectArrivedDoesNotExcuseIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLegal(t)
		p := rapid.SampledFrom(l.probes).Draw(t, "probe")
		kinds := []judge.Kind{judge.PoweredOff}
		if p.identity != "" {
			kinds = []judge.Kind{judge.PoweredOff, judge.DeletedVM}
		}
		effect := judge.Event{
			At: p.at.Add(3 * time.Millisecond), Arrived: p.at, Kind: rapid.SampledFrom(kinds).Draw(t, "effect"), Machine: p.machine, Detail: "injected",
		}
		ask := judge.Event{At: p.at.Add(time.Millisecond), Kind: judge.GaveUp, Tenant: p.tenant}
		report := judge.Judge(append(slices.Clone(l.events), ask, effect))
		if !blamed(report, effect) {
			t.Fatalf("not reported: %v\n%v", effect, report.Violations)
		}
	})
}

// blamed says that a violation was found at that very event.
func blamed(report judge.Report, effect judge.Event) bool {
	return slices.ContainsFunc(report.Violations, func(v judge.Violation) bool { return v.Trace[len(v.Trace)-1] == effect })
}

// What is missing at the end is reported too: everything that was to be taken away is left in turn.
func TestAnythingLeftBehindIsReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLegal(t)
		var ends []int
		for i, e := range l.events {
			final := e.Kind == judge.PortGone || e.Kind == judge.GoneVM && !strings.Contains(e.Machine, "-")
			if final || e.Kind == judge.MediaEjected && l.gives(e.Tenant) && !l.ejects(e.Machine, e.At) {
				ends = append(ends, i)
			}
		}
		if len(ends) == 0 {
			t.Skip("nothing was taken away")
		}
		i := rapid.SampledFrom(ends).Draw(t, "left")
		report := judge.Judge(slices.Delete(slices.Clone(l.events), i, i+1))
		if len(report.Violations) == 0 {
			t.Fatalf("not reported: without %v in %v", l.events[i], l.events)
		}
	})
}

// gives says that a tenant gives its machine up for good.
func (l *legal) gives(tenant string) bool {
	given := false
	for _, e := range l.events {
		if e.Tenant == tenant && (e.Kind == judge.GaveUp || e.Kind == judge.Asked) {
			given = e.Kind == judge.GaveUp
		}
	}
	return given
}

// ejects says that an image is taken out of a machine's drive after an instant.
func (l *legal) ejects(machine string, after time.Time) bool {
	return slices.ContainsFunc(l.events, func(e judge.Event) bool {
		return e.Kind == judge.MediaEjected && e.Machine == machine && e.At.After(after)
	})
}

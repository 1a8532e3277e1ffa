// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// B082: one failed look is no outage; several are, of the cloud and of its servers, whose facts stay as last seen. It ends with the first
// answer, and another cloud has no part in it.
func TestAnOutageOfACloud(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud, other := w.connect("fra1", 2), w.connect("ham1", 1)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) { c.failing, c.calls = timeout(), nil })
		for len(ticks(cloud.asked())) == 0 {
			w.pass(time.Second)
		}
		if got := w.cloud("fra1"); !got.Reachable {
			t.Error("unreachable after one failure")
		}
		w.pass(10 * time.Minute)
		if got := w.cloud("fra1"); got.Reachable || got.Reason != provider.ReasonTimeout || got.Project != "shop" {
			t.Errorf("region of the cloud: %+v", got)
		}
		got := w.seen("fra1-vm1")
		if got.Reachable || got.Reason != provider.ReasonTimeout || got.PowerState != v1alpha1.ObservedOn || got.Instance == nil {
			t.Errorf("region of a server: %+v", got)
		}
		if got := w.seen("ham1-vm1"); !got.Reachable {
			t.Errorf("server of another cloud: %+v", got)
		}
		if at := ticks(other.asked()); len(at) < 15 {
			t.Errorf("the other cloud was looked at %d times in eleven minutes", len(at))
		}
		cloud.set(func(c *scriptedCloud) { c.failing = nil })
		w.pass(6 * time.Minute)
		if !w.cloud("fra1").Reachable || !w.seen("fra1-vm1").Reachable || !w.seen("fra1-vm2").Reachable {
			t.Error("still unreachable after it answered")
		}
	})
}

// B173, B171, B179: refused credentials are told at once and next to never tried again; a changed secret is tried at once.
func TestRefusedCredentialsOfACloud(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) { c.failing, c.calls = refused(), nil })
		w.pass(time.Minute)
		if got := w.cloud("fra1"); got.Reachable || got.Reason != provider.ReasonCredentialsInvalid {
			t.Errorf("region of the cloud: %+v", got)
		}
		if got := w.seen("fra1-vm1"); got.Reachable || got.Reason != provider.ReasonCredentialsInvalid {
			t.Errorf("region of the server: %+v", got)
		}
		w.change("fra1-vm1", func(s *v1alpha1.Server) { s.Annotations["ledger.holdfast.dev/intent"] = openedIntent("i1") })
		w.pass(2 * time.Minute)
		if calls := cloud.asked(); len(calls) != 1 {
			t.Errorf("%d tries of refused credentials in three minutes, want 1", len(calls))
		}
		cloud.set(func(c *scriptedCloud) { c.failing = nil })
		w.put(newSecret("fra1-clouds"))
		w.pass(time.Second)
		if !w.cloud("fra1").Reachable || !w.seen("fra1-vm1").Reachable {
			t.Error("not tried when the secret changed")
		}
	})
}

// B210, B212: a rate limit is no refusal: what the cloud asks for is waited for, and the reason says what it is.
func TestARateLimitIsWaitedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		limited := &provider.Error{Class: provider.Busy, Reason: provider.ReasonRateLimited, Message: "429", After: 40 * time.Second}
		cloud.set(func(c *scriptedCloud) { c.failing, c.calls = limited, nil })
		w.pass(5 * time.Minute)
		calls := cloud.asked()
		for _, pause := range gaps(ticks(calls)) {
			if pause < 36*time.Second {
				t.Errorf("asked again after %s, the cloud asked for 40 s", pause)
			}
		}
		if got := w.cloud("fra1"); got.Reachable || got.Reason != provider.ReasonRateLimited {
			t.Errorf("region after several: %+v", got)
		}
	})
}

// A failure of which nothing follows about the cloud: the API server does not answer for its credentials.
func TestTroubleOfOurOwnIsNotTheClouds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		w.connect("fra1", 1)
		w.pass(time.Minute)
		w.sky.mu.Lock()
		w.sky.err = errNotOurs
		w.sky.mu.Unlock()
		w.pass(10 * time.Minute)
		if !w.cloud("fra1").Reachable || !w.seen("fra1-vm1").Reachable {
			t.Error("told of a cloud that was never asked")
		}
	})
}

// B176, B204: a cloud that hangs or makes a look panic costs the others nothing, and is told.
func TestACloudThatHangsCostsTheOthersNothing(t *testing.T) {
	for name, ill := range map[string]func(*scriptedCloud){
		"hangs":  func(c *scriptedCloud) { c.hangs = true },
		"panics": func(c *scriptedCloud) { c.panics = true },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start()
				cloud, other := w.connect("fra1", 1), w.connect("ham1", 1)
				w.pass(time.Minute)
				cloud.set(ill)
				other.asked()
				w.pass(20 * time.Minute)
				if at := ticks(other.asked()); len(at) < 38 {
					t.Errorf("the other cloud was looked at %d times in twenty minutes", len(at))
				}
				if got := w.cloud("fra1"); name == "hangs" && (got.Reachable || got.Reason != provider.ReasonTimeout) {
					t.Errorf("region of the one that hangs: %+v", got)
				}
			})
		})
	}
}

// Trouble that a person must end is told at once: it does not heal by itself.
func TestATooOldCloudIsToldAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := newScriptedCloud()
		cloud.failing = &provider.Error{Class: provider.Terminal, Reason: provider.ReasonCloudTooOld, Message: "2.52 is needed, 2.25 offered"}
		w.sky.clouds["old"] = cloud
		w.put(newCloud("old"))
		w.pass(time.Second)
		if got := w.cloud("old"); got == nil || got.Reachable || got.Reason != provider.ReasonCloudTooOld || got.Message == "" {
			t.Errorf("region: %+v", got)
		}
	})
}

// B059: once the object is gone nothing asks the cloud any more, and what was kept for it is dropped.
func TestACloudThatIsGoneIsLeftAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		w.remove(newCloud("fra1"))
		cloud.asked()
		w.pass(time.Hour)
		if calls := cloud.asked(); len(calls) > 0 {
			t.Errorf("asked after it was gone: %v", calls)
		}
		if !slices.Contains(w.sky.forgot, "fra1") {
			t.Error("what was kept for it is kept still")
		}
		w.put(newCloud("fra1"))
		w.pass(time.Second)
		if got := w.cloud("fra1"); got == nil || !got.Reachable {
			t.Errorf("the new one of that name: %+v", got)
		}
	})
}

// A cloud without servers is asked what it is, and for no listing.
func TestAnEmptyCloudIsNotListed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 0)
		w.pass(time.Hour)
		calls := countCalls(cloud.asked())
		if len(calls) != 1 || calls[lookCloud] < 10 || calls[lookCloud] > 14 {
			t.Errorf("calls in an hour: %v, want one in five minutes", calls)
		}
	})
}

// A process that starts over and over does not try refused credentials each time.
func TestRestartsDoNotHammerAnAccountOfACloud(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) { c.failing = refused() })
		w.pass(time.Minute)
		cloud.asked()
		for range 10 {
			w.stop()
			w.start()
			w.pass(10 * time.Second)
		}
		if calls := cloud.asked(); len(calls) > 0 {
			t.Errorf("%d tries in ten restarts", len(calls))
		}
	})
}

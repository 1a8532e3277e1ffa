// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// longest returns the longest pause between looks at a BMC.
func longest(calls []call) time.Duration { return slices.Max(pauses(calls)) }

// TestHangingBMCsCostTheOthersNothing: B231. 50 of 500 hang for the whole deadline, with fewer places than that for visits: the
// pace of the others stays what it is.
func TestHangingBMCsCostTheOthersNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.cadence.Visits = 16
		w.start()
		var live []*scriptedBMC
		for i := range 500 {
			bmc := w.enroll(fmt.Sprintf("rack%03d", i))
			if i%10 != 0 {
				live = append(live, bmc)
			} else {
				bmc.set(func(b *scriptedBMC) { b.hangs = true })
			}
		}
		w.pass(20 * time.Minute)
		for _, bmc := range live {
			if worst := longest(bmc.asked()); worst > w.cadence.Slow+3*w.cadence.Patience {
				t.Fatalf("a live BMC waited %s for its turn, want %s or little more", worst, w.cadence.Slow)
			}
		}
	})
}

// TestBlackHolesAtAStart: B231. 200 BMCs that hang from the start, 50 that live: the live ones are all seen within seconds.
func TestBlackHolesAtAStart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for i := range 250 {
			bmc := w.enroll(fmt.Sprintf("rack%03d", i))
			bmc.set(func(b *scriptedBMC) { b.hangs = i < 200 })
		}
		w.start()
		w.pass(5 * time.Second)
		for i := 200; i < 250; i++ {
			if w.server(fmt.Sprintf("rack%03d", i)).Status.Observed == nil {
				t.Fatalf("live BMC %d not seen within five seconds", i)
			}
		}
	})
}

// TestReactionBesideHangingBMCs: an unsettled server is looked at as fast as ever.
func TestReactionBesideHangingBMCs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.cadence.Visits = 8
		w.start()
		bmc := w.enroll("live")
		for i := range 100 {
			w.enroll(fmt.Sprintf("rack%03d", i)).set(func(b *scriptedBMC) { b.hangs = true })
		}
		w.pass(10 * time.Minute)
		bmc.asked()
		changed := time.Now()
		w.change("live", setIntent("i1"))
		w.pass(2 * time.Second)
		if calls := bmc.asked(); len(calls) == 0 || calls[0].at.Sub(changed) > w.cadence.Fast+w.cadence.Patience {
			t.Errorf("looked at %v after the change, want %s", calls, w.cadence.Fast)
		}
	})
}

// TestNoGoroutineAtRest: a BMC costs a heap entry while nothing is due.
func TestNoGoroutineAtRest(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		before := goroutines()
		for i := range 300 {
			w.enroll(fmt.Sprintf("rack%03d", i))
		}
		if after := goroutines(); before == 0 || after > before {
			t.Errorf("%d goroutines with no BMC, %d with 300 BMCs at rest", before, after)
		}
	})
}

// goroutines counts those of the test's own bubble: the runtime has some that come and go as it pleases.
func goroutines() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte(", synctest bubble"))
}

// TestGoneBMCIsNotTouched: B059. Its visit ends at once, what is kept for it is dropped, and nothing is asked any more.
func TestGoneBMCIsNotTouched(t *testing.T) {
	for name, hangs := range map[string]bool{"at rest": false, "during a visit that hangs": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start()
				bmc := w.enroll("rack1")
				w.change("rack1", setIntent("i1")) // fast
				bmc.set(func(b *scriptedBMC) { b.hangs = hangs })
				w.pass(time.Second)
				bmc.asked()
				w.written()
				w.remove(w.bmc("rack1"))
				if bmc.inFlight != 0 {
					t.Error("a request goes on")
				}
				if diff := cmp.Diff([]string{"rack1"}, w.forgot); diff != "" {
					t.Errorf("forgotten: %s", diff)
				}
				w.pass(24 * time.Hour)
				if calls := bmc.asked(); len(calls) != 0 {
					t.Errorf("asked after it was gone: %v", calls)
				}
				if written := w.written(); len(written) != 0 {
					t.Errorf("written after it was gone: %v", written)
				}
				w.put(newBMC("rack1")) // enrolled anew: its server is still there
				if got := kinds(bmc.asked())["discover"]; got != 1 {
					t.Errorf("%d discoveries after it was enrolled anew", got)
				}
				w.remove(w.bmc("rack1"))
				w.remove(w.server("rack1"))
				if left := len(w.monitor.fleet.bmcs) + len(w.monitor.fleet.servers); left != 0 {
					t.Errorf("%d entries left behind", left)
				}
			})
		})
	}
}

// TestGoneServerIsNotLookedAt: its BMC stays, and is asked what it is and nothing else.
func TestGoneServerIsNotLookedAt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		w.remove(w.server("rack1"))
		w.pass(5 * time.Hour)
		if got := kinds(bmc.asked()); got["discover"] != 4 && got["discover"] != 5 || len(got) != 1 {
			t.Errorf("asked: %v, want a discovery each hour", got)
		}
	})
}

// TestReplacedServerIsANewOne: a watch that missed the deletion tells an update; the object is another.
func TestReplacedServerIsANewOne(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		restored := newServer("rack1")
		restored.UID = "another"
		w.put(restored)
		if got := kinds(bmc.asked()); got["inventory"] != 1 {
			t.Errorf("asked: %v, want an inventory", got)
		}
		replaced := newBMC("rack1")
		replaced.UID = "another"
		w.put(replaced)
		if got := kinds(bmc.asked()); got["discover"] != 1 {
			t.Errorf("asked: %v, want a discovery", got)
		}
	})
}

// TestStopEndsVisits: a monitor that is stopped is silent when Start returns, also while BMCs hang.
func TestStopEndsVisits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.hangs = true })
		w.pass(2*time.Minute + time.Second)
		w.written()
		w.stop()
		if bmc.inFlight != 0 {
			t.Error("a request goes on")
		}
		if written := w.written(); len(written) != 0 {
			t.Errorf("written at the stop: %v", written)
		}
	})
}

// TestTwoServersOfOneBMCAreLostTogether: one line, a write each, and both are back together.
func TestTwoServersOfOneBMCAreLostTogether(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		second := newServer("rack1")
		second.Name = "rack1-2"
		w.pass(time.Minute + 55*time.Second)
		w.put(second)
		w.written()
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.pass(20 * time.Second)
		want := []string{"BMC rack1", "Server rack1", "Server rack1-2"}
		if diff := cmp.Diff(want, w.written()); diff != "" {
			t.Errorf("lost: %s", diff)
		}
		bmc.set(func(b *scriptedBMC) { b.failing = nil })
		for !w.bmc("rack1").Status.Observed.Reachable {
			w.pass(time.Second)
		}
		w.pass(time.Second)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.written()))); diff != "" {
			t.Errorf("back: %s", diff)
		}
	})
}

// TestTheOneThatWaitedLongestComesFirst among the servers of a BMC.
func TestTheOneThatWaitedLongestComesFirst(t *testing.T) {
	now := time.Now()
	f := newFleet(DefaultCadence(), func() float64 { return 0.5 })
	bmc := newBMC("rack1")
	bmc.UID = "1"
	f.addBMC(bmc, created, now)
	for i, name := range []string{"c", "a", "d", "b"} {
		server := newServer("rack1")
		server.Name, server.UID = name, types.UID(name)
		f.addServer(server, false, created, now.Add(time.Duration(i)*time.Second))
	}
	_, v := f.begin(t.Context(), now.Add(time.Minute))
	var order []string
	for _, turn := range v.servers {
		order = append(order, turn.server)
	}
	if diff := cmp.Diff([]string{"c", "a", "d", "b"}, order); diff != "" {
		t.Error(diff)
	}
}

// TestServerSeenBeforeItsBMC, as when a backup is restored: nothing is asked before the BMC is there.
func TestServerSeenBeforeItsBMC(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := newScriptedBMC()
		w.rack["rack1"] = bmc
		w.put(newServer("rack1"))
		w.pass(time.Hour)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("asked without a BMC object: %v", calls)
		}
		w.put(newBMC("rack1"))
		if w.server("rack1").Status.Observed == nil {
			t.Error("not looked at when its BMC came")
		}
	})
}

func TestMetrics(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		w.enroll("rack1")
		w.enroll("rack2").set(func(b *scriptedBMC) { b.hangs = true })
		w.pass(2*time.Minute + 5*time.Second)
		synctest.Wait()
		c := w.monitor.fleet.census(time.Now())
		if c.visiting != 1 || c.waiting != 0 || len(c.ages) != 2 || slices.Min(c.ages) > 5*time.Second {
			t.Errorf("census: %+v", c)
		}
		for name, want := range map[string]int{
			"holdfast_monitor_look_duration_seconds": 3, "holdfast_monitor_pictures_total": 4,
			"holdfast_monitor_freshness_seconds": 1, "holdfast_monitor_queue_depth": 1, "holdfast_monitor_visits": 1,
		} {
			got, err := testutil.GatherAndCount(w.registry, name)
			if err != nil || got == 0 {
				t.Errorf("%s: %d series, want about %d (%v)", name, got, want, err)
			}
		}
		problems, err := testutil.GatherAndLint(w.registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("lint: %v %v", problems, err)
		}
	})
}

// TestVirtualServersAreNotOurs: what names no BMC is not looked at, and not asked about.
func TestVirtualServersAreNotOurs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.unsettled = func(s *v1alpha1.Server) bool { return s.Spec.Redfish.SystemUUID != "" }
		w.start()
		virtual := newServer("vm")
		virtual.Spec.Redfish = nil
		w.put(virtual)
		virtual = w.server("vm")
		virtual.Generation++
		w.put(virtual)
		w.remove(virtual)
		if left := len(w.monitor.fleet.bmcs); left != 0 {
			t.Errorf("%d entries", left)
		}
	})
}

// TestUnaskedNotModified: a BMC that says NotModified to a full look has said nothing.
func TestUnaskedNotModified(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		bmc.set(func(b *scriptedBMC) { b.systems["uuid-rack1"] = provider.SystemFacts{NotModified: true} })
		w.pass(10 * time.Minute)
		if got := w.server("rack1").Status.Observed; got.Reachable || got.Reason != provider.ReasonProtocolError {
			t.Errorf("region: %+v", got)
		}
	})
}

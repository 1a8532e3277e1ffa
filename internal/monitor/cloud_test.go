// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// The cost of a look does not grow with the number of servers: three listings at rest, whatever they list, and never a GET of what is
// listed.
func TestALookAtACloudCostsTheSameForOneAndForAThousand(t *testing.T) {
	cost := map[int]map[string]int{}
	for _, servers := range []int{1, 1000} {
		inWorld(t, func(t *testing.T, w *world) {
			w.start()
			cloud := w.connect("fra1", servers)
			w.pass(time.Minute)
			cloud.asked()
			w.written()
			w.pass(10 * time.Minute)
			calls := cloud.asked()
			if at := ticks(calls); len(at) < 18 || len(at) > 22 {
				t.Errorf("%d looks in ten minutes at a pace of 30 s", len(at))
			}
			if written := w.written(); len(written) > 0 {
				t.Errorf("%d servers at rest cost writes: %v", servers, written[:1])
			}
			cost[servers] = countCalls(calls)
		})
	}
	if diff := cmp.Diff(cost[1], cost[1000]); diff != "" {
		t.Errorf("one server and a thousand cost different calls:\n%s", diff)
	}
	for _, byID := range []string{lookInstance, lookPort, lookFloatingIP} {
		if cost[1000][byID] > 0 {
			t.Errorf("%d GETs of %s by id, though all are listed", cost[1000][byID], byID)
		}
	}
	if full := cost[1000][lookInstances]; full > 2 {
		t.Errorf("%d full listings in ten minutes, want one in five", full)
	}
}

// A thousand servers under way share their looks: never two within the floor, each of three listings.
func TestUnsettledServersShareTheirLooks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1000)
		w.pass(time.Minute)
		cloud.asked()
		for i := range 1000 {
			w.replace(func() *v1alpha1.Server {
				server := w.server(vmID("fra1", i))
				server.Annotations[ledger.KeyIntent] = openedIntent(fmt.Sprint("i", i))
				return server
			}())
		}
		w.pass(20 * time.Second)
		calls := cloud.asked()
		between := gaps(ticks(calls))
		if len(between) < 3 || between[0] < w.cadence.Clouds.Floor {
			t.Errorf("pauses between looks %v, want several, none below the floor", between)
		}
		if got, want := len(calls), 3*len(ticks(calls)); got != want {
			t.Errorf("%d calls in %d looks, want 3 each", got, len(ticks(calls)))
		}
		for i := range 1000 {
			if got := w.seen(vmID("fra1", i)).Intent; got != fmt.Sprint("i", i) {
				t.Fatalf("picture %d bears the intent %q", i, got)
			}
		}
	})
}

// A change of one server is looked for soon, whatever the slow pace, and ever more seldom while nothing comes of it.
func TestAnUnsettledServerIsLookedAtFast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 2)
		w.pass(time.Minute)
		cloud.asked()
		w.ledgerOf("fra1-vm1", ledger.KeyIntent, openedIntent("i1"))
		w.pass(time.Second)
		if at := ticks(cloud.asked()); len(at) == 0 {
			t.Fatal("not looked at within a second of the intent")
		}
		w.pass(10 * time.Minute)
		if at := ticks(cloud.asked()); len(at) < 20 || len(at) > 32 {
			t.Errorf("%d looks in ten minutes, want a ladder up to the slow pace", len(at))
		}
	})
}

// R4: the picture bears the intent that was open before the cloud was asked; and while one is open everything is listed anew, so that the
// picture is of now.
func TestTheIntentIsReadBeforeTheListing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) {
			c.calls = nil
			c.during = func() {
				cloud.set(func(c *scriptedCloud) { c.during = nil })
				w.meanwhile("fra1-vm1", func(s *v1alpha1.Server) { s.Annotations[ledger.KeyIntent] = openedIntent("later") })
			}
		})
		w.ledgerOf("fra1-vm1", ledger.KeyIntent, openedIntent("first"))
		w.pass(1500 * time.Millisecond)
		if got := w.seen("fra1-vm1").Intent; got != "first" {
			t.Errorf("the picture bears %q, want the intent that was open before the listing", got)
		}
		w.pass(time.Minute)
		if got := w.seen("fra1-vm1").Intent; got != "later" {
			t.Errorf("the next picture bears %q", got)
		}
		if got := countCalls(cloud.asked()); got[lookChanges] > 0 || got[lookInstances] == 0 {
			t.Errorf("listings while an intent is open: %v, want full ones alone", got)
		}
	})
}

// P10, B184, B087: a VM that a listing misses is asked for by id, and only a 404 says that it is gone. What was launched once is still
// known to have been.
func TestOnlyA404SaysThatAVMIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 2)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) { c.hidden["fra1-vm1"], c.broken["fra1-vm1"] = true, serverError() })
		w.pass(6 * time.Minute)
		if got := w.seen("fra1-vm1").Instance; got == nil || !got.Exists || got.State != "ACTIVE" {
			t.Errorf("missing from a listing, and never answered by id: %+v", got)
		}
		cloud.set(func(c *scriptedCloud) { delete(c.broken, "fra1-vm1") })
		w.pass(6 * time.Minute)
		if got := w.seen("fra1-vm1").Instance; got == nil || !got.Exists || got.State != "ACTIVE" {
			t.Errorf("missing from a listing, there by id: %+v", got)
		}
		cloud.set(func(c *scriptedCloud) { c.broken["fra1-vm1"] = serverError() })
		w.pass(6 * time.Minute)
		if got := w.seen("fra1-vm1").Instance; got == nil || !got.Exists || !w.seen("fra1-vm1").Reachable {
			t.Errorf("missing from a listing, and asking by id fails: %+v", got)
		}
		cloud.set(func(c *scriptedCloud) { delete(c.broken, "fra1-vm1"); delete(c.instances, "fra1-vm1") })
		w.pass(6 * time.Minute)
		got := w.seen("fra1-vm1").Instance
		if got == nil || got.Exists || got.LaunchedAt == nil || got.State != "" || got.ID != "fra1-vm1" {
			t.Errorf("404 by id: %+v, want gone, and the launch remembered", got)
		}
		if other := w.seen("fra1-vm2").Instance; other == nil || !other.Exists {
			t.Errorf("the other one: %+v", other)
		}
		cloud.vm("fra1-vm1", nil)
		cloud.set(func(c *scriptedCloud) { delete(c.hidden, "fra1-vm1") })
		w.pass(time.Minute)
		if got := w.seen("fra1-vm1").Instance; got == nil || !got.Exists {
			t.Errorf("back in the listing of changes (B085): %+v", got)
		}
	})
}

// B012: a row that says DELETED bears no tags; its id alone says whose it was, and it is confirmed by id within one pace.
func TestADeletedRowIsConfirmedByID(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 3)
		w.pass(time.Minute)
		cloud.asked()
		cloud.vanish("fra1-vm2")
		w.pass(45 * time.Second)
		if got := w.seen("fra1-vm2").Instance; got == nil || got.Exists {
			t.Errorf("deleted by somebody: %+v", got)
		}
		if got := countCalls(cloud.asked())[lookInstance]; got != 1 {
			t.Errorf("%d GETs by id, want one", got)
		}
	})
}

// The cloud's clock is not ours: a listing of changes reaches back beyond the look before it.
func TestChangesAreAskedForWithAnOverlap(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(2 * time.Minute)
		var last time.Time
		for _, call := range cloud.asked() {
			if call.what == lookChanges && !call.since.Equal(last.Add(-w.cadence.Clouds.Overlap)) {
				t.Errorf("changes since %s, the look before was at %s", call.since, last)
			}
			if call.what == lookChanges || call.what == lookInstances {
				last = call.at
			}
		}
		cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.Power, f.State = provider.PowerOff, "SHUTOFF" })
		cloud.set(func(c *scriptedCloud) { c.changed["fra1-vm1"] = time.Now().Add(-time.Minute) })
		w.pass(45 * time.Second)
		if got := w.seen("fra1-vm1"); got.PowerState != v1alpha1.ObservedOff || got.Instance.State != "SHUTOFF" {
			t.Errorf("a change a minute old by the cloud's clock is not seen: %+v", got)
		}
	})
}

// P11, B186: without an id in its ledger a server is found by the identity that its VM bears; several are told, and none is chosen for
// good. A VM of another owner is not ours.
func TestAVMIsFoundByItsIdentity(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 0)
		cloud.set(func(c *scriptedCloud) {
			c.loose = true
			c.ports["foreign"] = provider.PortFacts{ID: "foreign", Identity: "identity-of-web", Owner: "cluster-b"}
			c.floating["foreign"] = provider.FloatingIPFacts{ID: "foreign", Identity: "identity-of-web", Owner: "cluster-b"}
		})
		w.put(newVirtual("fra1", "web", nil))
		w.pass(time.Minute)
		if got := w.seen("web"); len(got.Ports) > 0 || got.FloatingIP != nil {
			t.Errorf("another owner's port and floating IP: %+v", got)
		}
		if got := w.seen("web"); !got.Reachable || got.Instance != nil || got.PowerState != v1alpha1.ObservedUnknown {
			t.Errorf("no VM yet: %+v", got)
		}
		bears := func(after time.Duration) func(*provider.InstanceFacts) {
			return func(f *provider.InstanceFacts) { f.Identity, f.CreatedAt = "identity-of-web", noon.Add(after) }
		}
		cloud.vm("younger", bears(time.Minute))
		cloud.vm("elder", bears(0))
		cloud.vm("foreign", func(f *provider.InstanceFacts) { bears(0)(f); f.Owner = "cluster-b" })
		w.pass(time.Minute)
		got := w.seen("web").Instance
		if got == nil || got.ID != "elder" || cmp.Diff([]string{"younger"}, got.Others) != "" {
			t.Errorf("two VMs of one identity: %+v", got)
		}
		w.ledgerOf("web", ledger.KeyProviderID, "younger")
		w.pass(time.Minute)
		if got := w.seen("web").Instance; got.ID != "younger" || cmp.Diff([]string{"elder"}, got.Others) != "" {
			t.Errorf("the ledger names one of them: %+v", got)
		}
	})
}

// A port or floating IP that a listing misses is asked for by id, and so is never taken for gone because a tag was lost; one that bears
// another mark now is nobody's here.
func TestPortsAndFloatingIPsAreAskedForToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		const identity = "identity-of-fra1-vm1"
		cloud.set(func(c *scriptedCloud) {
			c.ports["port1"] = provider.PortFacts{ID: "port1", Identity: identity, Owner: ownCluster, Index: 1, DeviceID: "fra1-vm1"}
			c.ports["port0"] = provider.PortFacts{
				ID: "port0", Identity: identity, Owner: ownCluster, SecurityGroups: []string{"b", "a"},
				AddressPairs: []provider.AddressPair{{IP: "10.0.0.9", MAC: "02:00:00:00:00:09"}, {IP: "10.0.0.0/24"}},
			}
			c.floating["fip"] = provider.FloatingIPFacts{ID: "fip", Identity: identity, Owner: ownCluster, Address: "203.0.113.7", PortID: "port0"}
		})
		w.pass(time.Minute)
		want := []v1alpha1.ObservedPort{
			{ID: "port0", SecurityGroups: []string{"a", "b"}, AllowedAddressPairs: []string{"10.0.0.0/24", "10.0.0.9 02:00:00:00:00:09"}},
			{ID: "port1", Index: 1, DeviceID: "fra1-vm1"},
		}
		if diff := cmp.Diff(want, w.seen("fra1-vm1").Ports); diff != "" {
			t.Fatal(diff)
		}
		if got := w.seen("fra1-vm1").FloatingIP; got == nil || got.Address != "203.0.113.7" || got.PortID != "port0" {
			t.Fatalf("floating IP: %+v", got)
		}
		cloud.set(func(c *scriptedCloud) {
			c.hidden["port0"], c.hidden["fip"], c.broken["port0"] = true, true, serverError()
		})
		w.written()
		w.pass(time.Minute)
		if diff := cmp.Diff(want, w.seen("fra1-vm1").Ports); diff != "" || w.seen("fra1-vm1").FloatingIP == nil {
			t.Errorf("missing from a listing, not from the cloud: %s", diff)
		}
		if written := w.written(); len(written) > 0 {
			t.Errorf("written, though nothing is known to differ: %v", written)
		}
		cloud.set(func(c *scriptedCloud) {
			delete(c.broken, "port0")
			bare := c.ports["port1"]
			bare.Identity, bare.Owner, bare.Index = "", "", 0
			c.ports["port1"] = bare
		})
		w.pass(time.Minute)
		if diff := cmp.Diff(want, w.seen("fra1-vm1").Ports); diff != "" {
			t.Errorf("tags taken off by somebody: the port is there all the same: %s", diff)
		}
		cloud.set(func(c *scriptedCloud) {
			delete(c.floating, "fip")
			taken := c.ports["port0"]
			taken.Owner = "cluster-b"
			c.ports["port0"] = taken
		})
		w.pass(time.Minute)
		if got := w.seen("fra1-vm1"); len(got.Ports) != 1 || got.Ports[0].ID != "port1" || got.FloatingIP != nil {
			t.Errorf("one port is another owner's, the floating IP gone: %+v", got)
		}
	})
}

// What many listings miss at once is asked for a few at a time, and all of it in the end.
func TestDoubtsAreBounded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.cadence.Clouds.Doubts = 4
		w.start()
		cloud := w.connect("fra1", 20)
		w.pass(time.Minute)
		cloud.set(func(c *scriptedCloud) {
			clear(c.instances)
			c.calls = nil
		})
		w.pass(10 * time.Minute)
		inLook := 0
		for _, call := range cloud.asked() {
			switch call.what {
			case lookInstances, lookChanges:
				inLook = 0
			case lookInstance:
				if inLook++; inLook > 4 {
					t.Fatal("more asked for by id in one look than may be")
				}
			}
		}
		for i := range 20 {
			if got := w.seen(vmID("fra1", i)).Instance; got == nil || got.Exists {
				t.Errorf("%s is not known to be gone: %+v", vmID("fra1", i), got)
			}
		}
	})
}

// I5: a region that somebody wiped, or replaced by an older copy of itself, is soon what the cloud says again.
func TestAWipedRegionOfAVMIsToldAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		older := w.server("fra1-vm1").Status.Observed
		cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.Power = provider.PowerOff })
		w.pass(time.Minute)
		for name, region := range map[string]*v1alpha1.ServerObserved{"wiped": nil, "older": older} {
			w.change("fra1-vm1", func(s *v1alpha1.Server) { s.Status.Observed = region })
			w.pass(2 * time.Second)
			if got := w.seen("fra1-vm1"); got.PowerState != v1alpha1.ObservedOff || got.Instance == nil {
				t.Errorf("%s: %+v", name, got)
			}
		}
		w.put(func() *v1alpha1.Cloud { c := newCloud("fra1"); c.UID = w.objects["Cloud fra1"].GetUID(); return c }())
		w.pass(2 * time.Second)
		if got := w.cloud("fra1"); got == nil || got.Project != "shop" {
			t.Errorf("wiped region of the cloud: %+v", got)
		}
	})
}

func serverError() error {
	return &provider.Error{Class: provider.Transient, Reason: provider.ReasonServerError, Message: "500"}
}

var errNotOurs = errors.New("the API server does not answer")

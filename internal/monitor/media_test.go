// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// remembering lets the ledger speak of an image that may be in the drive; "" of none.
func remembering(image string) func(*v1alpha1.Server) {
	return func(server *v1alpha1.Server) {
		boot := ledger.Boot{Claim: "claim", Stage: ledger.StageBooted, At: noon, Media: image}
		server.Annotations = ledger.Entries{}.Boot(&boot)
	}
}

// TestDrivesAreLookedAtWhileAnImageMayBeIn: only then, and told only then: at rest nothing but the system is read.
func TestDrivesAreLookedAtWhileAnImageMayBeIn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		bmc := w.enroll("s1")
		w.start()
		w.pass(time.Minute)
		bmc.facts(func(facts *provider.SystemFacts) {
			facts.Media = []provider.MediaSlot{{Slot: "Cd", Image: "//images.example/a.iso", Inserted: true}}
		})
		w.pass(10 * time.Minute)
		if looks := kinds(bmc.asked())[lookMedia]; looks != 0 || w.server("s1").Status.Observed.Media != nil {
			t.Fatalf("%d looks at the drives of a machine at rest, told %+v", looks, w.server("s1").Status.Observed.Media)
		}

		w.change("s1", remembering("http://images.example/a.iso"))
		w.pass(10 * time.Minute)
		want := &v1alpha1.ObservedMedia{Slots: []v1alpha1.ObservedMediaSlot{{Slot: "Cd", Image: "//images.example/a.iso", Inserted: true}}}
		if diff := cmp.Diff(want, w.server("s1").Status.Observed.Media); diff != "" {
			t.Error(diff)
		}

		bmc.facts(func(facts *provider.SystemFacts) { facts.Media = nil }) // could not be read
		w.pass(10 * time.Minute)
		if diff := cmp.Diff(want, w.server("s1").Status.Observed.Media); diff != "" {
			t.Errorf("drives that could not be read stay as last seen:\n%s", diff)
		}
		bmc.facts(func(facts *provider.SystemFacts) { facts.Media = []provider.MediaSlot{} }) // there are none
		w.pass(10 * time.Minute)
		if diff := cmp.Diff(&v1alpha1.ObservedMedia{}, w.server("s1").Status.Observed.Media); diff != "" {
			t.Error(diff)
		}

		w.change("s1", remembering(""))
		w.pass(5 * time.Minute)
		bmc.asked()
		w.pass(10 * time.Minute)
		if looks := kinds(bmc.asked())[lookMedia]; looks != 0 || w.server("s1").Status.Observed.Media != nil {
			t.Errorf("%d looks at drives that hold nothing of ours, told %+v", looks, w.server("s1").Status.Observed.Media)
		}
	})
}

// TestInventoryIsDueBesideMedia: a machine that keeps its image for good has its hardware read anew all the same.
func TestInventoryIsDueBesideMedia(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		bmc := w.enroll("s1")
		w.change("s1", remembering("http://images.example/a.iso"))
		w.start()
		w.pass(time.Hour)
		bmc.asked()
		w.pass(48 * time.Hour)
		if looks := kinds(bmc.asked()); looks[lookInventory] == 0 || looks[lookMedia] == 0 {
			t.Errorf("looks: %v", looks)
		}
	})
}

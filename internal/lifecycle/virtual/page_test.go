// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

const conceptPage = "../../../docs/concepts/virtual.md"

var update = flag.Bool("update", false, "write the generated documents anew")

// TestConceptPage: the diagram and the tables of docs/concepts/virtual.md are what Decide does. Write them anew with:
// go test ./internal/lifecycle/virtual -run ConceptPage -update
func TestConceptPage(t *testing.T) {
	var rows []lt.PhaseRow
	for _, r := range virtual.Rows() {
		rows = append(rows, lt.PhaseRow(r))
	}
	page, err := os.ReadFile(conceptPage)
	if err != nil {
		t.Fatal(err)
	}
	diagram := lt.Diagram{Decide: virtual.Decide, Cases: cases(), Scenes: scenes, Events: worldEvents}
	want := lt.Sections{
		"diagram": diagram.String(), "phases": lt.PhaseTable(rows), "clauses": lt.ClauseList(virtual.ClauseNames()),
	}.In(t, string(page))
	if *update {
		if err := os.WriteFile(conceptPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s is not what Decide does; write it anew with -update\n%s", conceptPage, diff)
	}
}

// scenes are a server of each phase.
var scenes = []lt.Override{
	given(fresh, lt.Unmade), given(lt.Unmade), given(lt.Unlaunched("BUILD")), given(lt.Broken), given(lt.Broken, attempts(3, 60)),
	given(), given(lt.Serving), given(lt.Errored), given(lt.Serving, lt.Errored), given(lt.Gone), rebuild(), rebuild(rebuildOpen, asked, lt.Pictured, lt.NovaState("REBUILD", "rebuilding")),
	given(leaving, releaseOpen), given(lt.Serving, lt.Retained, wasReleased), given(lt.Serving, lt.Retained), given(lt.InMaintenance(v1alpha1.PowerKeep)),
}

// worldEvents are what others do to a server.
var worldEvents = map[string]lt.Override{
	"its claim is deleted": func(s *lt.Scene) {
		if s.Claim != nil {
			lt.ClaimDeleting(s)
		}
	},
	"claimRef cleared by a person": lt.RefCleared,
	"a maintenance begins":         lt.InMaintenance(v1alpha1.PowerKeep),
	"the maintenance ends":         func(s *lt.Scene) { s.Server.Spec.MaintenanceRef, s.Maintenance = nil, nil },
	"deleted":                      func(s *lt.Scene) { t := metav1.NewTime(lt.Now); s.Server.DeletionTimestamp = &t },
	"deleted with its claim": func(s *lt.Scene) {
		if s.Claim != nil {
			lt.ClaimDeleting(s)
			t := metav1.NewTime(lt.Now)
			s.Server.DeletionTimestamp = &t
		}
	},
	"restored or moved": func(s *lt.Scene) { s.Server.UID = "uid-after-the-restore" },
	"the VM launches": func(s *lt.Scene) {
		if s.Ledger.ProviderID != "" {
			lt.NovaState("ACTIVE", "")(s)
			lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Errored = false })(s)
		}
	},
	"the VM errors":          lt.Errored,
	"the VM is gone (404)":   lt.Gone,
	"the image is edited":    lt.All(edited, onChange),
	"the spec is edited":     editedFlavor,
	"a person says to retry": retryConsent,
}

// TestScenesAreOfEveryPhase keeps the list of scenes honest: between them they are of every phase.
func TestScenesAreOfEveryPhase(t *testing.T) {
	seen := map[string]bool{"Deleting": true} // by an event
	for _, scene := range scenes {
		seen[string(virtual.Decide(lt.View(scene)).Phase)] = true
	}
	for _, r := range virtual.Rows() {
		if !seen[r.Phase] {
			t.Errorf("no scene is of phase %s", r.Phase)
		}
	}
}

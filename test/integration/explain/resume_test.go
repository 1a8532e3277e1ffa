// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/resume"
)

func held(t *testing.T, s resume.Selection) []*v1alpha1.Server {
	t.Helper()
	servers, err := resume.Held(t.Context(), stack.Admin, s)
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

func named(servers []*v1alpha1.Server) []string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

// withoutManager stops the manager for one test: it runs without --after-restore, and would tidy the consent away.
func withoutManager(t *testing.T) {
	t.Helper()
	if err := stack.StopManager(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.StartManager(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// unannotate takes an annotation away, as somebody who may break the glass.
func unannotate(t *testing.T, name, key string) {
	t.Helper()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:null,%q:"end of %s"}}}`, key, v1alpha1.AnnotationBreakGlass, t.Name())
	server := &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := stack.Admin.Patch(context.Background(), server, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		t.Error(err)
	}
}

// A server that a manager with --after-restore holds is let go by a consent that names its identity; nothing else is annotated.
func TestResumeLetsTheSelectedServersGo(t *testing.T) {
	for _, name := range []string{"rack2-u01", "rack2-u02"} {
		available(t, name)
	}
	withoutManager(t)
	restored := func(s *lifecycle.Settings) { s.Epoch = "restore-7" }
	rack2, err := labels.Parse("rack=r2")
	if err != nil {
		t.Fatal(err)
	}
	selection := resume.Selection{Epoch: "restore-7", Selector: rack2}
	servers := held(t, selection)
	if diff := cmp.Diff([]string{"rack2-u01", "rack2-u02"}, named(servers)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	if report, err := explainer(stack.Admin, restored).Server(t.Context(), "rack2-u01"); err != nil || report.Gates[0].Reason != v1alpha1.ReasonRestoredSnapshot {
		t.Fatalf("not held: %+v, %v", report.Gates, err)
	}

	server := servers[0]
	t.Cleanup(func() { unannotate(t, server.Name, v1alpha1.AnnotationResume) })
	if err := selection.Consent(t.Context(), stack.Admin, server, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	after := &v1alpha1.Server{}
	if err := stack.Admin.Get(t.Context(), client.ObjectKeyFromObject(server), after); err != nil {
		t.Fatal(err)
	}
	if _, given := after.Annotations[v1alpha1.AnnotationResume]; given {
		t.Error("a dry run annotated the server")
	}
	if err := selection.Consent(t.Context(), stack.Admin, server); err != nil {
		t.Fatal(err)
	}
	report, err := explainer(stack.Admin, restored).Server(t.Context(), server.Name)
	if err != nil || report.Step.Clause != "First.Resume" {
		t.Errorf("after the consent: %+v, %v", report.Step, err)
	}
	// What was looked at has changed since: it is looked at again before anybody consents.
	if err := selection.Consent(t.Context(), stack.Admin, server); !apierrors.IsConflict(err) {
		t.Errorf("a consent on an older look: %v, want a conflict", err)
	}
}

// A server that was resumed for this restore already is passed over: a consent left behind would let go of the next restore unseen.
func TestResumedServersArePassedOver(t *testing.T) {
	available(t, "rack1-u02")
	server := &v1alpha1.Server{}
	withoutManager(t)
	if err := stack.Admin.Get(t.Context(), client.ObjectKey{Name: "rack1-u02"}, server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unannotate(t, server.Name, ledger.KeyRestoreEpoch) })
	before := server.DeepCopy()
	server.Annotations[ledger.KeyRestoreEpoch] = "restore-8"
	server.Annotations[v1alpha1.AnnotationBreakGlass] = "test of " + t.Name()
	if err := stack.Admin.Patch(t.Context(), server, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if got := held(t, resume.Selection{Epoch: "restore-8", Names: []string{"rack1-u02"}}); len(got) > 0 {
		t.Errorf("held: %v", named(got))
	}
	if got := held(t, resume.Selection{Epoch: "restore-9", Names: []string{"rack1-u02"}}); len(got) != 1 {
		t.Errorf("for the next restore: %v", named(got))
	}
}

func TestResumeAsksWhichServersAndWhichRestore(t *testing.T) {
	for name, s := range map[string]resume.Selection{
		"no restore":      {All: true},
		"no servers":      {Epoch: "e"},
		"two selections":  {Epoch: "e", All: true, Names: []string{"a"}},
		"no such server":  {Epoch: "e", Names: []string{"nobody"}},
		"names and label": {Epoch: "e", Names: []string{"a"}, Selector: labels.Everything()},
	} {
		if _, err := resume.Held(t.Context(), stack.Admin, s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

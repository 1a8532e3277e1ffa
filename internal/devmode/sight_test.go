// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func TestNarrationTellsWhatMoved(t *testing.T) {
	server := func(phase v1alpha1.ServerPhase, change ...func(*v1alpha1.Server)) *v1alpha1.Server {
		s := &v1alpha1.Server{}
		s.Name, s.Status.Phase = "rack1-u01", phase
		for _, c := range change {
			c(s)
		}
		return s
	}
	condition := func(kind, reason, message string) func(*v1alpha1.Server) {
		return func(s *v1alpha1.Server) {
			s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message})
		}
	}
	ready := condition(v1alpha1.ConditionReady, v1alpha1.ReasonSettled, "")
	stalled := condition(v1alpha1.ConditionStalled, v1alpha1.ReasonFoundRunning, "it runs")
	claimed := func(s *v1alpha1.Server) {
		s.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "default", Name: "web"}
	}
	for _, row := range []struct {
		name          string
		before, after any
		want          []string
	}{
		{"new", nil, server(""), []string{"there"}},
		{"phase and readiness", server(v1alpha1.PhaseDiscovery), server(v1alpha1.PhaseAvailable, ready), []string{"Discovery → Available, ready"}},
		{"nothing that people want to hear", server(v1alpha1.PhaseAvailable, ready), server(v1alpha1.PhaseAvailable, ready), nil},
		{"bound", server(v1alpha1.PhaseAvailable), server(v1alpha1.PhaseReserved, claimed), []string{"bound to claim default/web, Available → Reserved"}},
		{"let go", server(v1alpha1.PhaseReleasing, claimed), server(v1alpha1.PhaseAvailable), []string{"let go by claim default/web, Releasing → Available"}},
		{"held", server(v1alpha1.PhaseAvailable), server(v1alpha1.PhaseAvailable, stalled), []string{"HELD FoundRunning: it runs"}},
		{"held no more", server(v1alpha1.PhaseAvailable, stalled), server(v1alpha1.PhaseAvailable, ready), []string{"held no more, ready"}},
	} {
		if diff := cmp.Diff(row.want, sightOf(row.after).changes(sightOf(row.before))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", row.name, diff)
		}
	}
}

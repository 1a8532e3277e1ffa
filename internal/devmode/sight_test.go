// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
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

// What a request says already is not told a second time; who did it is, where nobody asked for it.
func TestNarrationOfACloud(t *testing.T) {
	for _, row := range []struct {
		event openstack.Event
		want  string
	}{
		{openstack.Event{Kind: openstack.EventServerLaunched}, "vm runs"},
		{openstack.Event{Kind: openstack.EventServerErrored, Detail: "No valid host was found."}, "vm ERROR: No valid host was found."},
		{openstack.Event{Kind: openstack.EventServerPower, State: "SHUTOFF", By: "hand"}, "vm is SHUTOFF (by hand)"},
		{openstack.Event{Kind: openstack.EventServerRebuilt}, "vm is rebuilt: its disk is new"},
		{openstack.Event{Kind: openstack.EventServerGone, By: "request"}, "vm is gone"},
		{openstack.Event{Kind: openstack.EventServerAction, Detail: "rebuild"}, " "},
		{openstack.Event{Kind: openstack.EventPortDeleted}, "port is gone"},
		{openstack.Event{Kind: openstack.EventFloatingIPCreated}, "ip is allocated"},
	} {
		what, text := happenedAtCloud(row.event)
		if got := what + " " + text; got != row.want {
			t.Errorf("%s: %q, want %q", row.event.Kind, got, row.want)
		}
	}
}

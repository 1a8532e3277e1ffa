// SPDX-License-Identifier: Apache-2.0

package statustest

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/status"
)

// Server checks a kind on an API server that has its CRD and runs no controller for it: what kstatus reads
// from a new object, from each level of readiness, from a stale generation and from a wiped status; that
// the second pass sends nothing; that a lost race and a deleted object are what they seem; that the
// schema takes whatever a session sets. The objects it creates are deleted at the end.
//
// The scheme must know the kind, unless New returns unstructured objects.
func Server(t TB, kind Kind, config *rest.Config, scheme *runtime.Scheme) {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Errorf("no client: %v", err)
		return
	}
	for _, check := range []func(*subject){checkLevels, checkWipes, checkRaces, checkRefusals} {
		if s := newSubject(t, kind, c); s != nil {
			check(s)
		}
	}
}

// level is a report and what kstatus must read from it.
type level struct {
	name   string
	report func(*status.Session)
	want   kstatus.Status
}

var levels = []level{
	{"no report", func(*status.Session) {}, kstatus.InProgressStatus},
	{"Stalled", func(s *status.Session) { s.Stalled("Broken", "needs a person") }, kstatus.FailedStatus},
	{"Unknown", func(s *status.Session) { s.Unknown("NotSeen", "nothing is known yet") }, kstatus.InProgressStatus},
	{"Progressing", func(s *status.Session) { s.Progressing("Waiting", "comes by itself") }, kstatus.InProgressStatus},
	{"Converged", converged, kstatus.CurrentStatus},
}

func converged(s *status.Session) { s.Converged("Succeeded", "all is well") }

func checkLevels(s *subject) {
	s.Helper()
	s.reads("a new object", 0, kstatus.InProgressStatus)
	for _, l := range levels {
		s.pass(l.name, l.report, status.Written)
		s.reads(l.name, 0, l.want)
		s.reads(l.name+" for a generation before", 1, kstatus.InProgressStatus)
		s.pass(l.name+", said again", l.report, status.Unchanged)
	}
}

func checkWipes(s *subject) {
	s.Helper()
	s.pass("Converged", converged, status.Written)
	s.patchStatus(`{"status":null}`)
	s.reads("a status wiped by null", 0, kstatus.InProgressStatus)
	s.pass("a pass after the wipe", converged, status.Written)
	s.replaceStatus(map[string]any{})
	s.reads("a status wiped by {}", 0, kstatus.InProgressStatus)
	s.pass("a pass after the wipe", converged, status.Written)
	s.reads("a status that came back", 0, kstatus.CurrentStatus)
}

func checkRaces(s *subject) {
	s.Helper()
	session := s.begin()
	s.annotate()
	s.ends("a pass whose object changed", session, converged, status.LostRace)
	session = s.begin()
	s.remove()
	s.ends("a pass whose object was deleted", session, converged, status.Gone)
}

func checkRefusals(s *subject) {
	s.Helper()
	long := strings.Repeat("x", 40_000)
	for name, value := range map[string]status.Value{
		"zero": {}, "of a malformed reason": {Reason: "not a reason"}, "of overlong texts": {Reason: long, Message: long},
	} {
		report := func(session *status.Session) {
			session.SetValue(reportedType, value)
			session.Stalled(value.Reason, value.Message)
		}
		s.pass("a value "+name, report, status.Written)
		s.pass("a value "+name+", said again", report, status.Unchanged)
	}
}

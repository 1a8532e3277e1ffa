// SPDX-License-Identifier: Apache-2.0

package wake_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

func TestReportsChanged(t *testing.T) {
	reported := func() *v1alpha1.Server {
		return server(func(s *v1alpha1.Server) {
			s.ResourceVersion = "11"
			s.Status.Phase = v1alpha1.PhaseAvailable
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
		})
	}
	for name, test := range map[string]struct {
		before, after client.Object
		want          bool
	}{
		"own write":                  {server(nil), reported(), false},
		"wiped":                      {reported(), server(func(s *v1alpha1.Server) { s.ResourceVersion = "12" }), true},
		"wiped, the region with it":  {reported(), server(func(s *v1alpha1.Server) { s.ResourceVersion, s.Status = "12", v1alpha1.ServerStatus{} }), true},
		"the monitor's write":        {reported(), with(reported(), func(s *v1alpha1.Server) { s.ResourceVersion, s.Status.Observed.Health = "12", "OK" }), false},
		"replaced by an older copy":  {reported(), with(reported(), func(s *v1alpha1.Server) { s.ResourceVersion, s.Status.Phase = "12", v1alpha1.PhaseInitial }), true},
		"somebody's label":           {reported(), with(reported(), func(s *v1alpha1.Server) { s.ResourceVersion, s.Labels = "12", nil }), false},
		"another kind: claim, wiped": {&v1alpha1.ServerClaim{Status: v1alpha1.ServerClaimStatus{Phase: v1alpha1.ClaimBound}}, &v1alpha1.ServerClaim{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			reports := &wake.Reports{}
			reports.Persisted(reported())
			if got := reports.Changed().Moved(test.before, test.after); got != test.want {
				t.Errorf("moved: %t, want %t", got, test.want)
			}
		})
	}
}

func TestReportsForgottenCostOnePass(t *testing.T) {
	reports := &wake.Reports{}
	after := server(func(s *v1alpha1.Server) { s.ResourceVersion, s.Status.Phase = "11", v1alpha1.PhaseAvailable })
	reports.Persisted(after)
	reports.Forget(client.ObjectKeyFromObject(after))
	if !reports.Changed().Moved(server(nil), after) {
		t.Error("an own write that was forgotten must wake")
	}
}

func with(s *v1alpha1.Server, change func(*v1alpha1.Server)) *v1alpha1.Server {
	change(s)
	return s
}

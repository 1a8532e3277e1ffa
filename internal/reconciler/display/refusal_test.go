// SPDX-License-Identifier: Apache-2.0

package display_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/reconciler/display"
)

const message = "InsertMedia: MediaRefused: the BMC takes no query"

// says lets the Server report that it is stalled.
func says(status metav1.ConditionStatus, reason string, generation int64) lt.Override {
	return func(s *lt.Scene) {
		s.Server.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionStalled, Status: status, Reason: reason, Message: message, ObservedGeneration: generation,
		}}
	}
}

func report(booted string) claim.Decision {
	return claim.Decision{
		Phase: v1alpha1.ClaimBound,
		Conditions: []lifecycle.Condition{
			{Type: v1alpha1.ConditionBound, Status: "True", Reason: v1alpha1.ReasonBound},
			{Type: v1alpha1.ConditionBooted, Status: booted, Reason: v1alpha1.ReasonBooting},
		},
		Gates: []lifecycle.Gate{{Level: lifecycle.Progressing, Reason: v1alpha1.ReasonBooting}},
	}
}

// A tenant is told why the machine does not boot where the tenant looks: on the claim.
func TestAClaimIsToldWhatItsServerRefuses(t *testing.T) {
	for _, reason := range []string{v1alpha1.ReasonMediaRefused, v1alpha1.ReasonEffectFailed} {
		scene := lt.New(lt.Claimed, says(metav1.ConditionTrue, reason, 1))
		before := report("False")
		got := display.WithRefusal(scene.Claim, scene.Server, before)
		want := report("False")
		want.Conditions[1].Reason, want.Conditions[1].Message = reason, message
		want.Gates = append([]lifecycle.Gate{{Level: lifecycle.Stalled, Reason: reason, Message: message}}, want.Gates...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(report("False"), before); diff != "" {
			t.Errorf("the decision itself was changed: %s", diff)
		}
	}
}

// A VM that runs and does not get its floating IP is of no use to who waits for it: the tenant is told why.
func TestAClaimIsToldWhyItHasNoAddress(t *testing.T) {
	scene := lt.New(lt.Claimed, says(metav1.ConditionTrue, v1alpha1.ReasonQuotaExceeded, 1))
	before := report("True")
	before.Gates = []lifecycle.Gate{{Level: lifecycle.Progressing, Reason: v1alpha1.ReasonNetworkUpdating}}
	got := display.WithRefusal(scene.Claim, scene.Server, before)
	if len(got.Gates) != 2 || got.Gates[0].Reason != v1alpha1.ReasonQuotaExceeded || got.Gates[0].Level != lifecycle.Stalled {
		t.Errorf("gates %v", got.Gates)
	}
	if diff := cmp.Diff(before.Conditions, got.Conditions); diff != "" {
		t.Errorf("it was booted all the same: %s", diff)
	}
}

func TestWhatIsNoneOfTheClaimsBusinessIsNotTold(t *testing.T) {
	refused := says(metav1.ConditionTrue, v1alpha1.ReasonBootMethodUnsupported, 1)
	for name, c := range map[string]struct {
		given  lt.Override
		booted string
	}{
		"no report":              {lt.Claimed, "False"},
		"another reason":         {lt.All(lt.Claimed, says(metav1.ConditionTrue, v1alpha1.ReasonFoundRunning, 1)), "False"},
		"over":                   {lt.All(lt.Claimed, says(metav1.ConditionFalse, v1alpha1.ReasonMediaRefused, 1)), "False"},
		"of an earlier spec":     {lt.All(lt.Claimed, says(metav1.ConditionTrue, v1alpha1.ReasonMediaRefused, 0)), "False"},
		"booted since":           {lt.All(lt.Claimed, refused), "True"},
		"another claim's server": {lt.All(lt.Claimed, refused, func(s *lt.Scene) { s.Server.Spec.ClaimRef.Identity = "claim-db" }), "False"},
		"nobody's server":        {lt.All(lt.Claimed, refused, func(s *lt.Scene) { s.Server.Spec.ClaimRef = nil }), "False"},
		"no server":              {lt.All(lt.Claimed, func(s *lt.Scene) { s.Server = nil }), "False"},
	} {
		t.Run(name, func(t *testing.T) {
			scene := lt.New(c.given)
			if diff := cmp.Diff(report(c.booted), display.WithRefusal(scene.Claim, scene.Server, report(c.booted))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The claim is woken by what it is to tell, and by no other report of its server.
func TestOnlyWhatAClaimTellsWakesIt(t *testing.T) {
	server := func(given lt.Override) *v1alpha1.Server { return lt.New(lt.Claimed, given).Server }
	refused := server(says(metav1.ConditionTrue, v1alpha1.ReasonMediaRefused, 1))
	awaits := server(func(s *lt.Scene) {
		s.Server.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPowerNotWanted}}
	})
	for name, c := range map[string]struct {
		before, after *v1alpha1.Server
		want          bool
	}{
		"refused":         {server(nil), refused, true},
		"refused no more": {refused, server(says(metav1.ConditionFalse, v1alpha1.ReasonBooting, 1)), true},
		"for two reasons": {refused, server(says(metav1.ConditionTrue, v1alpha1.ReasonBootMethodUnsupported, 1)), true},
		"as before":       {refused, refused.DeepCopy(), false},
		"awaits power":    {server(nil), awaits, true},
		"held since":      {awaits, server(says(metav1.ConditionTrue, v1alpha1.ReasonBoundElsewhere, 1)), true},
		"another report":  {server(nil), server(says(metav1.ConditionTrue, v1alpha1.ReasonFoundRunning, 1)), false},
	} {
		if got := display.ReportMoved.Moved(c.before, c.after); got != c.want {
			t.Errorf("%s: wakes %t", name, got)
		}
	}
	if display.ReportMoved.Moved(&v1alpha1.BMC{}, &v1alpha1.BMC{}) {
		t.Error("a BMC refuses nothing")
	}
}

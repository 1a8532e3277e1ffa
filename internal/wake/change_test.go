// SPDX-License-Identifier: Apache-2.0

package wake_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

func server(change func(*v1alpha1.Server)) *v1alpha1.Server {
	seen := metav1.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	s := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{
			Name: "rack1-u07", UID: "1", Generation: 3, ResourceVersion: "10",
			Labels:      map[string]string{"rack": "r1"},
			Annotations: map[string]string{v1alpha1.LedgerPrefix + "identity": "id", "example.com/note": "kept"},
			Finalizers:  []string{v1alpha1.FinalizerServer, "example.com/hold"},
		},
		Status: v1alpha1.ServerStatus{Observed: &v1alpha1.ServerObserved{
			Reachable: true, PowerState: v1alpha1.ObservedOff, Since: &seen,
			Hardware: &v1alpha1.Hardware{Memory: new(resource.MustParse("64Gi"))},
		}},
	}
	if change != nil {
		change(s)
	}
	return s
}

// TestFirst shows which change of a server wakes it, and for which cause (monitor.md, Wakes).
func TestFirst(t *testing.T) {
	deleted := metav1.Now()
	for name, test := range map[string]struct {
		change func(*v1alpha1.Server)
		want   wake.Cause
	}{
		"spec":                                   {func(s *v1alpha1.Server) { s.Generation++ }, wake.CauseSpec},
		"deletion asked for":                     {func(s *v1alpha1.Server) { s.DeletionTimestamp, s.Generation = &deleted, 4 }, wake.CauseDeletion},
		"finalizer added":                        {func(s *v1alpha1.Server) { s.Finalizers = append(s.Finalizers, "other") }, wake.CauseDeletion},
		"finalizer removed":                      {func(s *v1alpha1.Server) { s.Finalizers = s.Finalizers[:1] }, wake.CauseDeletion},
		"ledger entry added":                     {func(s *v1alpha1.Server) { s.Annotations[v1alpha1.LedgerPrefix+"intent"] = "{}" }, wake.CauseLedger},
		"ledger entry changed":                   {func(s *v1alpha1.Server) { s.Annotations[v1alpha1.LedgerPrefix+"identity"] = "other" }, wake.CauseLedger},
		"ledger lost":                            {func(s *v1alpha1.Server) { s.Annotations = nil }, wake.CauseLedger},
		"consent given":                          {func(s *v1alpha1.Server) { s.Annotations[v1alpha1.AnnotationPowerOff] = "id" }, wake.CauseVerb},
		"label":                                  {func(s *v1alpha1.Server) { s.Labels = map[string]string{"rack": "r2"} }, wake.CauseLabels},
		"picture changed":                        {func(s *v1alpha1.Server) { s.Status.Observed.PowerState = v1alpha1.ObservedOn }, wake.CauseObserved},
		"picture bears an intent":                {func(s *v1alpha1.Server) { s.Status.Observed.Intent = "i" }, wake.CauseObserved},
		"picture wiped":                          {func(s *v1alpha1.Server) { s.Status.Observed = nil }, wake.CauseObserved},
		"fault cleared at the provider (parked)": {func(s *v1alpha1.Server) { s.Status.Observed.Health = "OK" }, wake.CauseObserved},
		"replaced by another of that name":       {func(s *v1alpha1.Server) { s.UID = "2" }, wake.CauseCreate},

		"nothing, repeated by a resync": {nil, ""},
		"resource version alone":        {func(s *v1alpha1.Server) { s.ResourceVersion = "11" }, ""},
		"own status write: conditions": {func(s *v1alpha1.Server) {
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
		}, ""},
		"own status write: phase":              {func(s *v1alpha1.Server) { s.Status.Phase = v1alpha1.PhaseAvailable }, ""},
		"own status write: observedGeneration": {func(s *v1alpha1.Server) { s.Status.ObservedGeneration = 3 }, ""},
		"somebody else's annotation":           {func(s *v1alpha1.Server) { s.Annotations["example.com/note"] = "changed" }, ""},
		"finalizers in another order":          {func(s *v1alpha1.Server) { s.Finalizers = []string{"example.com/hold", v1alpha1.FinalizerServer} }, ""},
		"managed fields":                       {func(s *v1alpha1.Server) { s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}} }, ""},
		"region carried back, decoded again": {func(s *v1alpha1.Server) {
			s.Status.Observed.Since = new(metav1.NewTime(s.Status.Observed.Since.Local()))
		}, ""},
		"region carried back, quantity respelt": {func(s *v1alpha1.Server) { s.Status.Observed.Hardware.Memory = new(resource.MustParse("65536Mi")) }, ""},
		"region carried back, empty list":       {func(s *v1alpha1.Server) { s.Status.Observed.Hardware.NICs = []v1alpha1.NIC{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cause, moved := wake.First(server(nil), server(test.change), wake.All()...)
			if moved != (test.want != "") || cause != test.want {
				t.Errorf("woken: %t for %q, want %q", moved, cause, test.want)
			}
		})
	}
}

func TestObservedOfOtherKinds(t *testing.T) {
	bmc := &v1alpha1.BMC{Status: v1alpha1.BMCStatus{Observed: &v1alpha1.BMCObserved{Reachable: true}}}
	unreachable := bmc.DeepCopy()
	unreachable.Status.Observed.Reachable = false
	claim := &v1alpha1.ServerClaim{}
	booted := claim.DeepCopy()
	booted.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionBooted}}
	for name, test := range map[string]struct {
		before, after client.Object
		want          bool
	}{
		"a BMC lost":                        {bmc, unreachable, true},
		"a BMC as it was":                   {bmc, bmc.DeepCopy(), false},
		"a claim has no region to observe":  {claim, booted, false},
		"the metadata of a secret has none": {&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wake.Observed.Moved(test.before, test.after); got != test.want {
				t.Errorf("moved: %t, want %t", got, test.want)
			}
		})
	}
}

// TestChangesModifyNothing: events carry objects that the cache shares.
func TestChangesModifyNothing(t *testing.T) {
	before, after := server(nil), server(func(s *v1alpha1.Server) { s.Finalizers = []string{"b", "a"} })
	keepBefore, keepAfter := before.DeepCopy(), after.DeepCopy()
	for _, change := range wake.All() {
		change.Moved(before, after)
	}
	for _, pair := range [][2]runtime.Object{{before, keepBefore}, {after, keepAfter}} {
		if diff := diffObjects(pair[0], pair[1]); diff != "" {
			t.Errorf("modified: %s", diff)
		}
	}
}

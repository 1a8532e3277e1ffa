// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/holdfast-dev/holdfast/status"
)

func mustUnstructured(t *testing.T, u *unstructured.Unstructured) status.Object {
	t.Helper()
	object, err := status.FromUnstructured(u)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// answerMetadataWrite does to the local object what a client does after a metadata write: the version
// moves and the status is as stored.
func answerMetadataWrite(t *testing.T, object status.Object, stored []metav1.Condition, version string) {
	t.Helper()
	w := newWidget()
	w.Status.Conditions = append(w.Status.Conditions, stored...)
	switch o := object.(type) {
	case interface {
		UnstructuredContent() map[string]any
	}:
		o.UnstructuredContent()["status"] = toUnstructured(t, w).Object["status"]
	default:
		*object.StatusConditions() = w.Status.Conditions
		object.SetObservedGeneration(w.Status.ObservedGeneration)
	}
	object.SetResourceVersion(version)
}

func TestAnUnstructuredPassSendsWhatAStructuredOneSends(t *testing.T) {
	report := func(s *status.Session) {
		s.Set("Scheduled", yes, "NodeFound", "on node-7")
		s.Stalled("BadSpec", "size")
	}
	structured, loose := &server{}, &server{}
	commit(t, structured, nil, newWidget(), report)
	u := toUnstructured(t, newWidget())
	commit(t, loose, nil, mustUnstructured(t, u), report)
	if diff := cmp.Diff(structured.only(t), loose.only(t)); diff != "" {
		t.Error(diff)
	}
	if loose.targets[0] != u {
		t.Errorf("the client was given %T, not the caller's object", loose.targets[0])
	}
	if outcome := commit(t, loose, nil, mustUnstructured(t, u), report); outcome != status.Unchanged {
		t.Errorf("second pass %s", outcome)
	}
}

func TestAnUnstructuredObjectWithoutStatusGetsOne(t *testing.T) {
	u := toUnstructured(t, newWidget())
	delete(u.Object, "status")
	s := &server{}
	commit(t, s, nil, mustUnstructured(t, u), converged)
	mustHaveFields(t, s.only(t), "conditions", "observedGeneration")
}

// Kinds exist whose conditions say more than metav1.Condition does.
func TestKeysOfAConditionThatAreNotOursAreKept(t *testing.T) {
	u := toUnstructured(t, settled(t, func(s *status.Session) {
		s.Set("Scheduled", yes, "R", "")
		s.Converged("Succeeded", "")
	}))
	conditions := u.Object["status"].(map[string]any)["conditions"].([]any)
	conditions[0].(map[string]any)["severity"] = "Info"
	commit(t, &server{}, nil, mustUnstructured(t, u), func(s *status.Session) {
		s.Set("Scheduled", no, "Other", "")
		s.Converged("Succeeded", "")
	})
	first := u.Object["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
	if first["severity"] != "Info" || first["status"] != "False" || first["reason"] != "Other" {
		t.Errorf("%v", first)
	}
}

func TestAMalformedStatusIsRefusedAtOnce(t *testing.T) {
	good := map[string]any{"type": "Ready", "status": "True"}
	for name, test := range map[string]struct {
		status any
		want   string
	}{
		"status is no object":       {"text", "status"},
		"conditions are no list":    {map[string]any{"conditions": "text"}, "conditions"},
		"a condition is no object":  {map[string]any{"conditions": []any{good, "text"}}, "conditions[1]"},
		"a type is no string":       {map[string]any{"conditions": []any{map[string]any{"type": int64(1)}}}, ".type"},
		"a time is no time":         {map[string]any{"conditions": []any{map[string]any{"lastTransitionTime": "noon"}}}, ".lastTransitionTime"},
		"a generation is no number": {map[string]any{"conditions": []any{map[string]any{"observedGeneration": "1"}}}, ".observedGeneration"},
	} {
		t.Run(name, func(t *testing.T) {
			u := toUnstructured(t, newWidget())
			u.Object["status"] = test.status
			_, err := status.FromUnstructured(u)
			if err == nil {
				t.Fatal("accepted")
			}
			mustContain(t, fmt.Sprint(err), test.want)
			mustContain(t, fmt.Sprint(err), "default/w")
		})
	}
	if _, err := status.FromUnstructured(&unstructured.Unstructured{}); err == nil {
		t.Error("an empty object was accepted")
	}
}

func TestTimesAreStoredInUTCWhateverTheClocksZone(t *testing.T) {
	zone := time.FixedZone("UTC+5", 5*3600)
	u := toUnstructured(t, newWidget())
	commit(t, &server{}, nil, mustUnstructured(t, u), converged, status.WithClock(clocktesting.NewFakePassiveClock(start.In(zone))))
	first := u.Object["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
	if first["lastTransitionTime"] != "2026-11-29T12:00:00Z" {
		t.Errorf("%v", first)
	}
}

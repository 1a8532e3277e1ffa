// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	identity      = "ledger.holdfast.dev/identity"
	provisionedAt = "ledger.holdfast.dev/provisioned-at"
	bootEntry     = "ledger.holdfast.dev/boot"
	breakGlass    = "holdfast.dev/break-glass"
)

// Who changes what the operator remembers, and who is refused with which words (P3). Everyone here has the RBAC rights that the
// change needs, so a refusal is the policy's.
func TestMemoryIsTheOperatorsAlone(t *testing.T) {
	awaitPolicies(t)
	const byOperator = "only the Holdfast operator changes its ledger"
	const once = "is written once and never changes"
	tests := map[string]struct {
		who     user
		kind    string
		patch   string // JSON merge patch
		refusal string // "" where allowed
	}{
		"operator changes an entry":                   {operator, "Server", annotate(bootEntry, "new"), ""},
		"operator removes an entry":                   {operator, "Server", annotate(bootEntry, nil), ""},
		"operator adds an entry":                      {operator, "Server", annotate("ledger.holdfast.dev/intent", "{}"), ""},
		"operator changes a claim's entry":            {operator, "ServerClaim", annotate(bootEntry, "new"), ""},
		"operator changes the identity":               {operator, "Server", annotate(identity, "other"), identity + " " + once},
		"operator removes the identity":               {operator, "Server", annotate(identity, nil), identity + " " + once},
		"operator changes a claim's identity":         {operator, "ServerClaim", annotate(identity, "other"), identity + " " + once},
		"operator removes provisioned-at":             {operator, "Server", annotate(provisionedAt, nil), provisionedAt + " " + once},
		"operator drops all annotations":              {operator, "Server", `{"metadata":{"annotations":null}}`, once},
		"cluster admin changes an entry":              {admin, "Server", annotate(bootEntry, "new"), byOperator},
		"cluster admin removes an entry":              {admin, "Server", annotate(bootEntry, nil), byOperator},
		"cluster admin adds an entry":                 {admin, "Server", annotate("ledger.holdfast.dev/intent", "{}"), byOperator},
		"cluster admin drops all annotations":         {admin, "Server", `{"metadata":{"annotations":null}}`, byOperator},
		"platform team changes an entry":              {platformTeam, "Server", annotate(bootEntry, "new"), byOperator},
		"tenant changes its claim's entry":            {tenant, "ServerClaim", annotate(bootEntry, "new"), byOperator},
		"tenant changes its claim's identity":         {tenant, "ServerClaim", annotate(identity, "other"), byOperator},
		"tenant drops its claim's annotations":        {tenant, "ServerClaim", `{"metadata":{"annotations":null}}`, byOperator},
		"tenant labels and consents":                  {tenant, "ServerClaim", `{"metadata":{"labels":{"a":"b"},"annotations":{"holdfast.dev/force-release":"x"}}}`, ""},
		"tenant changes what a tenant may":            {tenant, "ServerClaim", `{"spec":{"power":"Off"}}`, ""},
		"editor changes what a platform team may":     {editor, "Server", `{"spec":{"unschedulable":true},"metadata":{"annotations":{"note":"x"}}}`, ""},
		"anyone removes a finalizer":                  {tenant, "ServerClaim", `{"metadata":{"finalizers":null}}`, ""},
		"garbage collector removes its own finalizer": {collector, "Server", `{"metadata":{"finalizers":["holdfast.dev/server"]}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := remembering(t, test.kind)
			err := as(t, test.who).Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(test.patch)))
			expect(t, err, test.refusal)
			if test.refusal != "" {
				expectLedger(t, object)
			}
		})
	}
}

// An update without the ledger, as kubectl replace sends it, is refused with words that say what to use instead, and changes nothing.
func TestReplaceWithoutTheLedgerIsRefused(t *testing.T) {
	awaitPolicies(t)
	for _, who := range []user{admin, platformTeam, editor} {
		for _, kind := range []string{"Server", "ServerClaim"} {
			object := remembering(t, kind)
			replacement := object.DeepCopy()
			replacement.SetAnnotations(nil)
			err := as(t, who).Update(t.Context(), replacement)
			expect(t, err, "If this was kubectl replace, use kubectl apply or kubectl patch")
			expectLedger(t, object)
		}
	}
}

// The identity is written once: by the operator, where there was none.
func TestIdentityIsWrittenWhereThereWasNone(t *testing.T) {
	awaitPolicies(t)
	for _, kind := range []string{"Server", "ServerClaim"} {
		object := build(kind, unique("new"), nil)
		create(t, admin, object)
		first := client.RawPatch(types.MergePatchType, []byte(annotate(identity, "i1")))
		expect(t, as(t, admin).Patch(t.Context(), object.DeepCopy(), first), "only the Holdfast operator")
		expect(t, as(t, operator).Patch(t.Context(), object.DeepCopy(), first), "")
		second := client.RawPatch(types.MergePatchType, []byte(annotate(identity, "i2")))
		expect(t, as(t, operator).Patch(t.Context(), object.DeepCopy(), second), "written once")
	}
}

// What is refused is refused for good: glass breaks for who may break it, with a reason given in the same request.
func TestBreakingTheGlass(t *testing.T) {
	awaitPolicies(t)
	tests := map[string]struct {
		who     user
		kind    string
		changes set
		refusal string
	}{
		"platform team with a reason": {platformTeam, "Server", set{"identity": "other", "reason": "unreadable"}, ""},
		"cluster admin with a reason": {admin, "Server", set{"identity": "other", "reason": "unreadable"}, ""},
		"platform team, claim":        {platformTeam, "ServerClaim", set{"identity": "other", "reason": "unreadable"}, ""},
		"without a reason":            {platformTeam, "Server", set{"identity": "other"}, "only the Holdfast operator"},
		"with an empty reason":        {platformTeam, "Server", set{"identity": "other", "reason": ""}, "only the Holdfast operator"},
		"with the reason of before":   {platformTeam, "Server", set{"identity": "other", "reason": "before"}, "only the Holdfast operator"},
		"editor without the verb":     {editor, "Server", set{"identity": "other", "reason": "want"}, "only the Holdfast operator"},
		"tenant on its own claim":     {tenant, "ServerClaim", set{"identity": "other", "reason": "want"}, "only the Holdfast operator"},
		"operator has no such right":  {operator, "Server", set{"identity": "other", "reason": "want"}, "written once"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := remembering(t, test.kind)
			annotations := map[string]any{identity: test.changes["identity"]}
			if reason, given := test.changes["reason"]; given {
				annotations[breakGlass] = reason
			}
			patch := merge(t, map[string]any{"metadata": map[string]any{"annotations": annotations}})
			expect(t, as(t, test.who).Patch(t.Context(), object.DeepCopy(), patch), test.refusal)
		})
	}
}

// remembering is an object with a ledger, the finalizers and an old reason for breaking the glass, made by the operator's side.
func remembering(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	object := build(kind, unique("remembering"), nil)
	object.SetAnnotations(map[string]string{identity: "i1", provisionedAt: "vm1", bootEntry: "{}", breakGlass: "before"})
	object.SetFinalizers([]string{"holdfast.dev/server", "foregroundDeletion"})
	create(t, admin, object)
	t.Cleanup(func() {
		_ = as(t, admin).Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
	return object
}

func expectLedger(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	now := object.DeepCopy()
	if err := as(t, admin).Get(t.Context(), client.ObjectKeyFromObject(object), now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object.GetAnnotations(), now.GetAnnotations()); diff != "" {
		t.Errorf("ledger changed:\n%s", diff)
	}
}

// expect compares an answer with a refusal; "" expects none.
func expect(t *testing.T, err error, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("refused: %v", err)
	case refusal != "" && err == nil:
		t.Errorf("allowed, want refused with %q", refusal)
	case refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal)):
		t.Errorf("got %v, want refused with %q", err, refusal)
	}
}

func annotate(key string, value any) string {
	content, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		panic(err)
	}
	return string(content)
}

func merge(t *testing.T, patch map[string]any) client.Patch {
	t.Helper()
	content, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.MergePatchType, content)
}

// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// TestEveryClauseHasACase reads the clauses out of the package's source: one that no case reaches fails.
func TestEveryClauseHasACase(t *testing.T) {
	reached := map[string]bool{}
	for _, c := range cases() {
		reached[claim.Decide(c.view).Step.Clause] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, _ := strconv.Unquote(literal.Value); strings.HasPrefix(text, "Claim.") && !reached[text] {
				t.Errorf("clause %s (%s) has no case", text, name)
			}
			return true
		})
	}
}

// TestStepsThatRestOnAbsenceAreLive is P10 and P4: all but the first write and what is settled is decided again on a live view.
func TestStepsThatRestOnAbsenceAreLive(t *testing.T) {
	for _, c := range cases() {
		step := claim.Decide(c.view).Step
		if step.Kind != lifecycle.StepSettled && step.Clause != "Claim.Remember" && step.Clause != "Claim.GlassBroken" && !step.Live {
			t.Errorf("%s: %s is not live", c.name, step.Clause)
		}
	}
}

// TestDecideIsTotalAndPure draws views at random: no panic, the same answer twice, nothing in the view changed, and never a patch of
// claimRef on a server that another claim has (I8) or where an intent is open while it is nil (R2).
func TestDecideIsTotalAndPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawView(t)
		before := v.Claim.DeepCopy()
		first := claim.Decide(v)
		if second := claim.Decide(v); !reflect.DeepEqual(first, second) {
			t.Fatalf("two answers for one view:\n%+v\n%+v", first, second)
		}
		if !reflect.DeepEqual(before, v.Claim) {
			t.Fatal("the claim in the view was changed")
		}
		if wrong := expectOwnServer(v, first); wrong != "" {
			t.Fatal(wrong)
		}
		if first.Step.Kind != lifecycle.StepPatch || first.Step.Patch.ClaimRef == nil || first.Step.Patch.ClaimRef.To == nil {
			return
		}
		for _, c := range v.Candidates {
			if c.Server.Name != first.OnServer {
				continue
			}
			if held := c.Server.Spec.ClaimRef; held != nil && held.Identity != v.Claim.Annotations[ledger.KeyIdentity] {
				t.Fatal("takes a server from another claim")
			} else if held == nil && c.Intent {
				t.Fatal("binds under an open intent")
			}
		}
	})
}

func drawView(t *rapid.T) claim.View {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	c := tenant(named(pick("serverName", "", "s1", "s2")))
	if id := pick("bound", "", idOf("s1"), idOf("s2"), idOf("gone"), "not readable"); id != "" {
		boundTo(id)(c)
	}
	if flip("class") {
		ofClass(c)
	}
	if c.Spec.ClassName != "" && flip("chosen") {
		named(nth(c, 0))(c)
	}
	for _, option := range []claimOption{deleted, restored, bareClaim, func(c *v1alpha1.ServerClaim) {
		c.Annotations[v1alpha1.AnnotationForceRelease] = nth(tenant(), 0)
	}} {
		if flip("claim option") {
			option(c)
		}
	}
	var servers []*v1alpha1.Server
	for _, name := range []string{"s1", "s2"} {
		if flip("exists") {
			servers = append(servers, server(name, drawOptions(t, c)...))
		}
	}
	if flip("VM") {
		servers = append(servers, vm(tenant(), drawOptions(t, c)...))
	}
	v := view(c, servers...)
	if flip("class exists") {
		small()(&v)
	}
	if flip("hold") {
		holds(pick("reason", v1alpha1.ReasonLost, v1alpha1.ReasonStampMismatch, v1alpha1.ReasonClaimMismatch))(&v)
	}
	if flip("twins") {
		v.Twins = []types.NamespacedName{{Namespace: "copy", Name: "web"}}
	}
	return v
}

func drawOptions(t *rapid.T, c *v1alpha1.ServerClaim) []serverOption {
	all := []serverOption{
		heldBy(c), heldBy(other()), inDeletion, released("web-uid"), booting("web-uid", ledger.StageBooting), intent(ledger.WhyReleased, "web-uid", "web-uid"),
		entries(ledger.Entries{ledger.KeyIdentity: ""}), entries(ledger.Entries{}.Owner("cluster-b")), entries(ledger.Entries{ledger.KeyBoot: "{"}),
		func(s *v1alpha1.Server) { s.Status.Observed = nil }, func(s *v1alpha1.Server) { s.Spec.Paused = true },
		retained, free,
	}
	var chosen []serverOption
	for i := range all {
		if rapid.IntRange(0, 3).Draw(t, "option "+strconv.Itoa(i)) == 0 {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// TestEveryHoldIsExplained: docs/concepts/binding.md has a row, with ways out, for each reason that a claim is held with.
func TestEveryHoldIsExplained(t *testing.T) {
	raw, err := os.ReadFile("../../docs/concepts/binding.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases() {
		if d := claim.Decide(c.view); d.Step.Kind == lifecycle.StepHold && !strings.Contains(string(raw), "\n| `"+firstReason(d)+"` |") {
			t.Errorf("%s: no row for the hold %s", c.name, firstReason(d))
		}
	}
}

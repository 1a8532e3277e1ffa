// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

func tenant(name string) *v1alpha1.ServerClaim {
	return &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), Finalizers: []string{v1alpha1.FinalizerClaim},
		Annotations: map[string]string{ledger.KeyIdentity: name},
	}}
}

// fleet are candidates as the cache shows them: free, whatever was chosen a moment ago.
func fleet(names ...string) []claim.Candidate {
	var candidates []claim.Candidate
	for _, name := range names {
		server := &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name}}
		candidates = append(candidates, claim.Candidate{Server: server, Available: true})
	}
	return candidates
}

func viewOf(c *v1alpha1.ServerClaim, candidates []claim.Candidate) claim.View {
	return claim.View{Now: time.Unix(0, 0), Settings: lifecycle.DefaultSettings("here"), Live: true, Claim: c, Candidates: candidates}
}

// One pass after another, all on the same old picture of the cache: each claim gets a server of its own.
func TestClaimsOfOneSweepChooseApart(t *testing.T) {
	var c choices
	servers := fleet("a", "b", "c")
	taken := map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		server := choice(c.decide(viewOf(tenant(name), servers)))
		if other, twice := taken[server]; server == "" || twice {
			t.Fatalf("claim %s chose %q, which claim %q has", name, server, other)
		}
		taken[server] = name
	}
	fourth := c.decide(viewOf(tenant("four"), servers))
	if server := choice(fourth); server != "" {
		t.Errorf("the fourth claim of three servers chose %q", server)
	}
	if fourth.Step.Kind != lifecycle.StepWait || fourth.Step.After <= 0 {
		t.Errorf("the fourth claim is %s: what others are about to choose, they may not get, and no event tells", fourth.Step.Kind)
	}
	c.forget(types.NamespacedName{Namespace: "default", Name: "two"}) // its write was lost
	if server := choice(c.decide(viewOf(tenant("four"), servers))); taken[server] != "two" {
		t.Errorf("the fourth claim chose %q, want the one that claim two did not get", server)
	}
}

// B011: nothing is remembered of a claim for longer than its cache is behind. A claim that decides again is not in its own way.
func TestAClaimIsNotInItsOwnWay(t *testing.T) {
	var c choices
	servers := fleet("a")
	for range 2 {
		if server := choice(c.decide(viewOf(tenant("one"), servers))); server != "a" {
			t.Errorf("chose %q", server)
		}
	}
	c.forget(types.NamespacedName{Namespace: "default", Name: "one"})
	if len(c.assumed) != 0 {
		t.Errorf("still remembered: %v", c.assumed)
	}
}

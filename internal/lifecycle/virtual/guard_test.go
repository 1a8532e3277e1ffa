// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestDestructionIsGuarded: for any view, an effect that ends a workload has all that the contract asks for, said here a second time and
// without looking at how Decide finds out.
func TestDestructionIsGuarded(t *testing.T) {
	effects := map[lifecycle.Op]int{}
	rapid.Check(t, func(rt *rapid.T) {
		v := anyScene(rt).View()
		d := virtual.Decide(v)
		if d.Step.Kind != lifecycle.StepAct {
			return
		}
		g := guard{rt: rt, v: v, step: d.Step, e: *d.Step.Effect}
		effects[g.e.Op]++
		g.check()
	})
	t.Logf("effects seen: %v", effects)
	for _, op := range []lifecycle.Op{
		lifecycle.OpCreateInstance, lifecycle.OpDeleteFailed, lifecycle.OpDismantle, lifecycle.OpRebuild, lifecycle.OpStart, lifecycle.OpStop,
	} {
		if effects[op] == 0 {
			t.Logf("no %s was drawn this time", op)
		}
	}
}

// guard looks at one effect.
type guard struct {
	rt   *rapid.T
	v    lifecycle.ServerView
	step lifecycle.Step
	e    lifecycle.Effect
	led  ledger.Server
}

func (g *guard) must(ok bool, what string) {
	g.rt.Helper()
	if !ok {
		g.rt.Fatalf("%s: %s although not: %s", g.step.Clause, g.e.Op, what)
	}
}

func (g *guard) check() {
	var err error
	g.led, err = ledger.ParseServer(g.v.Server.Annotations)
	g.must(err == nil, "the ledger can be read")
	g.must(!g.v.Server.Spec.Paused, "not paused")
	g.must(g.v.Cloud != nil && g.v.Server.Status.Observed != nil && g.v.Server.Status.Observed.Reachable, "the cloud is seen")
	ref := g.e.Virtual.Instance
	g.must(ref.Owner == g.v.Settings.ClusterID && ref.Identity != "" && ref.Name == lt.ServerName, "it goes to one VM, by identity and owner")
	g.must(g.led.Identity == "" || ref.Identity == g.led.Identity, "by the identity remembered")
	if g.e.Op != lifecycle.OpStampInstance { // a take-over stamps first
		g.must(len(g.v.Twins) == 0, "the only Server of this VM")
		g.must(g.led.Owner == "" || g.led.Owner == g.v.Settings.ClusterID, "memory is ours")
		g.must(g.v.Settings.Epoch == "" || g.led.RestoreEpoch == g.v.Settings.Epoch || g.led.Identity == "", "resumed after a restore")
		g.mayTouch()
	}
	if g.e.Op.Destructive() {
		g.destruction()
	}
	if g.e.Op == lifecycle.OpCreateInstance {
		g.creation()
	}
}

// mayTouch: no VM that is stamped as another's.
func (g *guard) mayTouch() {
	vm := g.vm()
	if vm == nil {
		return
	}
	g.must(vm.Owner == g.v.Settings.ClusterID && vm.Identity == g.e.Virtual.Instance.Identity, "the VM is stamped as ours")
	g.must(len(vm.Others) == 0, "no other VM bears the identity")
}

// vm is the picture of the VM that is meant; nil where there is none.
func (g *guard) vm() *v1alpha1.ObservedInstance {
	vm := g.v.Server.Status.Observed.Instance
	if vm == nil || !vm.Exists || (g.e.Virtual.Instance.ID != "" && vm.ID != g.e.Virtual.Instance.ID) {
		return nil
	}
	return vm
}

// destruction: P6, I1, I2, I4, B024.
func (g *guard) destruction() {
	g.must(g.otherBound() == nil, "no other live claim is bound to it")
	if g.e.Op == lifecycle.OpDismantle {
		g.dismantling()
		return
	}
	i := g.led.Intent
	g.must(i != nil && i.ID == g.e.Intent && i.Target == g.e.Virtual.Instance.ID && i.Target != "", "the intent stands written, for this VM")
	g.must(g.led.ObjectUID == g.v.Server.UID, "memory is confirmed")
	maintained := g.v.Server.Spec.MaintenanceRef != nil
	if maintained {
		g.must(g.e.Op == lifecycle.OpStop && g.v.Maintenance != nil && g.v.Maintenance.Spec.Power == v1alpha1.PowerOff, "a maintenance allows nothing but its own power")
	}
	switch g.e.Op {
	case lifecycle.OpDeleteFailed:
		g.deletion(i)
	case lifecycle.OpRebuild:
		g.rebuild(i)
	default:
		g.must(g.v.Server.Spec.PowerOff != v1alpha1.PowerOffNever, "power-off is allowed")
		g.must(g.e.Virtual.Expect.Power == provider.PowerOn, "it relies on power")
		if claim := g.liveClaim(); claim != nil && !maintained {
			off := i.Why == ledger.WhyClaimPower && claim.Spec.Power == v1alpha1.PowerOff
			restart := i.Why == ledger.WhyRestart && claim.Spec.RestartedAt != nil && claim.Spec.RestartedAt.After(g.led.Restarted)
			g.must(off || restart, "the live claim asked for it")
		}
	}
}

func (g *guard) dismantling() {
	g.must(!g.v.Server.DeletionTimestamp.IsZero(), "the object is being deleted")
	g.must(g.v.Server.Spec.MaintenanceRef == nil, "no maintenance has it")
	released := g.v.Server.Spec.ClaimRef != nil && g.led.Released != nil && g.led.Released.Claim == g.v.Server.Spec.ClaimRef.Identity
	g.must(g.liveClaim() == nil || released, "no live claim has it")
	if ref := g.v.Server.Spec.ClaimRef; ref != nil && !released {
		g.must(g.v.Claim != nil && !g.v.Claim.DeletionTimestamp.IsZero() && g.v.Server.Spec.ReclaimPolicy != v1alpha1.ReclaimRetain, "its claim was seen being deleted, and is not retained")
	}
}

// deletion of what never launched, as four memories say (I2).
func (g *guard) deletion(i *ledger.Intent) {
	vm := g.vm()
	g.must(i.Op == ledger.IntentRetry && g.e.Virtual.Expect.NeverLaunched, "announced as a retry, conditional on no launch")
	g.must(g.led.ProvisionedAt == nil && vm != nil && vm.LaunchedAt == nil && vm.State == "ERROR" && vm.Errored, "there is no trace of a launch")
	g.must(g.led.CreateAttempts == nil || g.led.CreateAttempts.Count <= g.v.Settings.CreateAttempts || g.v.Settings.CreateAttempts == 0, "within the budget")
}

func (g *guard) rebuild(i *ledger.Intent) {
	o := g.v.Server.Spec.OpenStack
	g.must(i.Op == ledger.IntentRebuild && i.Image == o.Image.String(), "announced, for this image")
	g.must(g.led.Image != nil && g.led.Image.Selector != o.Image.String(), "the selector was edited")
	g.must(g.e.Virtual.Expect.ImageID == g.led.Image.ID && g.vm() != nil && g.vm().ImageID == g.led.Image.ID, "the VM runs what it was built from")
	g.must(o.RebuildPolicy == v1alpha1.RebuildOnImageChange && g.v.Server.Spec.PowerOff != v1alpha1.PowerOffNever, "the spec allows it")
	if claim := g.liveClaim(); claim != nil {
		g.must(claim.Annotations[v1alpha1.AnnotationRebuildApproved] == o.Image.String(), "the claim's owner consents to this image")
	}
}

// creation: B184, I3, I8.
func (g *guard) creation() {
	g.must(g.led.ProviderID == "" && g.led.ProvisionedAt == nil, "no VM is remembered")
	g.must(g.led.ObjectUID == g.v.Server.UID && g.led.Identity != "", "memory is confirmed")
	g.must(g.v.Server.DeletionTimestamp.IsZero() || g.v.Server.Spec.ClaimRef != nil, "not being deleted, but under a claim")
	if g.v.Server.Spec.ClaimRef != nil {
		claim := g.liveClaim()
		g.must(claim != nil && claim.Annotations[ledger.KeyBound] == g.led.Identity, "its claim remembers it")
	}
	g.must(g.otherBound() == nil, "no other live claim is bound to it")
	for _, d := range g.v.Dependencies {
		g.must(!d.Missing && !d.Deleting && d.Guarded, "what it is made with is there and guarded")
	}
}

// liveClaim is the claim that has the server, where it is there, the right one, and stays.
func (g *guard) liveClaim() *v1alpha1.ServerClaim {
	ref, claim := g.v.Server.Spec.ClaimRef, g.v.Claim
	if ref == nil || claim == nil || !claim.DeletionTimestamp.IsZero() || claim.Annotations[ledger.KeyIdentity] != ref.Identity {
		return nil
	}
	return claim
}

func (g *guard) otherBound() *v1alpha1.ServerClaim {
	for _, c := range g.v.BoundClaims {
		if c.DeletionTimestamp.IsZero() && (g.v.Server.Spec.ClaimRef == nil || c.Name != g.v.Server.Spec.ClaimRef.Name) {
			return c
		}
	}
	return nil
}

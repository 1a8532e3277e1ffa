// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestDestructionIsGuarded: for any view, an effect that ends or overwrites a workload has all that the contract asks for, said here a
// second time and without looking at how Decide finds out.
func TestDestructionIsGuarded(t *testing.T) {
	effects := map[lifecycle.Op]int{}
	rapid.Check(t, func(rt *rapid.T) {
		v := anyScene(rt).View()
		d := metal.Decide(v)
		if d.Step.Kind != lifecycle.StepAct {
			return
		}
		e := *d.Step.Effect
		effects[e.Op]++
		led, err := ledger.ParseServer(v.Server.Annotations)
		if err != nil {
			rt.Fatalf("%s acts on a ledger that cannot be read", d.Step.Clause)
		}
		must := func(ok bool, what string) {
			rt.Helper()
			if !ok {
				rt.Fatalf("%s: %s although not: %s", d.Step.Clause, e.Op, what)
			}
		}
		must(!v.Server.Spec.Paused, "not paused")
		must(len(v.Twins) == 0 || led.Owner != v.Settings.ClusterID, "the only Server of this machine")
		must(v.BMC != nil && v.Server.Status.Observed != nil && v.Server.Status.Observed.Reachable, "the machine is seen")
		must(led.Identity != "" && led.Owner != "", "memory is there")
		if e.Op != lifecycle.OpWriteAssetTag { // a take-over stamps first
			must(led.Owner == v.Settings.ClusterID && led.ObjectUID == v.Server.UID, "memory is confirmed and ours")
			must(v.Settings.Epoch == "" || led.RestoreEpoch == v.Settings.Epoch, "resumed after a restore")
		}
		if e.Op.Destructive() {
			destructionIsGuarded(must, v, led, e)
		}
		if e.Op == lifecycle.OpSetBootOverride {
			bootIsGuarded(must, v, led)
		}
		switch e.Op {
		case lifecycle.OpInsertMedia:
			insertionIsGuarded(must, v, led, e)
		case lifecycle.OpEjectMedia:
			ejectionIsGuarded(must, v, led, d.Step)
		}
	})
	t.Logf("effects seen: %v", effects)
}

// destructionIsGuarded: P6, P13, I1, B024.
func destructionIsGuarded(must func(bool, string), v lifecycle.ServerView, led ledger.Server, e lifecycle.Effect) {
	must(led.Intent != nil && led.Intent.ID == e.Intent && led.Intent.Target == lt.SystemUUID || led.Intent != nil && v.Server.Spec.Redfish.SystemUUID == "", "the intent stands written, for this machine")
	must(v.Server.Spec.PowerOff != v1alpha1.PowerOffNever, "power-off is allowed")
	explained := led.PowerOn != nil && led.PowerOn.By != ledger.ByUnknown || v.Server.Spec.FoundRunning == v1alpha1.FoundRunningPowerOff || consentedOff(v)
	must(explained, "its being On is explained")
	must(otherBound(v) == nil, "no other live claim is bound to it")
	must(!ledger.IsStamp(v.Facts().AssetTag) || v.Facts().AssetTag != otherStampOf() || v.Server.Annotations[v1alpha1.AnnotationPowerOff] == otherStampOf(), "no stamp of somebody else's")
	if claim := liveClaim(v); claim != nil {
		asked := false
		switch led.Intent.Why {
		case ledger.WhyBootClaim:
			asked = led.Boot == nil && claim.Annotations[ledger.KeyBound] != lt.Identity
		case ledger.WhyClaimPower:
			asked = claim.Spec.Power == v1alpha1.PowerOff
		case ledger.WhyRestart:
			asked = claim.Spec.RestartedAt != nil && claim.Spec.RestartedAt.After(led.Restarted) && !led.Restarted.IsZero()
		case ledger.WhyConsent:
			asked = consentedOff(v)
		}
		maintained := v.Maintenance != nil && v.Maintenance.DeletionTimestamp.IsZero() && v.Maintenance.Spec.Power == v1alpha1.PowerOff
		must(asked || maintained, "the live claim, a maintenance in force or a person asked for it")
	}
}

// bootIsGuarded: I10.
func bootIsGuarded(must func(bool, string), v lifecycle.ServerView, led ledger.Server) {
	claim := liveClaim(v)
	must(claim != nil && claim.Annotations[ledger.KeyBound] == lt.Identity, "the claim remembers the machine")
	must(otherBound(v) == nil || led.Boot.Stage == ledger.StageBooted, "no other live claim is bound to it")
	must(v.Facts().PowerState == v1alpha1.ObservedOff, "the machine is Off")
	again := claim.Spec.Boot.When == v1alpha1.BootAlways || led.Boot.Again
	must(led.Boot != nil && led.Boot.Claim == lt.ClaimID && (led.Boot.Stage == ledger.StageBooting || again), "the boot for this claim is open")
	must(v.Facts().AssetTag != ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) || again, "the machine was not stamped for the claim before")
}

// insertionIsGuarded: I1, and memory before the effect (P3).
func insertionIsGuarded(must func(bool, string), v lifecycle.ServerView, led ledger.Server, e lifecycle.Effect) {
	claim := liveClaim(v)
	must(claim != nil && claim.Annotations[ledger.KeyBound] == lt.Identity, "the claim remembers the machine")
	must(claim.Spec.Boot.Method == v1alpha1.BootVirtualMedia && claim.Spec.Boot.Image == e.Image, "the claim asked for that image")
	must(led.Boot != nil && led.Boot.Claim == lt.ClaimID && led.Boot.Media == e.Image, "the image is remembered")
	must(otherBound(v) == nil || led.Boot.Stage == ledger.StageBooted, "no other live claim is bound to it")
	must(v.Facts().PowerState == v1alpha1.ObservedOff && e.Expect.Power == provider.PowerOff, "the machine is Off")
	override := v.Facts().BootOverride
	starting := led.Boot.Stage == ledger.StageStarting && override != nil && override.Enabled == string(provider.BootOnce) // not booted yet: docs/decisions/0151
	must(led.Boot.Stage == ledger.StageBooting || starting || claim.Spec.Boot.When == v1alpha1.BootAlways, "the boot for this claim is open")
}

// ejectionIsGuarded: nothing is pulled from under a machine that may be booting from it (B123), and only what was remembered.
func ejectionIsGuarded(must func(bool, string), v lifecycle.ServerView, led ledger.Server, step lifecycle.Step) {
	must(led.Boot != nil && step.Effect.Image != "" && led.Boot.Media == step.Effect.Image, "the image is remembered as ours")
	o := v.Facts()
	over := led.Boot.Stage == ledger.StageBooted && (o.BootProgress == "OSRunning" || !v.Now.Before(led.Boot.At.Add(v.Settings.BootDeadline)))
	must(o.PowerState == v1alpha1.ObservedOff || over, "the machine is Off, or has booted")
	must(string(step.Effect.Expect.Power) == string(o.PowerState), "the effect relies on the power that was seen")
	must(step.Record != nil, "the ejection is recorded")
}

func consented(v lifecycle.ServerView, annotation string) bool {
	return v.Server.Annotations[annotation] == lt.Identity
}

// consentedOff says that a person agrees to a power-off: of this server, or of the machine with the stamp that it bears.
func consentedOff(v lifecycle.ServerView) bool {
	stamp := v.Facts().AssetTag
	return consented(v, v1alpha1.AnnotationPowerOff) || ledger.IsStamp(stamp) && v.Server.Annotations[v1alpha1.AnnotationPowerOff] == stamp
}

func otherStampOf() string { return ledger.Stamp(lt.Identity, lt.ClusterID, "claim-db") }

// liveClaim is the claim that has the server, where it is there, the right one, and stays.
func liveClaim(v lifecycle.ServerView) *v1alpha1.ServerClaim {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || v.Claim == nil || !v.Claim.DeletionTimestamp.IsZero() || v.Claim.Annotations[ledger.KeyIdentity] != ref.Identity {
		return nil
	}
	return v.Claim
}

func otherBound(v lifecycle.ServerView) *v1alpha1.ServerClaim {
	for _, c := range v.BoundClaims {
		if c.DeletionTimestamp.IsZero() && (v.Server.Spec.ClaimRef == nil || c.Name != v.Server.Spec.ClaimRef.Name) {
			return c
		}
	}
	return nil
}

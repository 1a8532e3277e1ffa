// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

type decideCase struct {
	name   string // clause of "Binding", and the circumstance
	view   claim.View
	clause string
	kind   lifecycle.StepKind
	reason string // of the worst gate's kind: the first gate
	phase  v1alpha1.ClaimPhase
	on     string // server the patch goes to
	patch  *lifecycle.Patch
	event  string // told once the patch is written
}

func ref(uid string) *lifecycle.RefChange[v1alpha1.ClaimReference] {
	return &lifecycle.RefChange[v1alpha1.ClaimReference]{To: &v1alpha1.ClaimReference{Namespace: "team", Name: "web", Identity: "web-uid", UID: uid}}
}

func serverName(name string) *lifecycle.Patch { return &lifecycle.Patch{ServerName: &name} }

func bareClaim(c *v1alpha1.ServerClaim) { c.Finalizers, c.Annotations = nil, map[string]string{} }

func inDeletion(s *v1alpha1.Server) { s.DeletionTimestamp = &metav1.Time{Time: now} }

func other() *v1alpha1.ServerClaim {
	return tenant(func(c *v1alpha1.ServerClaim) {
		c.Name, c.UID, c.Annotations[ledger.KeyIdentity] = "db", "db-uid", "db-uid"
	})
}

// memoryCases: what comes before anything else.
func memoryCases() []decideCase {
	return []decideCase{
		{
			name: "Not ours: being deleted without our finalizer is settled",
			view: view(tenant(deleted, bareClaim)), clause: "Claim.NotOurs", kind: lifecycle.StepSettled,
		}, {
			name: "Ledger unreadable parks the claim",
			view: view(tenant(boundTo("two words"))), clause: "Claim.LedgerUnreadable", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonLedgerUnreadable, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Broken glass becomes an Event, and is whole again",
			view: view(tenant(func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationBreakGlass] = "ledger lost" })), clause: "Claim.GlassBroken",
			kind: lifecycle.StepPatch, reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending, event: "GlassBroken",
			patch: &lifecycle.Patch{Remove: []string{v1alpha1.AnnotationBreakGlass}},
		}, {
			name:   "Duplicate identity holds both claims",
			view:   with(view(tenant()), func(v *claim.View) { v.Twins = []types.NamespacedName{{Namespace: "copy", Name: "web"}} }),
			clause: "Claim.DuplicateIdentity", kind: lifecycle.StepHold, reason: v1alpha1.ReasonDuplicateIdentity, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Binding 1: finalizer and identity in one patch",
			view: view(tenant(bareClaim)), clause: "Claim.Remember", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending,
			patch: &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerClaim, Ledger: map[string]string{ledger.KeyIdentity: "web-uid"}},
		}, {
			name: "Binding 1: a restored claim that lost its ledger takes its identity back from its server (P11, I8)",
			view: view(tenant(restored, bareClaim, named("s1")), server("s1", heldBy(tenant(restored)))), clause: "Claim.Remember", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending,
			patch: &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerClaim, Ledger: map[string]string{ledger.KeyIdentity: "web-uid"}},
		}, {
			name: "Forgotten: a claim that lost its ledger and whose server has an earlier object of its name is nobody that is known (P10, I8)",
			view: view(tenant(restored, bareClaim, named("s1")), server("s1", heldBy(tenant()))), clause: "Claim.Forgotten", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonClaimRestored, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Forgotten: nor is one whose server is not there",
			view: view(tenant(bareClaim, named("s1"))), clause: "Claim.Forgotten", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonClaimRestored, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Forgotten: a person says that it never had a machine",
			view: view(tenant(restored, bareClaim, named("s1"), func(c *v1alpha1.ServerClaim) {
				c.Annotations = map[string]string{v1alpha1.AnnotationChooseAnew: "web-uid-2"}
			})), clause: "Claim.Remember", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending,
			patch: &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerClaim, Ledger: map[string]string{ledger.KeyIdentity: "web-uid-2"}},
		}, {
			name: "Binding 1: a restored claim keeps its identity (P11)",
			view: view(tenant(restored, func(c *v1alpha1.ServerClaim) { c.Finalizers = nil })), clause: "Claim.Remember", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending, patch: &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerClaim},
		},
	}
}

// chooseCases: a claim that no server bears and that is not bound.
func chooseCases() []decideCase {
	byName := func(c *v1alpha1.ServerClaim) { c.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: "s1"} }
	return []decideCase{
		{
			name: "Binding 2: chooses among fitting servers, least waste first",
			view: view(tenant(), server("s1", machine(hardware(64, "512Gi"))), server("s2")), clause: "Claim.Choose", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s2"),
		}, {
			name: "Binding 2: chooses the server it names",
			view: view(tenant(byName), server("s0"), server("s1")), clause: "Claim.Choose", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s1"),
		}, {
			name: "Binding 2: a named server that cannot be bound is waited for",
			view: view(tenant(byName), server("s1", heldBy(other()))), clause: "Claim.NamedUnfit", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonServerNotAvailable, phase: v1alpha1.ClaimPending,
		}, {
			name: "Binding 2: a named server that does not exist is said",
			view: view(tenant(byName), server("s0")), clause: "Claim.NoSuchServer", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonNoSuchServer, phase: v1alpha1.ClaimPending,
		}, {
			name: "Binding 2: no match waits for a change of servers",
			view: view(tenant(), server("s1", heldBy(other()))), clause: "Claim.NoMatch", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonNoMatch, phase: v1alpha1.ClaimPending,
		}, {
			name:   "Binding 2: a server whose claimRef bears this identity is the choice (B049)",
			view:   with(view(tenant(), server("s0")), func(v *claim.View) { v.Holders = []*v1alpha1.Server{server("s1", heldBy(tenant()))} }),
			clause: "Claim.Name", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s1"),
		}, {
			name: "Binding 2: of two servers that bear it, the one that it names",
			view: view(tenant(named("s2")), server("s1", heldBy(tenant())), server("s2", heldBy(tenant()))), clause: "Claim.Settled", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
		}, {
			name: "Binding 3: sets the claimRef that is nil (B046)",
			view: view(tenant(named("s1")), server("s1")), clause: "Claim.Bind", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: "s1", patch: &lifecycle.Patch{ClaimRef: ref("web-uid")},
		}, {
			name: "Binding 3: taken by another, clears serverName (B051)",
			view: view(tenant(named("s1")), server("s1", heldBy(other()))), clause: "Claim.ChooseAgain", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		}, {
			name: "Binding 3: R2, an intent is open on the chosen server",
			view: view(tenant(named("s1")), server("s1", intent(ledger.WhySpec, "", ""))), clause: "Claim.ChooseAgain", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		}, {
			name: "Binding 3: that others chose the server too is left to the compare-and-swap",
			view: with(view(tenant(named("s1")), server("s1")), func(v *claim.View) {
				v.Speakers.Chosen = map[string]types.NamespacedName{"s1": {Namespace: "team", Name: "db"}}
			}),
			clause: "Claim.Bind", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: "s1",
			patch: &lifecycle.Patch{ClaimRef: ref("web-uid")},
		}, {
			name: "Binding 3: another claim is bound to the machine (BoundElsewhere)",
			view: with(view(tenant(named("s1")), server("s1")), func(v *claim.View) {
				v.Speakers.Bound = map[string]types.NamespacedName{idOf("s1"): {Namespace: "team", Name: "db"}}
			}),
			clause: "Claim.ChooseAgain", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		}, {
			name: "Binding 3: a chosen server that is missing is not a reason to choose anew (P10, I8)",
			view: view(tenant(named("s1")), server("s2")), clause: "Claim.ChosenMissing", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonServerMissing, phase: v1alpha1.ClaimHeld,
		},
	}
}

// restoredCases: a claim that was restored, without `bound`, and that no server bears.
func restoredCases() []decideCase {
	consents := func(uid string) claimOption {
		return func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationChooseAnew] = uid }
	}
	byName := func(c *v1alpha1.ServerClaim) { c.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: "s1"} }
	held := func(name string, v claim.View) decideCase {
		return decideCase{
			name: name, view: v, clause: "Claim.Restored", kind: lifecycle.StepHold, reason: v1alpha1.ReasonClaimRestored, phase: v1alpha1.ClaimHeld,
		}
	}
	binds := decideCase{
		clause: "Claim.Bind", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: "s1",
		patch: &lifecycle.Patch{ClaimRef: ref("web-uid-2")},
	}
	chooses := decideCase{
		clause: "Claim.Choose", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s1"),
	}
	as := func(c decideCase, name string, v claim.View) decideCase {
		c.name, c.view = name, v
		return c
	}
	asked := tenant(restored, named("s1"), consents("web-uid-2"))
	return []decideCase{
		held("Restored: chooses no machine, it may have one (P10, I8)", view(tenant(restored), server("s1"))),
		held("Restored: is not bound to what it had chosen", view(tenant(restored, named("s1")), server("s1"))),
		held("Restored: does not choose again where what it had chosen was taken", view(tenant(restored, named("s1")), server("s1", heldBy(other())), server("s2"))),
		held("Restored: a consent that was restored with it names the object before", view(tenant(restored, consents("web-uid")), server("s1"))),
		as(chooses, "Restored: a person who knows that it never had a machine lets it choose", view(tenant(restored, consents("web-uid-2")), server("s1"))),
		as(binds, "Restored: the consent holds until it is bound", view(asked, server("s1"))),
		as(chooses, "Restored: a claim by the name of one server cannot have run elsewhere", view(tenant(restored, byName), server("s0"), server("s1"))),
		as(binds, "Restored: a claim by the name of one server binds it", view(tenant(restored, byName, named("s1")), server("s1"))),
		{
			name: "Restored: the server that bears it is its machine, whatever it was restored from",
			view: view(tenant(restored), server("s1", heldBy(tenant()))), clause: "Claim.Name", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s1"),
		}, {
			name: "Restored: the patch that writes bound takes the consent back",
			view: view(asked, server("s1", heldBy(asked), booting("web-uid", ledger.StageBooting))), clause: "Claim.WriteBound", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
			patch: &lifecycle.Patch{Ledger: map[string]string{ledger.KeyBound: idOf("s1")}, Remove: []string{v1alpha1.AnnotationChooseAnew}},
		},
	}
}

// togetherCases: a server bears the claim.
func togetherCases() []decideCase {
	c := tenant(named("s1"))
	again := tenant(named("s1"), restored)
	paused := func(s *v1alpha1.Server) { s.Spec.Paused = true }
	foreign := entries(ledger.Entries{}.Owner("cluster-b"))
	return []decideCase{
		{
			name: "Binding 3: a restored claim's UID is stamped anew",
			view: view(again, server("s1", heldBy(c))), clause: "Claim.StampUID", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: "s1", patch: &lifecycle.Patch{ClaimRef: ref("web-uid-2")},
		}, {
			name: "Binding 3: nothing is written to a paused server",
			view: view(again, server("s1", heldBy(c), paused)), clause: "Claim.ServerPaused", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonPaused, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Owner: nothing is written to another cluster's server",
			view: view(again, server("s1", heldBy(c), foreign)), clause: "Claim.ForeignOwner", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonForeignOwner, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Binding 4: waits for the server to say Booting",
			view: view(c, server("s1", heldBy(c))), clause: "Claim.Settled", kind: lifecycle.StepSettled, reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
		}, {
			name: "Binding 4: with user data, waits on live views: no watch tells when it can be read",
			view: func() claim.View {
				seeded := c.DeepCopy()
				seeded.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "seed"}
				return view(seeded, server("s1", heldBy(c)))
			}(), clause: "Claim.AwaitBoot", kind: lifecycle.StepWait, reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
		}, {
			name: "Binding 4: writes bound when the server says Booting",
			view: view(c, server("s1", heldBy(c), booting("web-uid", ledger.StageBooting))), clause: "Claim.WriteBound", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound, patch: &lifecycle.Patch{Ledger: map[string]string{ledger.KeyBound: idOf("s1")}},
		}, {
			name: "Memory is kept twice: bound that was lost is restored from boot",
			view: view(c, server("s1", heldBy(c), booting("web-uid", ledger.StageBooted))), clause: "Claim.WriteBound", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonPoweringOn, phase: v1alpha1.ClaimBound, patch: &lifecycle.Patch{Ledger: map[string]string{ledger.KeyBound: idOf("s1")}},
		}, {
			name: "Binding 4: a boot for another claim is none of this one's",
			view: view(c, server("s1", heldBy(c), booting("db-uid", ledger.StageBooted))), clause: "Claim.Settled", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
		}, {
			name: "Released beside claimRef (Retain): already released",
			view: view(c, server("s1", heldBy(c), released("web-uid"))), clause: "Claim.AlreadyReleased", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonAlreadyReleased, phase: v1alpha1.ClaimHeld,
		}, {
			name: "The server's memory cannot be read",
			view: view(c, server("s1", heldBy(c), entries(ledger.Entries{ledger.KeyBoot: "{"}))), clause: "Claim.ServerUnreadable", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonLedgerUnreadable, phase: v1alpha1.ClaimHeld,
		},
	}
}

// unpoweredCases: a claim that asks for no power waits for nothing but its own word, once the machine is as it asks.
func unpoweredCases() []decideCase {
	power := func(want v1alpha1.Power, options ...claimOption) *v1alpha1.ServerClaim {
		options = append(options, named("s1"), func(c *v1alpha1.ServerClaim) { c.Spec.Power = want })
		return tenant(options...)
	}
	seeded := func(c *v1alpha1.ServerClaim) {
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "seed"}
	}
	on := func(s *v1alpha1.Server) { s.Status.Observed.PowerState = v1alpha1.ObservedOn }
	off, keep := power(v1alpha1.PowerOff), power(v1alpha1.PowerKeep)
	bound := power(v1alpha1.PowerOff, boundTo(idOf("s1")))
	awaits := func(v *claim.View) { v.ServerAwaitsPower = true }
	settled := func(name string, v claim.View, reason string) decideCase {
		return decideCase{name: "Power not wanted: " + name, view: v, clause: "Claim.Settled", kind: lifecycle.StepSettled, reason: reason, phase: v1alpha1.ClaimBound}
	}
	return []decideCase{
		settled("its server waits for nothing else", with(view(off, server("s1", heldBy(off))), awaits), v1alpha1.ReasonPowerNotWanted),
		settled("its server has something to do yet", view(off, server("s1", heldBy(off))), v1alpha1.ReasonBooting),
		settled("with Keep the machine stays as it is", with(view(keep, server("s1", heldBy(keep), on)), awaits), v1alpha1.ReasonPowerNotWanted),
		settled("its user data is not looked at before", with(view(power(v1alpha1.PowerOff, seeded), server("s1", heldBy(off))), awaits), v1alpha1.ReasonPowerNotWanted),
		settled("Off again before it booted, or restored from then (B001)",
			with(view(bound, server("s1", heldBy(bound), booting("web-uid", ledger.StageBooting))), awaits), v1alpha1.ReasonPowerNotWanted),
		settled("a hold outranks it", with(view(bound, server("s1", heldBy(bound), booting("web-uid", ledger.StageBooting))), holds(v1alpha1.ReasonBootNotConfirmed)), v1alpha1.ReasonBootNotConfirmed),
		settled("Off again after it booted", view(bound, server("s1", heldBy(bound), booting("web-uid", ledger.StageBooted))), v1alpha1.ReasonBound),
	}
}

// boundCases: a claim that may have booted.
func boundCases() []decideCase {
	c := tenant(named("s1"), boundTo(idOf("s1")))
	noIdentity := entries(ledger.Entries{ledger.KeyIdentity: ""})
	return []decideCase{
		{
			name:   "Bound and at rest: settled",
			view:   view(c, server("s1", heldBy(c), booting("web-uid", ledger.StageBooted), func(s *v1alpha1.Server) { s.Status.Observed.PowerState = v1alpha1.ObservedOn })),
			clause: "Claim.Settled", kind: lifecycle.StepSettled, reason: v1alpha1.ReasonBound, phase: v1alpha1.ClaimBound,
		}, {
			name: "Bound: the server with a nil claimRef is bound again, though not Available",
			view: view(c, server("s1", func(s *v1alpha1.Server) { s.Status.Observed = nil })), clause: "Claim.Bound.BindAgain", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: "s1", patch: &lifecycle.Patch{ClaimRef: ref("web-uid")},
		}, {
			name: "Bound: the claim names its server again first",
			view: view(tenant(boundTo(idOf("s1"))), server("s1")), clause: "Claim.Bound.Name", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName("s1"),
		}, {
			name: "Bound: never while an intent is open (R2)",
			view: view(c, server("s1", intent(ledger.WhyReleased, "web-uid", "web-uid"))), clause: "Claim.Bound.IntentOpen", kind: lifecycle.StepWait,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending,
		}, {
			name: "Bound: not to a server that is being deleted",
			view: view(c, server("s1", inDeletion)), clause: "Claim.Bound.ServerDeleting", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonServerMissing, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: released from this claim already",
			view: view(c, server("s1", released("web-uid"))), clause: "Claim.AlreadyReleased", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonAlreadyReleased, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: no server of that identity, waits and chooses nothing else (I8)",
			view: view(c, server("s2")), clause: "Claim.Bound.ServerMissing", kind: lifecycle.StepHold, reason: v1alpha1.ReasonServerMissing, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: another machine under the server's name",
			view: view(c, server("s1", entries(ledger.Entries{}.Identity("other-id")))), clause: "Claim.Bound.ServerReplaced", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonServerReplaced, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: a server recreated from Git has no memory yet",
			view: view(c, server("s1", noIdentity)), clause: "Claim.Bound.ServerInitial", kind: lifecycle.StepWait,
			reason: v1alpha1.ReasonInitializing, phase: v1alpha1.ClaimPending,
		}, {
			name: "Bound: the server belongs to another claim",
			view: view(c, server("s1", heldBy(other()))), clause: "Claim.Bound.ServerTaken", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonServerTaken, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: two servers of that identity",
			view: view(c, server("s1", heldBy(c)), server("s2", entries(ledger.Entries{}.Identity(idOf("s1"))))), clause: "Claim.Bound.ServerDuplicate", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonDuplicateIdentity, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound: the server's memory cannot be read",
			view: view(c, server("s1", heldBy(c), entries(ledger.Entries{ledger.KeyBoot: "{"}))), clause: "Claim.Bound.ServerUnreadable", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonLedgerUnreadable, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Bound wins over another server that bears the claim after a restore",
			view: view(c, server("s0", heldBy(c)), server("s1", heldBy(c), booting("web-uid", ledger.StageBooting))), clause: "Claim.Settled", kind: lifecycle.StepSettled,
			reason: v1alpha1.ReasonBooting, phase: v1alpha1.ClaimBound,
		},
	}
}

func cases() []decideCase {
	var all []decideCase
	for _, group := range [][]decideCase{memoryCases(), chooseCases(), restoredCases(), togetherCases(), unpoweredCases(), boundCases(), releaseCases(), classCases(), withVMCases(), dissolveCases()} {
		all = append(all, group...)
	}
	return all
}

func TestDecide(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			d := claim.Decide(c.view)
			if d.Step.Clause != c.clause || d.Step.Kind != c.kind {
				t.Fatalf("step %s %s (%s), want %s %s", d.Step.Kind, d.Step.Clause, d.Step.Message, c.kind, c.clause)
			}
			if d.Phase != c.phase || d.OnServer != c.on {
				t.Errorf("phase %q on server %q, want %q on %q", d.Phase, d.OnServer, c.phase, c.on)
			}
			if diff := cmp.Diff(c.patch, d.Step.Patch); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if d.Step.Event != c.event {
				t.Errorf("event %q, want %q", d.Step.Event, c.event)
			}
			if reason := firstReason(d); reason != c.reason {
				t.Errorf("first gate %q, want %q", reason, c.reason)
			}
		})
	}
}

func firstReason(d claim.Decision) string {
	if len(d.Gates) == 0 {
		return ""
	}
	return d.Gates[0].Reason
}

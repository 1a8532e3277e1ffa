// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B001, B002, B003, B006, B014: BMC, server and claim are lost and restored without status, with new UIDs, in every order: zero power
// calls, and all is as it was.
func TestAllRestoredWithoutStatus(t *testing.T) {
	t.Parallel()
	const bmc, server, claim = 0, 1, 2
	for name, order := range map[string][]int{
		"servers first":      {bmc, server, claim},
		"claims first":       {claim, server, bmc},
		"server without BMC": {server, claim, bmc},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "restore")
			machine := k.Enroll()
			web := k.Booted(machine.Name)
			objects := []client.Object{k.BMCObject(machine.Name), k.Server(machine.Name), web}
			backups := make([]client.Object, len(objects))
			for i, object := range objects {
				backups[i] = harness.Backup(k, object)
			}
			identity, uid := backups[server].GetAnnotations()[ledger.KeyIdentity], objects[server].GetUID()
			mark := k.Mark()
			for _, object := range objects {
				k.Destroy(object)
			}
			for _, i := range order {
				k.Restore(backups[i])
			}
			restored := k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
			k.UntilReady(web)
			k.ExpectUntouched(mark, machine)
			if restored.UID == uid || restored.Annotations[ledger.KeyIdentity] != identity {
				t.Errorf("UID %s (was %s), identity %s (was %s)", restored.UID, uid, restored.Annotations[ledger.KeyIdentity], identity)
			}
			if restored = harness.Read(k, restored); restored.Spec.ClaimRef.UID != string(web.UID) {
				t.Errorf("claimRef has the UID %s, the claim %s", restored.Spec.ClaimRef.UID, web.UID)
			}
			after := k.Mark()
			k.Delete(web)
			k.UntilGone(web)
			k.ExpectResets(k.Since(after, machine), "GracefulShutdown")
		})
	}
}

// P10: one of the two is lost and comes back later: meanwhile the other holds, and says for what.
func TestOneOfTheTwoIsMissingForAWhile(t *testing.T) {
	t.Parallel()
	t.Run("the claim", func(t *testing.T) {
		t.Parallel()
		k := suite.Kit(t, "noclaim")
		machine := k.Enroll()
		web := k.Booted(machine.Name)
		backup := harness.Backup(k, web)
		mark := k.Mark()
		k.Destroy(web)
		k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonClaimMissing, "restore", "clear spec.claimRef")
		// A claim of the same name made from Git is another one: it has no memory of the machine.
		k.Claim(machine.Name, func(c *v1alpha1.ServerClaim) { c.Name = web.Name })
		k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonClaimMismatch, "restore the right one")
		k.ExpectUntouched(mark, machine)
		k.Destroy(web)
		k.Restore(backup)
		k.UntilReady(web)
		k.ExpectUntouched(mark, machine)
	})
	t.Run("the server", func(t *testing.T) {
		t.Parallel()
		k := suite.Kit(t, "noserver")
		machine := k.Enroll()
		web := k.Booted(machine.Name)
		bmc := harness.Backup(k, k.BMCObject(machine.Name))
		mark := k.Mark()
		k.Destroy(k.BMCObject(machine.Name))
		k.Destroy(k.Server(machine.Name))
		k.UntilHeld(web, v1alpha1.ReasonServerMissing, "restore", "delete the claim")
		k.Restore(bmc)
		rack := k.BMCObject(machine.Name)
		k.UntilHeld(rack, v1alpha1.ReasonServerMissing, "restore the Servers")
		k.Annotate(rack, v1alpha1.AnnotationEnrollAnew, string(rack.UID)) // there is none to restore
		k.UntilReady(web)                                                 // on a Server that remembers nothing
		k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
		k.ExpectUntouched(mark, machine)
	})
}

// P10: a BMC is restored before its Server, as tools do that restore by the alphabet. No Server is made in the place of the one that is
// still to come: a retained machine would be given to the next claim, and its disk with it.
func TestABMCRestoredBeforeItsServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "bmcfirst")
	machine := k.Enroll(func(e *harness.Enrollment) { e.BMC.Spec.ServerTemplate.ReclaimPolicy = v1alpha1.ReclaimRetain })
	web := k.Booted(machine.Name)
	k.Delete(web)
	k.UntilGone(web)
	k.UntilPhase(machine.Name, v1alpha1.PhaseReleased)
	bmc, server := harness.Backup(k, k.BMCObject(machine.Name)), harness.Backup(k, k.Server(machine.Name))
	mark := k.Mark()
	next := k.Claim(machine.Name)
	k.Destroy(k.BMCObject(machine.Name))
	k.Destroy(k.Server(machine.Name))
	k.Restore(bmc)
	rack := k.BMCObject(machine.Name)
	k.UntilHeld(rack, v1alpha1.ReasonServerMissing, machine.Name, v1alpha1.AnnotationEnrollAnew+"=")
	k.Restore(server)
	k.UntilReady(rack)
	k.UntilPhase(machine.Name, v1alpha1.PhaseReleased)
	k.ExpectUntouched(mark, machine)
	if at := harness.Read(k, rack).Annotations[ledger.KeyObjectUID]; at != string(rack.UID) {
		t.Errorf("the BMC remembers the object %q, want %q", at, rack.UID)
	}
	// From here on it is as it was: a Server that a person deletes is made anew.
	k.Delete(next)
	k.UntilGone(next)
	k.Annotate(k.Server(machine.Name), v1alpha1.AnnotationAbandon, machine.Name)
	k.Delete(k.Server(machine.Name))
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
}

// B003, I9, I10: a server restored from before its claim is bound to it again, for the claim remembers; where the claim is lost too,
// the machine is somebody's: held, explained, and let go by a person.
func TestAServerFromBeforeItsClaim(t *testing.T) {
	t.Parallel()
	t.Run("the claim remembers", func(t *testing.T) {
		t.Parallel()
		k := suite.Kit(t, "before")
		machine := k.Enroll()
		older := harness.Backup(k, k.Server(machine.Name))
		bmc := harness.Backup(k, k.BMCObject(machine.Name))
		web := k.Booted(machine.Name)
		mark := k.Mark()
		k.Destroy(k.BMCObject(machine.Name))
		k.Destroy(k.Server(machine.Name))
		k.Restore(older)
		k.Restore(bmc)
		k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
		k.UntilReady(web)
		k.ExpectUntouched(mark, machine)
	})
	t.Run("nobody remembers", func(t *testing.T) {
		t.Parallel()
		k := suite.Kit(t, "nobody")
		machine := k.Enroll()
		older := harness.Backup(k, k.Server(machine.Name))
		bmc := harness.Backup(k, k.BMCObject(machine.Name))
		web := k.Booted(machine.Name)
		mark := k.Mark()
		k.Destroy(k.BMCObject(machine.Name))
		k.Destroy(k.Server(machine.Name))
		k.Destroy(web)
		k.Restore(older)
		k.Restore(bmc)
		server := k.Server(machine.Name)
		k.UntilHeld(server, v1alpha1.ReasonStampMismatch, "Restore the newer objects", v1alpha1.AnnotationPowerOff+"=")
		other := k.Claim(machine.Name)
		k.ExpectUntouched(mark, machine)
		if server = harness.Read(k, server); server.Spec.ClaimRef != nil {
			t.Error("a machine that is somebody's was given to another claim")
		}
		k.Annotate(server, v1alpha1.AnnotationPowerOff, server.Annotations[ledger.KeyIdentity]) // says nothing of the stamp
		k.ExpectUntouched(mark, machine)
		k.Annotate(server, v1alpha1.AnnotationPowerOff, server.Status.Observed.AssetTag)
		k.UntilReady(other)
		k.ExpectResets(k.Since(mark, machine), "GracefulShutdown", "On")
	})
}

// P10, I8: a claim by selector and its server are both restored from before their binding. The claim gets no second machine in the place
// of the one that runs for it, which nobody remembers, until the newer copy is restored.
func TestAClaimAndItsServerFromBeforeTheirBinding(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "older")
	machine := k.Enroll()
	olderServer, bmc := harness.Backup(k, k.Server(machine.Name)), harness.Backup(k, k.BMCObject(machine.Name))
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.Unschedulable = true })
	web := waiting(k)
	olderClaim := harness.Backup(k, web)
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.Unschedulable = false })
	k.UntilReady(web)
	k.UntilQuiet(machine.Name)
	newer, spare := harness.Backup(k, web), k.Enroll()
	mark := k.Mark()
	for _, object := range []client.Object{k.BMCObject(machine.Name), k.Server(machine.Name), web} {
		k.Destroy(object)
	}
	for _, backup := range []client.Object{olderServer, bmc, olderClaim} {
		k.Restore(backup)
	}
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonStampMismatch, "Restore the newer objects")
	k.UntilHeld(web, v1alpha1.ReasonClaimRestored, "restore the newer copy", "delete it", v1alpha1.AnnotationChooseAnew+"="+string(harness.Read(k, web).UID))
	k.ExpectUntouched(mark, machine, spare)
	if free := k.Server(spare.Name); harness.Read(k, free).Spec.ClaimRef != nil {
		t.Errorf("the claim got a second machine: %+v", free.Spec.ClaimRef)
	}
	k.Destroy(web)
	k.Restore(newer)
	k.UntilReady(web)
	k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
	k.ExpectUntouched(mark, machine, spare)
}

// P10: nothing tells such a claim from one that never had a machine. A person who knows lets it choose, once: a copy of the consent is none.
func TestAClaimThatWaitedIsRestored(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "waited")
	web := waiting(k)
	older := harness.Backup(k, web)
	machine := k.Enroll(func(e *harness.Enrollment) {
		e.BMC.Spec.ServerTemplate.Taints = []v1alpha1.Taint{{Key: "new", Effect: v1alpha1.TaintNoBind}}
	})
	again := func(backup client.Object) string {
		k.Destroy(web)
		k.Restore(backup)
		k.UntilHeld(web, v1alpha1.ReasonClaimRestored, v1alpha1.AnnotationChooseAnew+"=")
		return string(harness.Read(k, web).UID)
	}
	k.Annotate(web, v1alpha1.AnnotationChooseAnew, again(older))
	k.UntilCondition(web, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
	k.Annotate(web, v1alpha1.AnnotationChooseAnew, again(harness.Backup(k, web)))
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.Taints = nil })
	k.UntilReady(web)
	if web = harness.Read(k, web); web.Spec.ServerName != machine.Name || web.Annotations[v1alpha1.AnnotationChooseAnew] != "" {
		t.Errorf("server %q, consent %q", web.Spec.ServerName, web.Annotations[v1alpha1.AnnotationChooseAnew])
	}
}

// waiting is a claim by selector for which no server of its test is free.
func waiting(k *harness.Kit) *v1alpha1.ServerClaim {
	k.T.Helper()
	claim := k.Claim("", labelled(k))
	k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
	return claim
}

// B157: two objects for one machine both hold, and neither touches it.
func TestTwoServersOfOneIdentityHold(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "twins")
	machine := k.Enroll()
	web := k.Booted(machine.Name)
	twin := harness.Backup(k, k.Server(machine.Name))
	twin.Name += "-copy"
	mark := k.Mark()
	k.Restore(twin)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonDuplicateIdentity, twin.Name, "delete")
	k.UntilHeld(k.Server(twin.Name), v1alpha1.ReasonDuplicateIdentity, machine.Name, "delete")
	k.ExpectUntouched(mark, machine)
	k.Destroy(k.Server(twin.Name))
	k.UntilReady(web)
	k.ExpectUntouched(mark, machine)
	if machine.Power() != sim.PowerOn {
		t.Errorf("power %s", machine.Power())
	}
}

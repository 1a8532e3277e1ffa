// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B001, B002, B003, B006: a whole life while all statuses are wiped over and over: the machine is asked for what a life asks for,
// and nothing more. Nothing here waits for a status: there is none for long.
func TestALifeWithoutStatus(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "nostatus")
	machine := k.Enroll()
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "web"}}
	server := k.Server(machine.Name)
	// Nothing that rests on Off is done before Off was seen for an effect deadline (B018): a picture that is wiped more often than that
	// stops the life, and harms nobody; so does one that is written more often than a pass takes.
	objects := []client.Object{server, claim, k.BMCObject(machine.Name)}
	stop, stopWhole := k.Wiping(harness.Report, 700*time.Millisecond, objects...), k.Wiping(harness.Whole, 3*harness.EffectDeadline, objects...)

	mark := k.Mark()
	k.Claim(machine.Name, func(c *v1alpha1.ServerClaim) { c.Name = claim.Name })
	k.UntilRunning(machine)
	k.Until("remembered as booted", remembers(k, server, ledger.KeyBoot, "Booted"))
	expectOneInstall(k, mark, machine)

	off := k.Mark()
	machine.PowerOffByTenant()
	k.Until("on again", func(context.Context) error {
		if resets := k.Since(off, machine).Resets; len(resets) == 0 || machine.Power() != sim.PowerOn {
			return fmt.Errorf("resets %v, power %s", resets, machine.Power())
		}
		return nil
	})
	k.UntilRunning(machine)
	maintained := k.Mark()
	maintenance := k.Maintain(machine.Name, power(v1alpha1.PowerOff))
	k.Until("off for the maintenance", func(context.Context) error { return is(machine, sim.PowerOff) })
	k.Delete(maintenance)
	k.UntilGone(maintenance)
	k.Until("on after the maintenance", func(context.Context) error { return is(machine, sim.PowerOn) })
	k.UntilRunning(machine) // a system that is not up yet hears no shutdown, and is rightly asked again
	k.ExpectResets(k.Since(maintained, machine), "GracefulShutdown", "On")
	released := k.Mark()
	k.Delete(claim)
	k.UntilGone(claim)
	k.ExpectResets(k.Since(released, machine), "GracefulShutdown")

	wiped, whole := stop(), stopWhole()
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	f := k.Since(mark, machine)
	k.ExpectResets(f, "On", "On", "GracefulShutdown", "On", "GracefulShutdown")
	if len(f.Installs) != 1 || f.Armings() != 1 {
		t.Errorf("%d installs, %d armings", len(f.Installs), f.Armings())
	}
	t.Logf("%d reports and %d whole statuses wiped in one life: resets %v, 1 install", wiped, whole, f.Resets)
}

func is(machine *harness.Machine, want sim.PowerState) error {
	if power := machine.Power(); power != want {
		return fmt.Errorf("the machine is %s", power)
	}
	return nil
}

// remembers: an entry of the object's ledger contains a text.
func remembers(k *harness.Kit, object client.Object, key, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if value := object.GetAnnotations()[key]; !strings.Contains(value, text) || (text == "" && value == "") {
			return fmt.Errorf("%s is %q", key, value)
		}
		return nil
	}
}

// I5: the status of a settled server replaced by any older copy of itself, own part and observed part, leads to nothing.
func TestAnOlderStatusLeadsToNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "older")
	machine := k.Enroll()
	free := k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable).DeepCopy()
	claim := k.Booted(machine.Name)
	bound := k.UntilQuiet(machine.Name).DeepCopy()
	boundClaim := harness.Read(k, claim).DeepCopy()

	mark := k.Mark()
	k.ReplaceStatus(free)
	k.UntilQuiet(machine.Name)
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)

	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	mark = k.Mark()
	k.ReplaceStatus(bound)
	k.ExpectUntouched(mark, machine)
	server := k.UntilPower(machine, v1alpha1.ObservedOff)
	if server.Spec.ClaimRef != nil {
		t.Error("an older status bound the server")
	}
	second := k.Booted(machine.Name)
	boundClaim.Name = second.Name
	mark = k.Mark()
	k.WipeStatus(second)
	k.ReplaceStatus(boundClaim)
	k.ExpectUntouched(mark, machine)
	k.UntilReady(second)
}

// I9: a ledger that is gone, of the server, of the claim, or of both: the machine is not touched. What one lost the other
// gives back; where both lost it, the stamp is left, and a person is asked.
func TestALostLedgerTouchesNothing(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(k *harness.Kit, server *v1alpha1.Server, claim *v1alpha1.ServerClaim){
		"the server's": func(k *harness.Kit, server *v1alpha1.Server, _ *v1alpha1.ServerClaim) { k.DropLedger(server) },
		"the claim's":  func(k *harness.Kit, _ *v1alpha1.Server, claim *v1alpha1.ServerClaim) { k.DropLedger(claim) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "ledger")
			machine := k.Enroll()
			claim := k.Booted(machine.Name)
			identity := harness.Read(k, k.Server(machine.Name)).Annotations[ledger.KeyIdentity]
			mark := k.Mark()
			lose(k, k.Server(machine.Name), claim)
			k.UntilEventAny("GlassBroken", k.Server(machine.Name), claim)
			k.Until("the server remembers", remembers(k, k.Server(machine.Name), ledger.KeyBoot, "Booted"))
			k.Until("the claim remembers", remembers(k, claim, ledger.KeyBound, identity))
			k.ExpectUntouched(mark, machine)
			k.UntilReady(claim)
			k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
		})
	}
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		k := suite.Kit(t, "ledgers")
		machine := k.Enroll()
		claim := k.Booted(machine.Name)
		server := k.Server(machine.Name)
		mark := k.Mark()
		k.DropLedger(claim)
		k.DropLedger(server)
		k.ExpectUntouched(mark, machine)
		if k.Since(mark, machine).Armings() != 0 || machine.Power() != sim.PowerOn {
			t.Error("the machine was not left alone")
		}
	})
}

// An entry that cannot be read parks the object, names the entry, and is mended by a person. Deletion of a free server goes all the same.
func TestAnUnreadableLedgerParks(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "unreadable")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	server := k.Server(machine.Name)
	good := harness.Read(k, server).Annotations[ledger.KeyBoot]
	mark := k.Mark()
	k.BreakLedger(server, map[string]any{ledger.KeyBoot: "{not json"})
	k.UntilHeld(server, v1alpha1.ReasonLedgerUnreadable, ledger.KeyBoot, v1alpha1.AnnotationBreakGlass)
	k.UntilHeld(claim, v1alpha1.ReasonLedgerUnreadable)
	k.ExpectUntouched(mark, machine)
	k.BreakLedger(server, map[string]any{ledger.KeyBoot: good})
	k.UntilReady(claim)
	k.ExpectUntouched(mark, machine)

	free := k.Enroll()
	k.BreakLedger(k.Server(free.Name), map[string]any{ledger.KeyDiscoveredAt: "yesterday"})
	k.UntilHeld(k.Server(free.Name), v1alpha1.ReasonLedgerUnreadable, ledger.KeyDiscoveredAt)
	object := k.Server(free.Name)
	k.Delete(object)
	k.UntilGone(object)
}

// A server of another cluster is observed only, until a person names the old owner; then it is stamped anew, and goes on.
func TestAForeignServerIsTakenOverByConsent(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "foreign")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	server := k.Server(machine.Name)
	ours := harness.Read(k, server).Annotations[ledger.KeyOwner]
	identity := server.Annotations[ledger.KeyIdentity]
	mark := k.Mark()
	k.BreakLedger(server, map[string]any{ledger.KeyOwner: "old-cluster"})
	k.UntilHeld(server, v1alpha1.ReasonForeignOwner, "old-cluster", v1alpha1.AnnotationTakeOver+"=old-cluster")
	k.UntilHeld(claim, v1alpha1.ReasonForeignOwner)
	k.Annotate(server, v1alpha1.AnnotationTakeOver, "somebody-else")
	k.ExpectUntouched(mark, machine)
	k.Annotate(server, v1alpha1.AnnotationTakeOver, "old-cluster")
	k.Until("ours again", remembers(k, server, ledger.KeyOwner, ours))
	k.UntilReady(claim)
	k.UntilEvent(server, "TakenOver", "old-cluster")
	k.ExpectResets(k.Since(mark, machine))
	if want := ledger.Stamp(identity, ours, claim.Annotations[ledger.KeyIdentity]); machine.Status().AssetTag != want {
		t.Errorf("stamp %q, want %q", machine.Status().AssetTag, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B061, B070: all is deleted at once, credentials first. Each waits for its users and says so; the BMC is still spoken to for the
// release, and at last everything is gone. B059: after that nothing touches the BMC.
func TestDeletingAllAtOnceEndsInOrder(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "allatonce")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: machine.Name}}
	bmc, server := k.BMCObject(machine.Name), k.Server(machine.Name)
	machine.BMC.Behave(func(b *sim.Behaviour) { b.IgnoreShutdown = true }) // long enough to be seen waiting
	for _, object := range []client.Object{secret, bmc, server, claim} {
		k.Delete(object)
	}
	inUse := k.UntilCondition(bmc, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInUse)
	if !strings.Contains(inUse.Message, machine.Name) {
		t.Errorf("the BMC does not name its users: %s", inUse.Message)
	}
	for _, object := range []client.Object{claim, server, bmc, secret} {
		k.UntilGone(object)
	}
	if machine.Power() != sim.PowerOff {
		t.Errorf("all is gone and the machine is %s", machine.Power())
	}
	k.Until("the BMC has no session of ours", func(context.Context) error {
		if open := machine.BMC.AuthStats().Sessions; open != 0 {
			return errors.New("still logged in")
		}
		return nil
	})
	mark := k.Mark()
	other := k.Enroll() // a life's first chapter elsewhere is time enough
	k.Watched(mark, other)
	if f := k.Since(mark, machine); f.Requests != 0 {
		t.Errorf("%d requests to a BMC whose object is gone", f.Requests)
	}
}

// A server with a claim waits for the claim's release; one in maintenance for the maintenance's end (B001); it names whom it waits for
// (B058). Its power stays as it is.
func TestAServerInUseWaits(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "inuse")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	server := k.Server(machine.Name)
	k.Delete(server)
	waits := k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInUse)
	if !strings.Contains(waits.Message, claim.Name) {
		t.Errorf("the server does not say whom it waits for: %s", waits.Message)
	}
	mark := k.Mark()
	k.WipeStatus(server)
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilGone(server)

	maintained := k.Enroll()
	maintenance := k.Maintain(maintained.Name, power(v1alpha1.PowerOn))
	k.UntilPower(maintained, v1alpha1.ObservedOn)
	server = k.Server(maintained.Name)
	k.Delete(server)
	k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, "")
	mark = k.Mark()
	k.WipeStatus(server)
	k.ExpectUntouched(mark, maintained)
	harness.Read(k, server)
	k.Delete(maintenance)
	k.UntilGone(maintenance)
	k.UntilGone(server)
	if maintained.Power() != sim.PowerOn {
		t.Errorf("the deletion of the object switched the machine %s", maintained.Power())
	}
}

// B061: with the BMC gone for good, abandon lets the server go, and an event says what was left behind.
func TestAbandonLetsAServerGoWithoutItsBMC(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "abandon")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	if err := machine.BMC.SetReach(sim.ReachRefused); err != nil {
		t.Fatal(err)
	}
	server := k.Server(machine.Name)
	k.Delete(claim)
	k.Delete(server)
	k.UntilHeld(server, v1alpha1.ReasonReleaseUnconfirmed, v1alpha1.AnnotationAbandon+"="+machine.Name)
	k.Annotate(server, v1alpha1.AnnotationAbandon, machine.Name)
	k.UntilGone(server)
	k.UntilGone(claim)
	k.UntilEvent(server, "Abandoned", "keeps running")
}

// B056: paused takes the hands off in the same pass, also where deletion follows at once; the deletion waits.
func TestPausedIsHandsOff(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "paused")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	server := k.Server(machine.Name)
	mark := k.Mark()
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Paused = true })
	k.Delete(server)
	k.Delete(claim)
	k.UntilHeld(server, v1alpha1.ReasonPaused, "spec.paused")
	k.ExpectUntouched(mark, machine)
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Paused = false })
	k.UntilGone(claim)
	k.UntilGone(server)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
}

// B068: a finalizer of somebody else survives ours, and holds the object.
func TestAForeignFinalizerSurvives(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "finalizer")
	machine := k.Enroll()
	server := k.Server(machine.Name)
	const foreign = "example.com/audit"
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Finalizers = append(s.Finalizers, foreign) })
	k.Delete(server)
	k.Until("our finalizer is gone, the other one is there", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if len(server.Finalizers) != 1 || server.Finalizers[0] != foreign {
			return errors.New(strings.Join(server.Finalizers, ","))
		}
		return nil
	})
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Finalizers = nil })
	k.UntilGone(server)
}

// B062: an endpoint that means nothing does not stop a deletion.
func TestABMCThatNeverAnsweredCanBeDeleted(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "nothing")
	machine := k.Register(func(e *harness.Enrollment) { e.BMC.Spec.Endpoint = "https://no-such-host.invalid" })
	bmc := k.BMCObject(machine.Name)
	k.UntilCondition(bmc, v1alpha1.ConditionReady, metav1.ConditionFalse, "")
	k.Delete(bmc)
	k.UntilGone(bmc)
}

// B045: another secret for the same BMC is no change of the machine: nothing is touched, and the old secret is let go.
func TestAnotherSecretIsNoChangeOfTheMachine(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "another")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	old := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: machine.Name}}
	harness.Read(k, client.Object(old))
	next := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: machine.Name + "-next"}, Type: old.Type, Data: old.Data}
	k.Create(next)
	mark := k.Mark()
	harness.Change(k, k.BMCObject(machine.Name), func(b *v1alpha1.BMC) { b.Spec.CredentialsSecretRef.Name = next.Name })
	k.Until("the new secret is guarded", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(next), next); err != nil {
			return err
		}
		if len(next.Finalizers) == 0 {
			return errors.New("no finalizer")
		}
		return nil
	})
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
	k.Delete(old)
	k.UntilGone(old)
}

// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

const (
	// What is waited for is asked for at once, and then ever more seldom, down to ten times a second: many tests wait at a time, and each
	// question costs the API server what a write of the operator does.
	pollFirst, pollLast = 20 * time.Millisecond, 100 * time.Millisecond
	// patience is far above what a fact takes, so that a loaded machine fails no test; a test that passes never waits for it.
	patience = 3 * time.Minute
)

// Until polls until check returns nil, and ends the test with its last error when it has not within the kit's patience.
func (k *Kit) Until(what string, check func(context.Context) error) {
	k.T.Helper()
	var last error
	err := poll(k.T.Context(), k.Patience, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		k.T.Fatalf("%s: not within %s: %v", what, k.Patience, last)
	}
}

func poll(ctx context.Context, patience time.Duration, check wait.ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pace := wait.Backoff{Duration: pollFirst, Factor: 1.3, Cap: pollLast, Steps: math.MaxInt}
	return pace.DelayFunc().Until(ctx, true, true, check)
}

// Conditioned is an object of a kind of Holdfast.
type Conditioned interface {
	client.Object
	StatusConditions() *[]metav1.Condition
}

// UntilCondition waits until a condition of the object is as given; reason "" for any. It returns the condition.
func (k *Kit) UntilCondition(object Conditioned, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	k.T.Helper()
	var found metav1.Condition
	k.Until(fmt.Sprintf("%T %s: %s=%s %s", object, object.GetName(), kind, status, reason), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(*object.StatusConditions(), kind)
		if condition == nil {
			return errors.New("no such condition")
		}
		if condition.Status != status || (reason != "" && condition.Reason != reason) {
			return fmt.Errorf("%s=%s %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message)
		}
		found = *condition
		return nil
	})
	return found
}

// UntilReady waits until an object says that it is ready, for the spec as it is.
func (k *Kit) UntilReady(object Conditioned) {
	k.T.Helper()
	k.Until(fmt.Sprintf("%T %s ready", object, object.GetName()), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		return ready(object)
	})
	k.expectKstatus(object, kstatus.CurrentStatus) // B222
}

// expectKstatus checks what tools that know nothing of Holdfast make of an object.
func (k *Kit) expectKstatus(object Conditioned, want kstatus.Status) {
	k.T.Helper()
	if object.GetDeletionTimestamp() != nil {
		return // Terminating, whatever else it says
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		k.T.Fatal(err)
	}
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		k.T.Fatal(err)
	}
	if result.Status != want {
		k.T.Errorf("kstatus of %T %s is %s (%s), want %s", object, object.GetName(), result.Status, result.Message, want)
	}
}

func ready(object Conditioned) error {
	condition := meta.FindStatusCondition(*object.StatusConditions(), v1alpha1.ConditionReady)
	switch {
	case condition == nil:
		return errors.New("no condition Ready")
	case condition.ObservedGeneration != object.GetGeneration():
		return fmt.Errorf("condition Ready is of generation %d, not %d", condition.ObservedGeneration, object.GetGeneration())
	case condition.Status != metav1.ConditionTrue:
		return fmt.Errorf("condition Ready=%s %s: %s", condition.Status, condition.Reason, condition.Message)
	}
	return nil
}

// UntilHeld waits until an object is stalled for a reason and checks that its message tells a person something to do: that it contains
// every one of the hints. It returns the message.
func (k *Kit) UntilHeld(object Conditioned, reason string, hints ...string) string {
	k.T.Helper()
	var condition metav1.Condition
	k.Until(fmt.Sprintf("%T %s stalled for %s, as it is now", object, object.GetName(), reason), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		found := meta.FindStatusCondition(*object.StatusConditions(), v1alpha1.ConditionStalled)
		if found == nil || found.Status != metav1.ConditionTrue || found.Reason != reason || found.ObservedGeneration != object.GetGeneration() {
			return fmt.Errorf("generation %d, Stalled %+v", object.GetGeneration(), found)
		}
		condition = *found
		return nil
	})
	k.expectKstatus(object, kstatus.FailedStatus) // B221
	for _, hint := range hints {
		if !strings.Contains(condition.Message, hint) {
			k.T.Errorf("%s: the message does not say %q: %s", reason, hint, condition.Message)
		}
	}
	return condition.Message
}

// UntilPhase waits until a server shows a phase, for the spec as it is, and is ready in it where servers get ready in it.
func (k *Kit) UntilPhase(server string, phase v1alpha1.ServerPhase) *v1alpha1.Server {
	k.T.Helper()
	restful := []v1alpha1.ServerPhase{v1alpha1.PhaseAvailable, v1alpha1.PhaseReserved, v1alpha1.PhaseReleased}
	object := k.Server(server)
	k.Until(fmt.Sprintf("server %s in phase %s", server, phase), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if object.Status.Phase != phase {
			return fmt.Errorf("phase %q", object.Status.Phase)
		}
		if slices.Contains(restful, phase) {
			return ready(object)
		}
		return nil
	})
	return object
}

// UntilRunning waits until the machine runs the operating system on its disk.
func (k *Kit) UntilRunning(m *Machine) {
	k.T.Helper()
	k.Until("machine "+m.Name+" runs", func(context.Context) error {
		if s := m.Status(); s.Progress != "OSRunning" || s.Running != s.Disk {
			return fmt.Errorf("power %s, progress %s, running %q of disk %q", s.Power, s.Progress, s.Running, s.Disk)
		}
		return nil
	})
}

// UntilRestartRecorded waits until the ledger says that the restart that was asked for by that time was carried out.
func (k *Kit) UntilRestartRecorded(server string, asked time.Time) *v1alpha1.Server {
	k.T.Helper()
	o := k.Server(server)
	k.Until(server+" restarted", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, keyOf(o), o); err != nil {
			return err
		}
		led, err := ledger.ParseServer(o.Annotations)
		if err == nil && !led.Restarted.Equal(asked) {
			err = fmt.Errorf("restarted %s, want %s", led.Restarted, asked)
		}
		return err
	})
	return o
}

// UntilQuiet waits until a machine is up and everything about its server has come to rest: the boot is over, its override used or gone.
func (k *Kit) UntilQuiet(server string) *v1alpha1.Server {
	k.T.Helper()
	if machine := k.machine(server); machine != nil {
		k.UntilRunning(machine)
	}
	object := k.Server(server)
	k.Until("server "+server+" at rest", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		observed := object.Status.Observed
		if observed == nil || observed.BootProgress != "OSRunning" {
			return errors.New("the operating system was not seen running")
		}
		return ready(object)
	})
	return object
}

// UntilPower waits until the machine itself is in a power state, and the picture of it says so.
func (k *Kit) UntilPower(m *Machine, state v1alpha1.ObservedPower) *v1alpha1.Server {
	k.T.Helper()
	object := k.Server(m.Name)
	k.Until(fmt.Sprintf("machine %s %s", m.Name, state), func(ctx context.Context) error {
		if power := m.Power(); string(power) != string(state) {
			return fmt.Errorf("the machine is %s", power)
		}
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if object.Status.Observed == nil || object.Status.Observed.PowerState != state {
			return errors.New("its picture says otherwise")
		}
		return nil
	})
	return object
}

// UntilGone waits until an object does not exist any more. Another one of its name is another one: the Server of a BMC that stays is
// made anew.
func (k *Kit) UntilGone(object client.Object) {
	k.T.Helper()
	uid := object.GetUID()
	k.Until(fmt.Sprintf("%T %s gone", object, object.GetName()), func(ctx context.Context) error {
		err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		case uid != "" && object.GetUID() != uid:
			return nil
		}
		return fmt.Errorf("there, with finalizers %v", object.GetFinalizers())
	})
}

func (k *Kit) machine(server string) *Machine {
	for _, m := range k.machines {
		if m.Name == server {
			return m
		}
	}
	return nil
}

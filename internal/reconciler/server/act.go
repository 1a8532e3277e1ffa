// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// act asks the provider for the step's effect, then writes what came of it: its record, or the task that it became. It is reached only
// with a decision made on a live view (P4).
func (r *Reconciler) act(ctx context.Context, read view.ServerRead, decision lifecycle.Decision) (ctrl.Result, error) {
	step := decision.Step
	now := r.Clock.Now()
	wait, refusal := r.efforts.wait(read.Server, step, now)
	if owed := r.efforts.unrecorded(read.Server, step); owed != nil {
		if late := recordOf(read.Server, step, *owed, now); late != nil { // not written then, as where the monitor's picture came in between
			return r.record(ctx, read, step, *late, *owed)
		}
	}
	if wait > 0 {
		return r.report(ctx, read, decision, min(wait, step.After), refusals(refusal)...) // asked for a moment ago (R5)
	}
	left := r.Settings.EffectDeadline - now.Sub(read.View.Now)
	if left <= 0 {
		return ctrl.Result{RequeueAfter: pass.Again}, nil // decided too long ago
	}
	outcome, err := r.perform(ctx, read, step, left)
	if err != nil {
		return r.refused(ctx, read, decision, err)
	}
	tell(ctx, decision)
	if !outcome.Unchanged {
		r.event(read, step)
	}
	record := recordOf(read.Server, step, outcome, now)
	pace := r.pace(step)
	if step.Record == nil || outcome.Task != "" {
		r.efforts.succeeded(read.Server, step, now, pace)
	}
	if record == nil {
		return ctrl.Result{RequeueAfter: min(pace, step.After)}, nil
	}
	return r.record(ctx, read, step, *record, outcome)
}

// resting is how long an effect that was asked for a moment ago is not asked for again (R5), where it has left nothing to be recorded, and
// how it was refused then. Such a pass ends with a report and needs no live read: nothing is done on it.
func (r *Reconciler) resting(object *v1alpha1.Server, step lifecycle.Step, now time.Time) (time.Duration, *lifecycle.Gate) {
	if step.Kind != lifecycle.StepAct {
		return 0, nil
	}
	wait, refusal := r.efforts.wait(object, step, now)
	if r.efforts.unrecorded(object, step) != nil {
		return 0, nil
	}
	return wait, refusal
}

// record ends a pass with what came of an effect. One that is not written, because it lost a race or the API server did not take it, is
// made by a later pass, however late, of what became a task, which is not to be begun twice (B144), and of what was done at a cloud, for a VM
// is not to be looked for twice, nor an operating system asked twice in a row. Other effects at a BMC can be asked for again until then.
func (r *Reconciler) record(ctx context.Context, read view.ServerRead, step lifecycle.Step, record lifecycle.Patch, outcome provider.Outcome) (ctrl.Result, error) {
	written, result, err := r.patch(ctx, read, record)
	switch {
	case step.Effect.Virtual == nil && outcome.Task == "" && step.Effect.Op != lifecycle.OpShutDown:
	case written != pass.Done:
		r.efforts.owes(read.Server, step, r.Clock.Now(), r.pace(step), outcome)
	case outcome.Task != "":
		r.efforts.recorded(read.Server.Name)
	default:
		r.efforts.forget(read.Server.Name) // asked for again, it is another effort: what was made once is not what will be made then
	}
	return result, err
}

// patch ends a pass with a write of the server. One that lost a race is decided about again.
func (r *Reconciler) patch(ctx context.Context, read view.ServerRead, p lifecycle.Patch) (pass.Written, ctrl.Result, error) {
	written, err := pass.Write(ctx, r.Client, read.Server, p)
	if written == pass.Lost && err == nil {
		return written, ctrl.Result{RequeueAfter: pass.Again}, nil
	}
	return written, ctrl.Result{}, err
}

// pace is how long an effect that was accepted is given to show before it is asked for again (R5).
func (r *Reconciler) pace(step lifecycle.Step) time.Duration {
	return max(step.Pace, r.Settings.EffectDeadline)
}

// recordOf is what is to be remembered of an effect: what the decision said, with what only the effect could tell.
func recordOf(object *v1alpha1.Server, step lifecycle.Step, outcome provider.Outcome, now time.Time) *lifecycle.Patch {
	switch {
	case outcome.Task != "": // recorded when it is asked for again and found done; until then an intent remembers the task (B144)
		return metal.TaskRecord(object, *step.Effect, outcome.Task, now)
	case step.Effect.Virtual != nil:
		return virtual.Recorded(object, step, outcome.Made)
	default:
		return step.Record
	}
}

// perform makes the one call. Its context ends with the pass, with leadership, and with the effect's deadline. That counts from when the pass
// began to read: nothing that rests on a memory arrives later than one deadline after that memory was changed (the rest after each Off).
func (r *Reconciler) perform(ctx context.Context, read view.ServerRead, step lifecycle.Step, left time.Duration) (provider.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if atCloud := step.Effect.Virtual; atCloud != nil {
		return r.performAtCloud(ctx, read, step.Effect.Op, *atCloud)
	}
	actor, err := r.Actors.Actor(ctx, read.View.BMC)
	if err != nil {
		return provider.Outcome{}, err
	}
	return call(ctx, actor, *step.Effect)
}

// call is the one place where an effect becomes a call of a provider.
func call(ctx context.Context, actor provider.Actor, e lifecycle.Effect) (provider.Outcome, error) {
	switch e.Op {
	case lifecycle.OpPowerOn:
		return actor.PowerOn(ctx, e.System, e.Expect)
	case lifecycle.OpShutDown:
		return actor.ShutDown(ctx, e.System, e.Expect)
	case lifecycle.OpForceOff:
		return actor.ForceOff(ctx, e.System, e.Expect)
	case lifecycle.OpConfirmOff:
		return provider.Outcome{}, actor.ConfirmOff(ctx, e.System, e.Expect)
	case lifecycle.OpConfirmOn:
		return provider.Outcome{}, actor.ConfirmOn(ctx, e.System, e.Expect)
	case lifecycle.OpSetBootOverride:
		return actor.SetBootOverride(ctx, e.System, e.Override, e.Expect)
	case lifecycle.OpClearBootOverride:
		return actor.ClearBootOverride(ctx, e.System, e.Expect)
	case lifecycle.OpInsertMedia:
		return actor.InsertMedia(ctx, e.System, e.Image, e.Expect)
	case lifecycle.OpEjectMedia:
		return actor.EjectMedia(ctx, e.System, e.Image, e.Expect)
	case lifecycle.OpWriteAssetTag:
		return actor.WriteAssetTag(ctx, e.System, e.AssetTag, e.Expect)
	case lifecycle.OpSetIndicator:
		return actor.SetIndicator(ctx, e.System, e.Indicator, e.Expect)
	default:
		return provider.Outcome{}, fmt.Errorf("effect %q is unknown", e.Op)
	}
}

// refused is the one place where an error's class becomes patience, severity and a condition (P12).
func (r *Reconciler) refused(ctx context.Context, read view.ServerRead, decision lifecycle.Decision, err error) (ctrl.Result, error) {
	var e *provider.Error
	if !errors.As(err, &e) {
		if ctx.Err() != nil {
			return ctrl.Result{}, ctx.Err() // leadership or the pass ended: nobody to report to
		}
		return ctrl.Result{}, err // the API server's, or a bug: the queue's own back-off
	}
	log.FromContext(ctx).Info("effect refused", "step", decision.Step.Clause, "class", e.Class, "reason", e.Reason, "message", e.Message)
	gate := gateOf(e, decision.Step)
	after := r.retry(read, decision.Step, e, gate)
	if record := recordOfRefusal(decision.Step, e); record != nil {
		_, result, err := r.patch(ctx, read, *record)
		return result, err
	}
	return r.report(ctx, read, decision, min(after, decision.Step.After), gate)
}

// recordOfRefusal is what is to be remembered of an effect that failed; nil for nothing.
func recordOfRefusal(step lifecycle.Step, e *provider.Error) *lifecycle.Patch {
	switch {
	case e.Class == provider.Terminal && step.Refused != nil:
		return step.Refused
	case e.Tried, e.Reason == provider.ReasonResetTypeMissing:
		return step.Tried
	}
	return nil
}

// retry notes the refusal and says when the same effect may be asked for again.
func (r *Reconciler) retry(read view.ServerRead, step lifecycle.Step, e *provider.Error, gate lifecycle.Gate) time.Duration {
	if e.Class == provider.Busy && e.After > 0 {
		return r.efforts.asked(read.Server, step, r.Clock.Now(), e.After, gate)
	}
	return r.efforts.failed(read.Server, step, r.Clock.Now(), patienceWith(e, r.Settings), gate)
}

func refusals(last *lifecycle.Gate) []lifecycle.Gate {
	if last == nil {
		return nil
	}
	return []lifecycle.Gate{*last}
}

// patienceWith is how long the same effect is not asked for again.
func patienceWith(e *provider.Error, settings lifecycle.Settings) patience {
	soon := patience{time.Second, longestSilence * settings.EffectDeadline}
	if e.Reason == provider.ReasonCredentialsInvalid {
		return soon // refused credentials are shown to nobody again while the provider's own pause lasts (B165, B171)
	}
	switch e.Class {
	case provider.Busy:
		return patience{max(e.After, time.Second), longestPatience}
	case provider.Denied, provider.Terminal, provider.NotFound:
		return patience{settings.Backstop, longestPatience}
	default: // no answer; or a mismatch: nothing was done, and the next picture says what is
		return soon
	}
}

func gateOf(e *provider.Error, step lifecycle.Step) lifecycle.Gate {
	gate := lifecycle.Gate{Level: lifecycle.Progressing, Reason: reasonOf(e), Message: fmt.Sprintf("%s: %s: %s", step.Effect.Op, e.Reason, e.Message)}
	switch e.Class {
	case provider.Denied, provider.Terminal, provider.NotFound:
		gate.Level = lifecycle.Stalled
		if ways := lifecycle.WaysOut(gate.Reason); len(ways) > 0 {
			gate.Message += ". Ways out: " + strings.Join(ways, "; or ")
		}
	}
	return gate
}

// reasonOf gives a refusal a reason of its own where a person has to do something about it that is particular to it. A machine that
// cannot boot as its claim asks is never booted in another way instead; a VM that cannot be made as asked is not made otherwise.
func reasonOf(e *provider.Error) string {
	switch e.Reason {
	case provider.ReasonMediaMissing, provider.ReasonBootTargetMissing:
		return v1alpha1.ReasonBootMethodUnsupported
	case provider.ReasonMediaRefused:
		return v1alpha1.ReasonMediaRefused
	case provider.ReasonUserDataInvalid, provider.ReasonUserDataTooLarge:
		return v1alpha1.ReasonUserDataInvalid
	case provider.ReasonResourceMissing, provider.ReasonResourceAmbiguous, provider.ReasonQuotaExceeded, provider.ReasonCloudTooOld,
		provider.ReasonFoundExisting, provider.ReasonDuplicateVM:
		return e.Reason // conditions use the provider's own words here
	}
	return v1alpha1.ReasonEffectFailed
}

// event tells people what was done to the machine: kubectl describe reads as its story.
func (r *Reconciler) event(read view.ServerRead, step lifecycle.Step) {
	if step.Effect.Op.Confirms() {
		return
	}
	r.Recorder.Eventf(read.Server, nil, corev1.EventTypeNormal, string(step.Effect.Op), string(step.Effect.Op), "%s", step.Message)
}

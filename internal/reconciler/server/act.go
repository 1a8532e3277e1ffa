// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// act asks the provider for the step's effect, then writes what came of it: its record, or the task that it became. It is reached only
// with a decision made on a live view (P4).
func (r *Reconciler) act(ctx context.Context, read view.ServerRead, decision lifecycle.Decision) (ctrl.Result, error) {
	step := decision.Step
	now := r.Clock.Now()
	if wait, refusal := r.efforts.wait(read.Server, step, now); wait > 0 {
		if late := metal.TaskRecord(read.Server, *step.Effect, r.efforts.task(read.Server, step)); late != nil {
			return r.record(ctx, read, *late) // it lost a race, as against the picture that the monitor takes of every new intent
		}
		return r.report(ctx, read, decision, min(wait, step.After), refusals(refusal)...) // asked for a moment ago (R5)
	}
	outcome, err := r.perform(ctx, read, step)
	if err != nil {
		return r.refused(ctx, read, decision, err)
	}
	tell(ctx, decision)
	if !outcome.Unchanged {
		r.event(read, step)
	}
	record := step.Record
	if outcome.Task != "" { // recorded when it is asked for again and found done; until then an intent remembers the task (B144)
		record = metal.TaskRecord(read.Server, *step.Effect, outcome.Task)
	}
	pace := max(step.Pace, r.Settings.EffectDeadline)
	if step.Record == nil || outcome.Task != "" {
		r.efforts.succeeded(read.Server, step, now, pace, outcome.Task)
	}
	if record == nil {
		return ctrl.Result{RequeueAfter: min(pace, step.After)}, nil
	}
	return r.record(ctx, read, *record)
}

// record ends a pass with what came of an effect. One that lost a race is made by a later pass: every effect can be asked for again.
func (r *Reconciler) record(ctx context.Context, read view.ServerRead, record lifecycle.Patch) (ctrl.Result, error) {
	written, err := pass.Write(ctx, r.Client, read.Server, record)
	if written == pass.Lost && err == nil {
		return ctrl.Result{RequeueAfter: pass.Again}, nil
	}
	return ctrl.Result{}, err
}

// perform makes the one call. Its context ends with the pass, with leadership, and with its own deadline.
func (r *Reconciler) perform(ctx context.Context, read view.ServerRead, step lifecycle.Step) (provider.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Settings.EffectDeadline)
	defer cancel()
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
	if e.Class == provider.Terminal && decision.Step.Refused != nil {
		return r.record(ctx, read, *decision.Step.Refused)
	}
	gate := gateOf(e, decision.Step)
	after := r.efforts.failed(read.Server, decision.Step, r.Clock.Now(), patience(e, r.Settings), gate)
	return r.report(ctx, read, decision, min(after, decision.Step.After), gate)
}

func refusals(last *lifecycle.Gate) []lifecycle.Gate {
	if last == nil {
		return nil
	}
	return []lifecycle.Gate{*last}
}

// patience is the shortest time before the same effect may be asked for again.
func patience(e *provider.Error, settings lifecycle.Settings) time.Duration {
	switch e.Class {
	case provider.Busy:
		return max(e.After, time.Second)
	case provider.Mismatch:
		return time.Second // nothing was done; the next picture says what is
	case provider.Denied, provider.Terminal, provider.NotFound:
		return settings.Backstop
	default:
		return time.Second
	}
}

func gateOf(e *provider.Error, step lifecycle.Step) lifecycle.Gate {
	gate := lifecycle.Gate{Level: lifecycle.Progressing, Reason: reasonOf(e), Message: fmt.Sprintf("%s: %s: %s", step.Effect.Op, e.Reason, e.Message)}
	switch e.Class {
	case provider.Denied, provider.Terminal, provider.NotFound:
		gate.Level = lifecycle.Stalled
	}
	return gate
}

// reasonOf gives a refusal a reason of its own where a person has to do something about it that is particular to it. A machine that
// cannot boot as its claim asks is never booted in another way instead.
func reasonOf(e *provider.Error) string {
	switch e.Reason {
	case provider.ReasonMediaMissing, provider.ReasonBootTargetMissing:
		return v1alpha1.ReasonBootMethodUnsupported
	case provider.ReasonMediaRefused:
		return v1alpha1.ReasonMediaRefused
	}
	return v1alpha1.ReasonEffectFailed
}

// event tells people what was done to the machine: kubectl describe reads as its story.
func (r *Reconciler) event(read view.ServerRead, step lifecycle.Step) {
	if step.Effect.Op == lifecycle.OpConfirmOff {
		return
	}
	r.Recorder.Eventf(read.Server, nil, corev1.EventTypeNormal, string(step.Effect.Op), string(step.Effect.Op), "%s", step.Message)
}

// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// taskCases: what the task of a power-off tells, and what it does not. See situation.carriedOut for each kind of power-off.
func taskCases() []decided {
	const act, wait = lifecycle.StepAct, lifecycle.StepWait
	asked := given(bySpec, lt.On, lt.Announced(ledger.WhySpec, 1))
	over := given(bySpec, lt.On, lt.Announced(ledger.WhySpec, 6), lt.Asked(6))
	powered := func(want string) func(*testing.T, lifecycle.Decision) {
		return func(t *testing.T, d lifecycle.Decision) {
			t.Helper()
			for _, c := range d.Conditions {
				if c.Type == v1alpha1.ConditionPowerAsDesired && (c.Status != "False" || c.Reason != want) {
					t.Errorf("condition %+v, want False for %s", c, want)
				}
			}
		}
	}
	level := func(want lifecycle.Level) func(*testing.T, lifecycle.Decision) {
		return func(t *testing.T, d lifecycle.Decision) {
			t.Helper()
			if d.Gates[0].Level != want {
				t.Errorf("gate %+v, want %s", d.Gates[0], want)
			}
		}
	}
	otherTask := lt.Facts(func(o *v1alpha1.ServerObserved) { o.TaskMonitor = "/redfish/v1/TaskService/TaskMonitors/6" })
	otherIntent := lt.Facts(func(o *v1alpha1.ServerObserved) { o.Intent = "i-0" })
	failedBefore := lt.Ledger(func(l *ledger.Server) { l.Intent.Failed = true })
	failed, gone := lt.Tasked(provider.TaskFailed), lt.Tasked(provider.TaskGone)
	return []decided{
		{"Available.PowerOff.ShutDown", "a failed task is a condition, and what follows it may still help (B142)", given(asked, failed), act,
			and(powered(v1alpha1.ReasonTaskFailed), level(lifecycle.Progressing))},
		{"Available.PowerOff.ShutDown", "with the BMC's own word for why", given(asked, failed, lt.Facts(func(o *v1alpha1.ServerObserved) { o.TaskMessage = "the work failed (PSUFault)" })), act,
			and(reason(v1alpha1.ReasonTaskFailed), says("PSUFault"))},
		{"Available.PowerOff.ShutDown", "a task that vanished, and the machine is On", given(asked, gone), act, and(reason(v1alpha1.ReasonTaskGone), powered(v1alpha1.ReasonTaskGone))},
		{"Available.PowerOff.ShutDown", "a task that ended well is no Off: the operating system has its time (B037)", given(asked, lt.Tasked(provider.TaskDone)), act, reason(v1alpha1.ReasonPoweringOff)},
		{"Available.PowerOff.ShutDown", "the failure of an earlier task is none of this one (B067)", given(asked, failed, otherTask), act, and(reason(v1alpha1.ReasonPoweringOff), powered(v1alpha1.ReasonPoweringOff))},
		{"Available.PowerOff.ShutDown", "nor is that of another intent (B067)", given(asked, failed, otherIntent), act, reason(v1alpha1.ReasonPoweringOff)},
		{"Available.PowerOff.ShutDown", "a task that nobody has looked at: as without one (P1)", given(asked, failed, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Task, o.TaskMonitor = "", "" })), act, reason(v1alpha1.ReasonPoweringOff)},
		{"Available.PowerOff.Force", "a shutdown that failed says nothing of the cut (B067)", given(over, failed), act, and(reason(v1alpha1.ReasonPoweringOff), level(lifecycle.Progressing))},
		{"Available.PowerOff.Force", "a cut that failed is asked for again, and needs a person (B142)", given(over, failed, lt.Forced), act,
			and(does(lifecycle.OpForceOff), reason(v1alpha1.ReasonTaskFailed), level(lifecycle.Stalled))},
		{"Available.PowerOff.Force", "a cut whose task vanished is asked for again", given(over, gone, lt.Forced), act, and(reason(v1alpha1.ReasonTaskGone), level(lifecycle.Progressing))},
		{"Available.PowerOff.Force", "one cut after another that fails is one failure, and not told anew each time (P9)", given(over, lt.Tasked(provider.TaskRunning), lt.Forced, failedBefore), act,
			and(reason(v1alpha1.ReasonTaskFailed), level(lifecycle.Stalled))},
		{"Available.PowerOff.AwaitTask", "the same for a shutdown", given(asked, lt.Tasked(provider.TaskRunning), failedBefore), wait, reason(v1alpha1.ReasonTaskFailed)},
		{"Available.PowerOff.Force", "a cut that went well ends what was told", given(over, lt.Tasked(provider.TaskDone), lt.Forced, failedBefore), act, reason(v1alpha1.ReasonPoweringOff)},
		{"Available.PowerOff.Changing", "a machine that goes down does so whatever its task says", given(asked, failed, poweringOff), wait, reason(v1alpha1.ReasonPoweringOff)},
		{"Available.Off.RecordOff", "and one that is Off is Off", given(asked, lt.Off, failed), lifecycle.StepPatch, changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn})},
	}
}

// TestTaskRecord: the task joins the intent that was carried out, and nothing else is written (B144, P4).
func TestTaskRecord(t *testing.T) {
	announced := lt.New(bySpec, lt.On, lt.Announced(ledger.WhySpec, 1))
	intent := *announced.Ledger.Intent
	withTask := func(forced, failed bool) *ledger.Intent {
		i := intent
		i.Task, i.Forced, i.Failed = lt.TaskMonitor, forced, failed
		if !forced {
			i.Asked = lt.Now
		}
		return &i
	}
	earlier := withTask(false, false)
	earlier.Asked = lt.Before(1)
	untasked := intent
	untasked.Asked = lt.Now
	otherURI := func(s *lt.Scene) { s.Ledger.Intent.Task, s.Server.Status.Observed.TaskMonitor = "/6", "/6" }
	shutDown := lifecycle.Effect{Op: lifecycle.OpShutDown, Intent: intent.ID}
	cut := lifecycle.Effect{Op: lifecycle.OpForceOff, Intent: intent.ID}
	for name, c := range map[string]struct {
		given  lt.Override
		effect lifecycle.Effect
		uri    string
		want   *ledger.Intent
	}{
		"a shutdown":                       {nil, shutDown, lt.TaskMonitor, withTask(false, false)},
		"a cut":                            {nil, cut, lt.TaskMonitor, withTask(true, false)},
		"a cut after a shutdown's task":    {lt.Tasked(provider.TaskFailed), cut, lt.TaskMonitor, withTask(true, false)},
		"a shutdown after one that failed": {lt.All(lt.Tasked(provider.TaskFailed), otherURI), shutDown, lt.TaskMonitor, withTask(false, true)},
		"remembered already":               {lt.All(lt.Tasked(provider.TaskRunning), lt.Asked(1)), shutDown, lt.TaskMonitor, nil},
		"remembered without when":          {lt.Tasked(provider.TaskRunning), shutDown, lt.TaskMonitor, withTask(false, false)},
		"a shutdown asked for before":      {lt.Asked(1), shutDown, lt.TaskMonitor, earlier},
		"a shutdown's URI, too long":       {nil, shutDown, "/" + strings.Repeat("x", v1alpha1.MaxURLLength), &untasked},
		"no task":                          {nil, shutDown, "", nil},
		"an effect without an intent":      {nil, lifecycle.Effect{Op: lifecycle.OpPowerOn}, lt.TaskMonitor, nil},
		"another intent's effect":          {nil, lifecycle.Effect{Op: lifecycle.OpForceOff, Intent: "i-0"}, lt.TaskMonitor, nil},
		"an intent that is closed":         {lt.Ledger(func(l *ledger.Server) { l.Intent = nil }), cut, lt.TaskMonitor, nil},
		"a URI longer than can be told":    {nil, cut, "/" + strings.Repeat("x", v1alpha1.MaxURLLength), nil},
		"a ledger that cannot be read":     {lt.Garbled(ledger.KeyIntent, "{"), cut, lt.TaskMonitor, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := lt.View(bySpec, lt.On, lt.Announced(ledger.WhySpec, 1), c.given)
			var want *lifecycle.Patch
			if c.want != nil {
				want = &lifecycle.Patch{Ledger: ledger.Entries{}.Intent(c.want)}
			}
			if diff := cmp.Diff(want, metal.TaskRecord(v.Server, c.effect, c.uri, lt.Now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAShutdownIsAskedForThreeTimesAtMost: the pace of the request leaves room for no more within the grace period.
func TestAShutdownIsAskedForThreeTimesAtMost(t *testing.T) {
	d := metal.Decide(lt.View(bySpec, lt.On, lt.Announced(ledger.WhySpec, 1)))
	settings := lifecycle.DefaultSettings(lt.ClusterID)
	if requests := settings.GracePeriod / d.Step.Pace; requests > 3 || d.Step.Pace < settings.EffectDeadline {
		t.Errorf("every %s within %s", d.Step.Pace, settings.GracePeriod)
	}
	short := lt.Settings(func(s *lifecycle.Settings) { s.GracePeriod = s.EffectDeadline })
	if d := metal.Decide(lt.View(bySpec, lt.On, lt.Announced(ledger.WhySpec, 0), short)); d.Step.Pace != settings.EffectDeadline {
		t.Errorf("every %s, want one effect deadline at least", d.Step.Pace)
	}
}

// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// A BMC may take a power-off as a task, and answer before anything has come of it (B142). The task is remembered in the intent, so that
// any later process can follow it (B144); the monitor tells how it goes. It says why a machine is still On, and never that it is Off:
// that is the machine's own to say (docs/decisions/0024, 0075).

// TaskRecord is the patch that remembers the task which an announced power-off became, for the server as it was read before the effect,
// and that the operating system was asked. uri is provider.Outcome.Task. nil: there is nothing to remember, because no task, or no intent of
// that id, is there, or all of it is remembered already.
func TaskRecord(server *v1alpha1.Server, e lifecycle.Effect, uri string, now time.Time) *lifecycle.Patch {
	s := newState(lifecycle.NewServerView(server, now, lifecycle.Settings{}))
	open := s.Ledger.Intent
	if s.Unreadable != nil || open == nil || e.Intent == "" || open.ID != e.Intent || uri == "" {
		return nil
	}
	intent := *open
	if e.Op == lifecycle.OpShutDown && (s.asked().IsZero() || intent.InVain) {
		intent.Asked, intent.InVain = s.Now(), false
	}
	if v1alpha1.URL(uri) == uri { // not longer than an observation can tell
		intent.Task, intent.Forced = uri, e.Op == lifecycle.OpForceOff
		if intent.Task != open.Task || intent.Forced != open.Forced {
			intent.Failed = intent.Forced == open.Forced && s.taskFailed()
		}
	}
	if intent == *open {
		return nil
	}
	return &lifecycle.Patch{Ledger: ledger.Entries{}.Intent(&intent)}
}

// task is how the task of the open intent was last seen; "" where it has none, or nothing is known of it. What is told of another
// intent's task, or of an earlier one of this intent, is no news of this one (B067).
func (s *state) task() provider.TaskPhase {
	if !s.Pictured() || s.Ledger.Intent.Task == "" || s.Facts.TaskMonitor != s.Ledger.Intent.Task {
		return ""
	}
	return provider.TaskPhase(s.Facts.Task)
}

// shutDownRuns says that the BMC is still at the graceful shutdown it was asked for. Of an intent that stands from before it told when that
// was (docs/decisions/0163), a task that runs for ever would not: it is asked once more.
func (s *state) shutDownRuns() bool {
	return s.task() == provider.TaskRunning && !s.Ledger.Intent.Forced && (!s.asked().IsZero() || s.announcedFor() < s.V.Settings.GracePeriod)
}

func awaitTask(s *state) answer {
	return s.again(s.Wait(v1alpha1.ReasonPoweringOff, "the BMC took the shutdown as a task and is at it").Soon(s.graceLeft()))
}

// taskFailed says that the task of the open intent failed, or an earlier one and nothing better is known of this one yet: a BMC that
// fails each time must not be told to fail and to be at work in turn.
func (s *state) taskFailed() bool {
	switch s.task() {
	case provider.TaskFailed:
		return true
	case provider.TaskDone, provider.TaskGone:
		return false
	}
	return s.Ledger.Intent != nil && s.Ledger.Intent.Failed
}

// taskLost is why the task of the open intent brought nothing about, as a reason and a message; "" where it did, or may yet.
func (s *state) taskLost() (reason, message string) {
	switch {
	case s.taskFailed():
		why := ""
		if s.Pictured() && s.Facts.TaskMessage != "" {
			why = ": " + s.Facts.TaskMessage
		}
		return v1alpha1.ReasonTaskFailed, "the BMC took the power-off as a task, and the task failed" + why
	case s.task() == provider.TaskGone:
		return v1alpha1.ReasonTaskGone, "the BMC took the power-off as a task, knows nothing of it any more, and the machine is " + string(s.Facts.PowerState)
	}
	return "", ""
}

// again says in the gate of an effect why it is asked for again.
func (s *state) again(a answer) answer {
	if reason, message := s.taskLost(); reason != "" {
		a.Gate.Reason, a.Gate.Message = reason, message+": it is asked for again ("+a.Gate.Message+")"
	}
	return a
}

// cutAgain is again for a cut of power. Nothing comes after one, so a BMC that fails at it needs a person.
func (s *state) cutAgain(a answer) answer {
	if !s.Ledger.Intent.Forced {
		return a // what failed was the graceful shutdown before
	}
	if a = s.again(a); a.Gate.Reason == v1alpha1.ReasonTaskFailed {
		return a.Stalled()
	}
	return a
}

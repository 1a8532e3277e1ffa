// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	// taskGrace is how long a task that the BMC does not show is taken for one that it does not show yet (B147).
	taskGrace = 30 * time.Second
	// tasksKept bounds the memory of tasks asked about.
	tasksKept = 64
)

// taskSight is what is known of a task that was asked about. It serves the grace period alone.
type taskSight struct {
	uri   string
	first time.Time
	shown bool // the BMC knew it once, so that a 404 is the end of it
}

// ObserveTask implements provider.Observer. A relative URI is one of the service's; the host of an absolute one is never followed.
func (o observer) ObserveTask(ctx context.Context, uri string) (provider.TaskState, error) {
	return o.lookAtTask(ctx, o, uri)
}

func (b *BMC) lookAtTask(ctx context.Context, from reader, uri string) (provider.TaskState, error) {
	at := b.base.resolve(b.base.root(), uri)
	if at == "" {
		return provider.TaskState{Phase: provider.TaskGone}, nil
	}
	resp, err := from.read(ctx, request{method: http.MethodGet, path: at})
	if err != nil {
		return provider.TaskState{}, err
	}
	if resp.status == http.StatusSeeOther { // the work's result lies elsewhere (B145)
		result := b.base.resolve(at, resp.header.Get("Location"))
		if result == "" || !b.sameHost(resp.header.Get("Location")) {
			return b.sighted(at, provider.TaskState{Phase: provider.TaskDone}), nil
		}
		if resp, err = from.read(ctx, request{method: http.MethodGet, path: result}); err != nil {
			return provider.TaskState{}, err
		}
	}
	state, err := b.taskState(resp)
	switch {
	case err != nil:
		return provider.TaskState{}, err
	case state.Phase == provider.TaskGone && b.fresh(at):
		return provider.TaskState{Phase: provider.TaskRunning}, nil
	}
	return b.sighted(at, state), nil
}

// taskState reads the answer of a task monitor or of a task. A monitor says 202 while the work goes on and then gives the answer the
// request itself would have had, body or no body (B144); a task says 200 throughout and tells its state.
func (b *BMC) taskState(r *response) (provider.TaskState, error) {
	doc, noTask := parseDocument(r.body, "Task", &gaps{})
	told := cmp.Or(doc.text("TaskState"), doc.text("JobState"))
	switch {
	case r.status == http.StatusNotFound, r.status == http.StatusGone:
		return provider.TaskState{Phase: provider.TaskGone}, nil
	case r.ok() && noTask == nil && told != "":
		return toldState(r, doc, told, b.opts.Clock()), nil
	case r.status == http.StatusAccepted:
		return provider.TaskState{Phase: provider.TaskRunning, After: provider.RetryAfter(r.header.Get("Retry-After"), b.opts.Clock())}, nil
	case r.ok():
		return provider.TaskState{Phase: provider.TaskDone}, nil
	}
	err := b.answerError(r)
	if aboutTask(r, err) {
		return provider.TaskState{Phase: provider.TaskFailed, Message: taskMessage(parseMessages(r.body), "the work failed")}, nil
	}
	return provider.TaskState{}, err
}

// aboutTask says that a monitor's error is how the work ended, and not that the BMC cannot answer now.
func aboutTask(r *response, err *provider.Error) bool {
	switch {
	case err.Class == provider.Busy, err.Class == provider.Denied, r.status < 400:
		return false
	case r.status < 500:
		return r.status != http.StatusMethodNotAllowed && r.status != http.StatusRequestTimeout
	}
	return slices.ContainsFunc(parseMessages(r.body), func(m message) bool { return m.id != "" && m.id != "InternalError" && m.id != "GeneralError" })
}

// toldState reads the state a task, or a job of vendors that have those, tells of itself. A task that completed with a critical status failed (B148).
func toldState(r *response, doc document, told string, now time.Time) provider.TaskState {
	var messages []message
	for _, m := range doc.list("Messages") {
		messages = append(messages, toMessage(m.members))
	}
	switch schemas.TaskState(told) {
	case schemas.CompletedTaskState, "CompletedWithWarnings":
		status := cmp.Or(doc.text("TaskStatus"), doc.text("JobStatus"), doc.object("Status").text("Health"))
		if status == string(schemas.CriticalHealth) {
			return provider.TaskState{Phase: provider.TaskFailed, Message: taskMessage(messages, "the task completed with status Critical")}
		}
		return provider.TaskState{Phase: provider.TaskDone}
	case schemas.ExceptionTaskState, schemas.KilledTaskState, schemas.CancelledTaskState, "Failed", "CompletedWithErrors", "Invalid":
		return provider.TaskState{Phase: provider.TaskFailed, Message: taskMessage(messages, "the task ended in "+told)}
	}
	return provider.TaskState{Phase: provider.TaskRunning, After: provider.RetryAfter(r.header.Get("Retry-After"), now)}
}

// taskMessage adds the BMC's own reason to our words: its name alone, since texts may quote what was sent.
func taskMessage(messages []message, what string) string {
	for _, m := range slices.Backward(messages) {
		if m.id != "" && len(m.id) <= 64 {
			return what + " (" + m.id + ")"
		}
	}
	return what
}

// fresh says that a task that is not shown may be so new that the BMC does not show it yet.
func (b *BMC) fresh(uri string) bool {
	now := b.opts.Clock()
	k := &b.known
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.tasks {
		if t.uri == uri {
			return !t.shown && now.Sub(t.first) < taskGrace
		}
	}
	k.noteTask(taskSight{uri: uri, first: now})
	return true
}

// sighted keeps that the BMC has shown a task, and forgets one that has ended.
func (b *BMC) sighted(uri string, state provider.TaskState) provider.TaskState {
	k := &b.known
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks = slices.DeleteFunc(k.tasks, func(t taskSight) bool { return t.uri == uri })
	if state.Phase == provider.TaskRunning || state.Phase == provider.TaskGone {
		k.noteTask(taskSight{uri: uri, first: b.opts.Clock(), shown: true})
	}
	return state
}

// noteTask is called with the lock held.
func (k *knowledge) noteTask(t taskSight) {
	if len(k.tasks) >= tasksKept {
		k.tasks = slices.Delete(k.tasks, 0, 1)
	}
	k.tasks = append(k.tasks, t)
}

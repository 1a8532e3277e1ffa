// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const taskPath = "/redfish/v1/TaskService/TaskMonitors/7"

func task(t *testing.T, b *BMC, uri string) provider.TaskState {
	t.Helper()
	state, err := b.Observer().ObserveTask(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestTaskStates: a monitor's status, a task's state and its severity decide (B142, B144, B148).
func TestTaskStates(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		want   provider.TaskPhase
	}{
		"still 202, no body":               {http.StatusAccepted, "", provider.TaskRunning},
		"still 202, with the task":         {http.StatusAccepted, `{"TaskState":"Pending"}`, provider.TaskRunning},
		"202 although the task has failed": {http.StatusAccepted, `{"TaskState":"Exception"}`, provider.TaskFailed},
		"204":                              {http.StatusNoContent, "", provider.TaskDone},
		"200 with the result":              {http.StatusOK, `{"PowerState":"On"}`, provider.TaskDone},
		"200 with nothing":                 {http.StatusOK, "", provider.TaskDone},
		"completed":                        {http.StatusOK, `{"TaskState":"Completed","TaskStatus":"OK"}`, provider.TaskDone},
		"completed with a warning":         {http.StatusOK, `{"TaskState":"Completed","TaskStatus":"Warning"}`, provider.TaskDone},
		"completed, critical":              {http.StatusOK, `{"TaskState":"Completed","TaskStatus":"Critical"}`, provider.TaskFailed},
		"exception":                        {http.StatusOK, `{"TaskState":"Exception"}`, provider.TaskFailed},
		"killed":                           {http.StatusOK, `{"TaskState":"Killed"}`, provider.TaskFailed},
		"cancelled":                        {http.StatusOK, `{"TaskState":"Cancelled"}`, provider.TaskFailed},
		"suspended":                        {http.StatusOK, `{"TaskState":"Suspended"}`, provider.TaskRunning},
		"a word of its own":                {http.StatusOK, `{"TaskState":"Downloading"}`, provider.TaskRunning},
		"a job, scheduled":                 {http.StatusOK, `{"JobState":"Scheduled"}`, provider.TaskRunning},
		"a job, with errors":               {http.StatusOK, `{"JobState":"CompletedWithErrors"}`, provider.TaskFailed},
		"the work was refused":             {http.StatusBadRequest, redfishError("ActionNotSupported", ""), provider.TaskFailed},
		"the work failed":                  {http.StatusInternalServerError, redfishError("OperationFailed", ""), provider.TaskFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.answer("GET "+taskPath, row.status, row.body)
			got := task(t, f.connect(), taskPath)
			equal(t, "phase", row.want, got.Phase)
			equal(t, "tells why", row.want == provider.TaskFailed, got.Message != "")
		})
	}
}

// TestTaskNotTold: an answer about the BMC and not about the task is an error, and decides nothing.
func TestTaskNotTold(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		class  provider.Class
	}{
		"a server error":     {http.StatusInternalServerError, "", provider.Transient},
		"an internal error":  {http.StatusInternalServerError, redfishError("InternalError", ""), provider.Transient},
		"not now":            {http.StatusServiceUnavailable, "", provider.Busy},
		"too many requests":  {http.StatusTooManyRequests, "", provider.Busy},
		"not allowed":        {http.StatusForbidden, redfishError("InsufficientPrivilege", ""), provider.Denied},
		"a resource in use":  {http.StatusConflict, redfishError("ResourceInUse", ""), provider.Busy},
		"a proxy's redirect": {http.StatusFound, "", provider.Terminal},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.answer("GET "+taskPath, row.status, row.body)
			_, err := f.connect().Observer().ObserveTask(t.Context(), taskPath)
			equal(t, "class", row.class, provider.ClassOf(err))
		})
	}
}

// TestTaskURIs: absolute, relative to the service, with another host's name: the endpoint alone is asked.
func TestTaskURIs(t *testing.T) {
	for _, uri := range []string{taskPath, "TaskService/TaskMonitors/7", "https://elsewhere.example" + taskPath, taskPath + "/"} {
		f := newFake(t)
		f.docs[taskPath] = object{"TaskState": "Completed"}
		equal(t, uri, provider.TaskDone, task(t, f.connect(), uri).Phase)
	}
	equal(t, "no URI", provider.TaskGone, task(t, newFake(t).connect(), "").Phase)
}

// TestFreshTask: a task that is not shown yet is running for a while (B147); one that was shown and is no more is gone at once.
func TestFreshTask(t *testing.T) {
	f := newFake(t)
	now := noon()
	b := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } })
	equal(t, "not shown yet", provider.TaskRunning, task(t, b, taskPath).Phase)
	now = now.Add(taskGrace - time.Second)
	equal(t, "still not shown", provider.TaskRunning, task(t, b, taskPath).Phase)
	now = now.Add(time.Second)
	equal(t, "not shown for too long", provider.TaskGone, task(t, b, taskPath).Phase)

	const other = "/redfish/v1/TaskService/Tasks/8"
	equal(t, "another, not shown yet", provider.TaskRunning, task(t, b, other).Phase)
	f.docs[other] = object{"TaskState": "Running"}
	equal(t, "shown", provider.TaskRunning, task(t, b, other).Phase)
	delete(f.docs, other)
	equal(t, "shown and gone", provider.TaskGone, task(t, b, other).Phase)
	equal(t, "for who was not there", provider.TaskRunning, task(t, f.connect(), other).Phase)
	for n := range 3 * tasksKept {
		task(t, b, taskPath+strings.Repeat("x", n))
	}
	equal(t, "tasks remembered", tasksKept, len(b.known.tasks))
}

// TestTaskRedirect: a 303 is followed by GET, within the BMC alone, and nothing is posted (B145).
func TestTaskRedirect(t *testing.T) {
	for name, row := range map[string]struct {
		location string
		want     provider.TaskPhase
	}{
		"to the result":   {fakeSystemPath, provider.TaskDone},
		"to a task":       {"/redfish/v1/TaskService/Tasks/9", provider.TaskFailed},
		"to another host": {"https://elsewhere.example/x", provider.TaskDone},
		"to nowhere":      {"", provider.TaskDone},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.docs["/redfish/v1/TaskService/Tasks/9"] = object{"TaskState": "Exception", "Messages": []any{object{"MessageId": "Base.1.8.ResourceMissing", "Message": canary}}}
			f.handle("GET "+taskPath, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", row.location)
				w.WriteHeader(http.StatusSeeOther)
			})
			got := task(t, f.connect(), taskPath)
			equal(t, "phase", row.want, got.Phase)
			if row.want == provider.TaskFailed {
				equal(t, "message", "the task ended in Exception (ResourceMissing)", got.Message)
			}
			equal(t, "posts", 0, len(f.got(http.MethodPost)))
		})
	}
}

// TestTaskPatience: how long to wait is the BMC's to say.
func TestTaskPatience(t *testing.T) {
	f := newFake(t)
	f.handle("GET "+taskPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusAccepted)
	})
	equal(t, "after", 7*time.Second, task(t, f.connect(), taskPath).After)
}

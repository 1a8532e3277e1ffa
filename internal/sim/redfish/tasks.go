// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

const (
	taskPath    = root + "/TaskService/Tasks"
	monitorPath = root + "/TaskService/TaskMonitors"

	// tasksKept is how many tasks a BMC remembers.
	tasksKept = 32
)

// task is an operation a BMC answers with 202 and finishes later.
type task struct {
	id, name     string
	started, end time.Time
	done, failed bool
	due          *clock.Appointment
}

type tasks struct {
	list []*task
	seq  int
}

func (t *tasks) clear(r *Rack) {
	for _, item := range t.list {
		r.cancel(item.due)
	}
	t.list = nil
}

// startTask answers 202 and has run called when the task is done, unless tasks fail.
func (c *call) startTask(name string, run func(at time.Time)) *reply {
	b := c.bmc
	b.tasks.seq++
	t := &task{id: strconv.Itoa(b.tasks.seq), name: name, started: c.now()}
	t.due = c.rack.schedule(c.now().Add(b.behaviour.TaskDuration.Std()), func(at time.Time) {
		t.done, t.end, t.failed = true, at, b.behaviour.TaskFails
		if !t.failed {
			run(at)
		}
	})
	b.tasks.list = append(b.tasks.list, t)
	if extra := len(b.tasks.list) - tasksKept; extra > 0 {
		b.tasks.list = b.tasks.list[extra:]
	}
	return b.accepted(t)
}

// accepted is the answer that tells of a task that runs.
func (b *BMC) accepted(t *task) *reply {
	r := newReply(http.StatusAccepted, b.taskDoc(t))
	if b.behaviour.TaskBare {
		r.body = nil
	}
	switch monitor := monitorPath + "/" + t.id; b.behaviour.TaskLocation {
	case LocationPath:
		r.header.Set("Location", monitor)
	case LocationURL:
		r.header.Set("Location", "https://"+b.spec.Name+".bmc.invalid"+monitor)
	case LocationNone:
	}
	r.header.Set("Retry-After", "1")
	return r
}

// task finds a task that may be shown already.
func (c *call) task() *task {
	hidden := c.bmc.behaviour.TaskHidden.Std()
	for _, t := range c.bmc.tasks.list {
		if t.id == c.value("task") && !c.now().Before(t.started.Add(hidden)) {
			return t
		}
	}
	return nil
}

func (b *BMC) taskDoc(t *task) obj {
	doc := obj{
		"@odata.id": taskPath + "/" + t.id, "@odata.type": "#Task.v1_7_4.Task", "Id": t.id, "Name": t.name,
		"TaskState": "Running", "TaskStatus": "OK", "StartTime": b.time(t.started), "TaskMonitor": monitorPath + "/" + t.id,
		"PercentComplete": 50, "Messages": []obj{},
	}
	if t.done {
		doc["TaskState"], doc["PercentComplete"], doc["EndTime"] = "Completed", 100, b.time(t.end)
	}
	if t.failed {
		doc["TaskState"], doc["TaskStatus"] = "Exception", "Critical"
		doc["Messages"] = []obj{{"MessageId": "Base.1.18.GeneralError", "Message": "The operation failed.", "Severity": "Critical"}}
	}
	return doc
}

func (c *call) getTaskService() *reply {
	return c.show(obj{
		"@odata.type": "#TaskService.v1_2_1.TaskService", "Id": "TaskService", "Name": "Task Service", "ServiceEnabled": true,
		"Status": statusOK(), "Tasks": link(taskPath),
	})
}

func (c *call) getTasks() *reply {
	var ids []string
	for _, t := range c.bmc.tasks.list {
		ids = append(ids, t.id)
	}
	return c.showCollection("TaskCollection", "Tasks", ids)
}

func (c *call) getTask() *reply {
	if t := c.task(); t != nil {
		return c.show(c.bmc.taskDoc(t))
	}
	return notFound(c.path)
}

// getTaskMonitor answers 202 while the task runs, then what the operation itself would have answered.
func (c *call) getTaskMonitor() *reply {
	t := c.task()
	switch {
	case t == nil:
		return notFound(c.path)
	case !t.done:
		return c.bmc.accepted(t)
	case c.bmc.behaviour.TaskVanishes:
		return notFound(c.path)
	case c.bmc.behaviour.TaskSeeOther:
		r := newReply(http.StatusSeeOther, nil)
		r.header.Set("Location", taskPath+"/"+t.id)
		return r
	case t.failed:
		return redfishError(http.StatusInternalServerError, "OperationFailed", "An error occurred internal to the service as part of the overall request.")
	}
	return noContent()
}

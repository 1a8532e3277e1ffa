// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"strconv"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// In worlds with tasks a machine's BMC takes every power-off as a task: it does what was asked, or fails and does nothing. It knows its
// last task only. Tasks are numbered 1, 2, 1, …: two that follow one another differ, and a world stays finite.

func taskURI(number uint8) string { return "/tasks/" + strconv.Itoa(int(number)) }

// tasked says that an effect becomes a task.
func (x *explorer) tasked(c *choice) bool {
	return x.world.Tasks && c.step.Effect.Op.Destructive()
}

// begins starts the machine's next task.
func (m *machine) begins(ends taskEnd) taskEnd {
	m.task, m.failed = 1+m.task%2, ends == taskFails
	return ends
}

// taskEnd is how a task ends.
type taskEnd uint8

const (
	taskWorks taskEnd = iota
	taskFails
)

// ends are the ways in which what an effect starts can end. That it fails is one of the things that machines do by themselves.
func (x *explorer) ends(s *State, f flight) []taskEnd {
	if x.tasked(x.choiceOf(f)) && s.tenant > 0 {
		return []taskEnd{taskWorks, taskFails}
	}
	return []taskEnd{taskWorks}
}

// taskRecord is the server with the task that an effect became, as the pass that asked for it writes it.
func (x *explorer) taskRecord(basis id, c *choice, number uint8) id {
	if basis == overtaken {
		return basis
	}
	patch := metal.TaskRecord(x.servers.Get(basis), *c.step.Effect, taskURI(number), c.question.now())
	if patch == nil {
		return basis
	}
	return x.writeServer(basis, patch).Next
}

// observeTask is what a picture tells of the task of the intent that is open on a server.
func observeTask(picture *v1alpha1.ServerObserved, m machine, intent ledger.Intent) {
	if intent.Task == "" {
		return
	}
	phase := provider.TaskDone
	switch {
	case intent.Task != taskURI(m.task):
		phase = provider.TaskGone
	case m.failed:
		phase = provider.TaskFailed
	case m.stopping:
		phase = provider.TaskRunning
	}
	picture.Task, picture.TaskMonitor = string(phase), intent.Task
}

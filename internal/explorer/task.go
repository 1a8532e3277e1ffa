// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"strconv"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
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
func (m *machine) begins(ends ending) ending {
	m.task, m.failed = 1+m.task%2, ends == taskFails
	return ends
}

// ending is what becomes of an effect.
type ending uint8

const (
	works     ending = iota
	taskFails        // the task that it becomes fails
	inVain           // the BMC does not do it: refuses it, or says that it is not the time
)

// endings are what can become of an effect: what is usual, and then what counts among the things that machines do by themselves.
func (x *explorer) endings(s *State, f flight) []ending {
	ends := []ending{works}
	switch c := x.choiceOf(f); {
	case x.tasked(c):
		ends = []ending{works, taskFails}
	case x.world.Deaf && c.step.Effect.Op == lifecycle.OpShutDown:
		ends = []ending{inVain, works}
	}
	if s.tenant == 0 {
		return ends[:1]
	}
	return ends
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

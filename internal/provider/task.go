// SPDX-License-Identifier: Apache-2.0

package provider

import "time"

// TaskPhase is how far work has come that an acting call started.
type TaskPhase string

const (
	TaskRunning TaskPhase = "Running"
	TaskDone    TaskPhase = "Done"
	TaskFailed  TaskPhase = "Failed"
	// TaskGone means that the BMC no longer knows the task: how it ended shows in the machine's state alone.
	TaskGone TaskPhase = "Gone"
)

// Final says that the phase will not change any more.
func (p TaskPhase) Final() bool { return p == TaskDone || p == TaskFailed || p == TaskGone }

// TaskState is one look at a task.
type TaskState struct {
	Phase   TaskPhase
	Message string        // why it failed, one line for a person; "" otherwise
	After   time.Duration // Running: how long the BMC asked to wait before the next look, 0 if it did not say
}

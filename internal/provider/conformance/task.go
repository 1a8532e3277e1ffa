// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var taskCases = []testCase{
	{name: "work that became a task runs, and is done when the machine is (B142)", run: func(f *fixture) {
		out, err := f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{})
		f.done(out, err)
		if out.Task == "" {
			f.Skip("this machine does it at once")
		}
		f.same("phase", provider.TaskRunning, f.task(out.Task))
		f.Settle()
		f.same("phase", provider.TaskDone, f.task(out.Task))
		f.same("power", provider.PowerOn, f.Power())
	}},
	{name: "a task that fails is Failed, and the machine is as it was (B142)", start: on, run: func(f *fixture) {
		f.Break(FailsTasks)
		out, err := f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{})
		f.done(out, err)
		if out.Task == "" {
			f.Skip("this machine does it at once")
		}
		f.Settle()
		state, err := f.Observer().ObserveTask(f.ctx, out.Task)
		if err != nil || state.Phase != provider.TaskFailed || state.Message == "" {
			f.Errorf("got %+v, %v", state, err)
		}
		f.same("power seen", provider.PowerOn, f.look().Power)
	}},
	{name: "a task that nobody knows is waited for a while only (B147)", run: func(f *fixture) {
		const unknown = "/redfish/v1/TaskService/TaskMonitors/unknown"
		f.same("phase", provider.TaskRunning, f.task(unknown))
		f.Settle()
		f.same("phase", provider.TaskGone, f.task(unknown))
	}},
	{name: "looking at a task writes nothing, and trouble decides nothing", run: func(f *fixture) {
		f.quiet(func() {
			f.Break(Fails)
			_, err := f.Observer().ObserveTask(f.ctx, "/redfish/v1/TaskService/TaskMonitors/1")
			f.fails(err, provider.Transient, provider.ReasonServerError)
		})
	}},
}

func (f *fixture) task(uri string) provider.TaskPhase {
	f.Helper()
	state, err := f.Observer().ObserveTask(f.ctx, uri)
	if err != nil {
		f.Fatal(err)
	}
	return state.Phase
}

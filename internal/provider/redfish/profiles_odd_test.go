// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/conformance"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestConformanceWithOddDocuments runs the suite over BMCs whose documents are not quite what the specification says.
func TestConformanceWithOddDocuments(t *testing.T) {
	odd := map[string]sim.Behaviour{
		"numbers as text (B135)":            {NumbersAsText: true},
		"the last page names itself (B137)": {PagesLoop: true},
		"members change their order (B158)": {ShuffleMembers: true},
		"tags that are empty (B131)":        {EmptyTags: true, RequireIfMatch: true},
		"tags that do not change (B037)":    {StaleTags: true},
		"tags of compressed answers (B128)": {GzipTags: true, RequireIfMatch: true},
	}
	for _, shape := range []sim.ErrorShape{
		sim.ErrorText, sim.ErrorNoInfo, sim.ErrorOneInfo, sim.ErrorTextInfo, sim.ErrorBare, sim.ErrorEmpty, sim.ErrorNothing,
	} {
		odd["refusals: "+string(shape)+" (B138)"] = sim.Behaviour{ErrorShape: shape, RefuseNoopReset: true, RequireIfMatch: true}
	}
	second := sim.Duration(time.Second)
	for name, mood := range map[string]sim.Behaviour{
		"tasks: a URL by another name":    {TaskLocation: sim.LocationURL},
		"tasks: told in the body alone":   {TaskLocation: sim.LocationNone},
		"tasks: told in a header (B144)":  {TaskBare: true},
		"tasks: elsewhere at last (B145)": {TaskSeeOther: true},
	} {
		mood.AsyncReset, mood.AsyncMedia, mood.TaskDuration = true, true, second
		odd[name] = mood
	}
	for name, mood := range odd {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, start conformance.Start) conformance.Machine {
				profile := sim.Conforming()
				profile.PageSize = 3
				return newMachine(t, start, sim.BMCSpec{Profile: &profile, Behaviour: mood})
			})
		})
	}
}

// A task that is gone says nothing of its end: neither done nor failed, and the machine itself is looked at.
func TestATaskThatVanishesHasNoEnd(t *testing.T) {
	l := life{newMachine(t, conformance.Start{Power: provider.PowerOff}, sim.BMCSpec{Behaviour: sim.Behaviour{
		AsyncReset: true, TaskVanishes: true, TaskDuration: sim.Duration(time.Second),
	}}), t, t.Context()}
	out, err := l.Actor().PowerOn(l.ctx, l.byName(), provider.Expect{})
	if err != nil || out.Task == "" {
		t.Fatalf("got %+v, %v, want a task", out, err)
	}
	phase := provider.TaskRunning
	for n := 0; phase == provider.TaskRunning && n < 3; n++ {
		state, err := l.Observer().ObserveTask(l.ctx, out.Task)
		if err != nil {
			t.Fatal(err)
		}
		phase = state.Phase
		l.Settle()
	}
	if phase != provider.TaskGone || l.look().Power != provider.PowerOn {
		t.Errorf("the task is %s, the machine %s", phase, l.look().Power)
	}
}

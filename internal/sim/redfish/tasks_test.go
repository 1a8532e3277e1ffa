// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func slowTasks(h *redfish.Behaviour) {
	h.AsyncReset, h.TaskDuration = true, redfish.Duration(10*time.Second)
}

func TestResetBecomesATask(t *testing.T) { // B142, B145
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	a := b.reset("On", http.StatusAccepted)
	monitor := a.Header.Get("Location")
	if monitor != a.Body["TaskMonitor"] || a.Header.Get("Retry-After") == "" || a.Body["TaskState"] != "Running" {
		t.Errorf("202 with Location %q and body %v", monitor, a.Body)
	}
	resource := a.Body["@odata.id"].(string)
	b.do("GET", monitor, nil, http.StatusAccepted)
	b.wantPower(redfish.PowerOff)
	b.clock.Advance(10 * time.Second)
	b.do("GET", monitor, nil, http.StatusNoContent)
	if got := b.get(resource)["TaskState"]; got != "Completed" {
		t.Errorf("TaskState %v", got)
	}
	b.wantPower(redfish.PoweringOn)
	if got := b.get("/redfish/v1/TaskService/Tasks")["Members@odata.count"]; got != 1.0 {
		t.Errorf("%v tasks", got)
	}
}

func TestTaskThatFailsDoesNothing(t *testing.T) { // B142
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.TaskFails = true })
	a := b.reset("On", http.StatusAccepted)
	b.clock.Advance(10 * time.Second)
	b.do("GET", a.Header.Get("Location"), nil, http.StatusInternalServerError)
	if doc := b.get(a.Body["@odata.id"].(string)); doc["TaskState"] != "Exception" || doc["TaskStatus"] != "Critical" {
		t.Errorf("task reads %v", doc)
	}
	b.wantPower(redfish.PowerOff)
}

func TestChangesBecomeTasks(t *testing.T) { // B097
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.AsyncPatch, h.AsyncMedia = true, true })
	insert := system + "/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia"
	b.do("PATCH", system, map[string]any{"Boot": pxeOnce}, http.StatusAccepted)
	b.do("PATCH", system, map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Floppy"}}, http.StatusBadRequest)
	b.do("POST", insert, map[string]any{"Image": "http://x/a.iso"}, http.StatusAccepted)
	if got := b.machine().Status(); got.Override != "" || got.Media != "" {
		t.Errorf("before the tasks are done: %+v", got)
	}
	b.clock.Advance(10 * time.Second)
	if got := b.machine().Status(); got.Override != "Once Pxe" || got.Media != "http://x/a.iso" {
		t.Errorf("after the tasks: %+v", got)
	}
	if got := b.events(redfish.EventOverride, redfish.EventMedia); len(got) != 2 || got[0].By != "redfish" || got[1].By != "redfish" {
		t.Errorf("machine log: %v", got)
	}
}

func TestLateChangeDoesNotBringBackAUsedOverride(t *testing.T) {
	b := newBench(t)
	b.setBoot(pxeOnce)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.AsyncPatch, h.TaskDuration = true, redfish.Duration(time.Hour) })
	b.do("PATCH", system, map[string]any{"AssetTag": "late"}, http.StatusAccepted)
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	if got := b.machine().Status(); got.AssetTag != "late" || got.Override != "" {
		t.Errorf("after the task: %+v", got)
	}
}

func TestTaskCannotSwitchOnWithoutMains(t *testing.T) {
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	b.reset("On", http.StatusAccepted)
	b.machine().CutPower()
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOff)
}

func TestNewTaskIsNotFoundForAWhile(t *testing.T) { // B147
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.TaskHidden = redfish.Duration(2 * time.Second) })
	monitor := b.reset("On", http.StatusAccepted).Header.Get("Location")
	b.do("GET", monitor, nil, http.StatusNotFound)
	b.clock.Advance(2 * time.Second)
	b.do("GET", monitor, nil, http.StatusAccepted)
}

func TestRestartOfTheBMCForgetsItsTasks(t *testing.T) {
	b := newBench(t)
	b.bmc.Behave(slowTasks)
	monitor := b.reset("On", http.StatusAccepted).Header.Get("Location")
	b.bmc.Reboot()
	b.clock.Advance(timing.BMCBoot)
	b.do("GET", monitor, nil, http.StatusNotFound)
	b.wantPower(redfish.PowerOff)
}

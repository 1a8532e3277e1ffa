// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// TestWhoDecides: a machine is decided about as a machine, a VM as a VM, whoever asks.
func TestWhoDecides(t *testing.T) {
	machine, vm := lt.View(), lt.View(lt.Virtual)
	if !strings.HasPrefix(server.Decide(machine).Rule, "metal ") || !strings.HasPrefix(server.Decide(vm).Rule, "virtual ") {
		t.Errorf("decided by %q and %q", server.Decide(machine).Rule, server.Decide(vm).Rule)
	}
	if !strings.HasPrefix(server.Describe(machine).Rule, "metal ") || !strings.HasPrefix(server.Describe(vm).Rule, "virtual ") {
		t.Errorf("described by %q and %q", server.Describe(machine).Rule, server.Describe(vm).Rule)
	}
	if !server.Available(machine.Server, machine.Settings) || server.Available(vm.Server, vm.Settings) {
		t.Error("a free machine is for any claim, a VM for none")
	}
	for name, view := range map[string]lifecycle.ServerView{"machine": machine, "VM": vm} {
		if _, unsettled := server.Unsettled(view.Server); unsettled {
			t.Errorf("a settled %s is unsettled", name)
		}
	}
	if _, unsettled := server.Unsettled(lt.View(lt.Virtual, lt.Unmade).Server); !unsettled {
		t.Error("a VM that is not made is settled")
	}
	if server.IsVirtual(nil) || server.Decide(lifecycle.ServerView{}).Step.Kind != lifecycle.StepSettled {
		t.Error("no server is decided about")
	}
}

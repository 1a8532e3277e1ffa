// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Mark is a moment in the rack's logs.
type Mark struct{ request, event uint64 }

// Mark is now.
func (s *Suite) Mark() Mark {
	request, event := s.Rack.Logged()
	return Mark{request, event}
}

// Figures is what reached machines and what became of them, as the machines themselves tell it.
type Figures struct {
	// Writes are the requests that change anything but sessions; Resets, Overrides and Stamps are among them.
	Writes []sim.Request
	// Resets are the reset types asked for, in order.
	Resets []string
	// Overrides are the requests that change the boot override.
	Overrides []sim.Request
	// Stamps are the requests that change the asset tag.
	Stamps []sim.Request
	// Looks are the requests that read the state of a system.
	Looks int
	// Requests are all there were.
	Requests int
	// Installs, Boots and PowerChanges are what happened.
	Installs, Boots, PowerChanges []sim.Event
}

// Since counts what happened to one machine's BMC since a mark.
func (k *Kit) Since(mark Mark, machine *Machine) Figures {
	k.T.Helper()
	requests, err := k.Rack.Requests(sim.RequestFilter{BMC: machine.Name, After: mark.request})
	if err != nil {
		k.T.Fatal(err)
	}
	f := Figures{Requests: len(requests)}
	for _, r := range requests {
		count(&f, r)
	}
	events := func(kinds ...sim.EventKind) []sim.Event {
		return k.Rack.MachineLog(sim.EventFilter{BMC: machine.Name, After: mark.event, Kinds: kinds})
	}
	f.Installs, f.Boots, f.PowerChanges = events(sim.EventInstall), events(sim.EventBoot), events(sim.EventPower)
	return f
}

func count(f *Figures, r sim.Request) {
	switch {
	case r.Method == http.MethodGet && strings.Count(strings.TrimSuffix(r.Path, "/"), "/") == 4 && strings.Contains(r.Path, "/Systems/"):
		f.Looks++
	case r.Method == http.MethodGet || r.Method == http.MethodHead || strings.Contains(r.Path, "/SessionService/"):
	default:
		f.Writes = append(f.Writes, r)
		switch {
		case strings.HasSuffix(r.Path, ".Reset"):
			_, rest, _ := strings.Cut(r.Body, `"ResetType":"`)
			kind, _, _ := strings.Cut(rest, `"`)
			f.Resets = append(f.Resets, kind)
		case strings.Contains(r.Body, "BootSourceOverride"):
			f.Overrides = append(f.Overrides, r)
		case strings.Contains(r.Body, "AssetTag"):
			f.Stamps = append(f.Stamps, r)
		}
	}
}

// Armings are the requests that arm a network boot.
func (f Figures) Armings() int {
	count := 0
	for _, r := range f.Overrides {
		if !strings.Contains(r.Body, `"BootSourceOverrideEnabled":"Disabled"`) {
			count++
		}
	}
	return count
}

// ExpectResets fails the test where other resets than these, in this order, were asked for.
func (k *Kit) ExpectResets(f Figures, want ...string) {
	k.T.Helper()
	if !slices.Equal(f.Resets, want) {
		k.T.Errorf("resets: %v, want %v", f.Resets, want)
	}
}

// ExpectUntouched waits until the monitor has looked at the machine several times since mark, long enough for what should not happen to
// happen, and fails the test where anything was asked of it meanwhile: no reset, no boot or media write, no write of any kind.
func (k *Kit) ExpectUntouched(mark Mark, machines ...*Machine) {
	k.T.Helper()
	for _, machine := range machines {
		k.Watched(mark, machine)
		f := k.Since(mark, machine)
		if len(f.Writes) > 0 || len(f.Installs) > 0 || len(f.PowerChanges) > 0 {
			k.T.Errorf("%s was touched: %s; installs %d, power changes %d", machine.Name, describeRequests(f.Writes), len(f.Installs), len(f.PowerChanges))
		}
	}
}

// enoughLooks is how many looks at a machine are time enough for what should not happen.
const enoughLooks = 4

// Watched waits until the monitor has looked at a machine several times since mark.
func (k *Kit) Watched(mark Mark, machine *Machine) {
	k.T.Helper()
	k.Until(fmt.Sprintf("%d looks at %s", enoughLooks, machine.Name), func(context.Context) error {
		if looks := k.Since(mark, machine).Looks; looks < enoughLooks {
			return fmt.Errorf("%d looks", looks)
		}
		return nil
	})
}

func describeRequests(requests []sim.Request) string {
	lines := make([]string, len(requests))
	for i, r := range requests {
		lines[i] = fmt.Sprintf("%s %s %s → %d", r.Method, r.Path, r.Body, r.Status)
	}
	return "[" + strings.Join(lines, "; ") + "]"
}

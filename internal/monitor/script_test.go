// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// scriptedBMC is a BMC that answers as a test says, and notes what it was asked.
type scriptedBMC struct {
	mu       sync.Mutex
	systems  map[string]provider.SystemFacts // by UUID; "" is any
	bmc      provider.BMCFacts
	failing  error            // every answer
	broken   map[string]error // answers about one system, by UUID
	hangs    bool             // no answer before the deadline
	deaf     time.Duration    // answers after so long, whatever the deadline
	task     provider.TaskState
	etags    bool // answers NotModified to its own ETag
	panics   bool
	during   func() // runs while an answer is being made
	inFlight int
	calls    []call
}

type call struct {
	at     time.Time
	what   string // discover, state, inventory, media
	system string
	etag   string
}

func newScriptedBMC() *scriptedBMC {
	return &scriptedBMC{
		bmc: provider.BMCFacts{UUID: "bmc-uuid", Vendor: "Contoso", Model: "BMC9", Firmware: "1.2.3", Systems: []provider.SystemSummary{
			{ID: "1", UUID: "system-uuid", Serial: "S1", CanReset: true},
		}},
		systems: map[string]provider.SystemFacts{"": {
			ID: "1", UUID: "system-uuid", Power: provider.PowerOff, Health: "OK", StampSupport: true,
			Hardware: &provider.Hardware{
				Manufacturer: "Contoso", Model: "X1", Serial: "S1", MemoryBytes: 64 << 30,
				Processors: []provider.Processor{{ID: "CPU1", Model: "Fast", Cores: 16, Threads: 32}},
				NICs:       []provider.NIC{{Name: "1", MAC: "02:00:00:00:00:01"}, {Name: "2", MAC: "02:00:00:00:00:02"}},
				Drives:     []provider.Drive{{Name: "D1", CapacityBytes: 1 << 40}, {Name: "D2", CapacityBytes: 1 << 40}},
			},
		}},
		broken: map[string]error{},
	}
}

// set changes what a BMC answers.
func (b *scriptedBMC) set(change func(*scriptedBMC)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// facts changes the facts of every system.
func (b *scriptedBMC) facts(change func(*provider.SystemFacts)) {
	b.set(func(b *scriptedBMC) {
		facts := b.systems[""]
		change(&facts)
		b.systems[""] = facts
	})
}

// asked returns what the BMC was asked since the last time.
func (b *scriptedBMC) asked() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// kinds counts calls by what was read.
func kinds(calls []call) map[string]int {
	count := map[string]int{}
	for _, c := range calls {
		count[c.what]++
	}
	return count
}

// answer notes a call and fails it as scripted. One BMC is never asked two things at a time.
func (b *scriptedBMC) answer(ctx context.Context, c call) error {
	b.mu.Lock()
	c.at = time.Now()
	b.calls = append(b.calls, c)
	b.inFlight++
	if b.inFlight > 1 {
		panic("two requests in flight at one BMC")
	}
	failing, hangs, deaf, panics, during := b.failing, b.hangs, b.deaf, b.panics, b.during
	if broken := b.broken[c.system]; failing == nil {
		failing = broken
	}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inFlight--
	}()
	if during != nil {
		during()
	}
	switch {
	case panics:
		panic("scripted")
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	case deaf > 0:
		<-time.After(deaf)
	}
	return failing
}

// Discover implements provider.Observer.
func (b *scriptedBMC) Discover(ctx context.Context) (provider.BMCFacts, error) {
	if err := b.answer(ctx, call{what: "discover"}); err != nil {
		return provider.BMCFacts{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bmc, nil
}

// Observe implements provider.Observer.
func (b *scriptedBMC) Observe(
	ctx context.Context, system provider.SystemRef, depth provider.Depth, etag string,
) (provider.SystemFacts, error) {
	what := "state"
	switch depth {
	case provider.DepthInventory:
		what = "inventory"
	case provider.DepthMedia:
		what = "media"
	case provider.DepthState:
	}
	if err := b.answer(ctx, call{what: what, system: system.UUID, etag: etag}); err != nil {
		return provider.SystemFacts{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	facts, found := b.systems[system.UUID]
	if !found {
		facts = b.systems[""]
	}
	if b.etags && depth != provider.DepthMedia {
		state := facts
		state.Hardware, state.Media = nil, nil
		facts.ETag = fmt.Sprintf("%+v", state)
		if etag == facts.ETag {
			return provider.SystemFacts{NotModified: true}, nil
		}
	}
	if depth != provider.DepthInventory {
		facts.Hardware = nil
	}
	if depth != provider.DepthMedia {
		facts.Media = nil
	}
	return facts, nil
}

// ObserveTask implements provider.Observer.
func (b *scriptedBMC) ObserveTask(ctx context.Context, uri string) (provider.TaskState, error) {
	if err := b.answer(ctx, call{what: "task", system: uri}); err != nil {
		return provider.TaskState{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.task, nil
}

// For implements Observers.
func (w *world) For(_ context.Context, bmc *v1alpha1.BMC) (provider.Observer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	scripted, found := w.rack[bmc.Name]
	if !found {
		return nil, fmt.Errorf("no such BMC in this world: %s", bmc.Name)
	}
	return scripted, nil
}

// Forget implements Observers.
func (w *world) Forget(_ context.Context, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgot = append(w.forgot, name)
}

func timeout() error {
	return &provider.Error{Class: provider.Transient, Reason: provider.ReasonTimeout, Message: "no answer"}
}

func refused() error {
	return &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsInvalid, Message: "the BMC refused the credentials"}
}

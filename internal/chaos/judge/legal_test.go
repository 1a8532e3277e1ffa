// SPDX-License-Identifier: Apache-2.0

package judge_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// legal makes histories that keep every rule: each machine and each VM goes through a life of its own, and lives overlap.
type legal struct {
	t       *rapid.T
	events  []judge.Event
	probes  []probe
	tenants int
}

// probe is an instant at which a tenant has a machine and nothing that ends its workload is asked for, or on the wire.
type probe struct {
	at              time.Time
	machine, tenant string
	identity        string // of VMs
}

// life is one machine, as time goes by for it.
type life struct {
	*legal
	machine, tenant, identity string
	clock                     time.Time
}

func drawLegal(t *rapid.T) *legal {
	l := &legal{t: t}
	for i := range rapid.IntRange(1, 3).Draw(t, "machines") {
		l.metal(fmt.Sprintf("metal%d", i))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "VMs") {
		l.vm(fmt.Sprintf("vm%d", i))
	}
	end := epoch
	for _, e := range l.events {
		if e.At.After(end) {
			end = e.At
		}
	}
	l.events = append(l.events, judge.Event{At: end.Add(time.Minute), Kind: judge.Settled})
	return l
}

func (l *legal) begin(machine string) *life {
	offset := rapid.IntRange(0, 30_000).Draw(l.t, "begins")
	return &life{legal: l, machine: machine, clock: epoch.Add(time.Duration(offset) * time.Millisecond)}
}

func (f *life) newTenant() {
	f.tenants++
	f.tenant = fmt.Sprintf("tenant%d", f.tenants)
}

// wait lets time pass.
func (f *life) wait() {
	f.clock = f.clock.Add(time.Duration(rapid.IntRange(1, 5_000).Draw(f.t, "waits")) * time.Millisecond)
}

// happens records that something happens to the machine, after a while.
func (f *life) happens(kinds ...judge.Kind) {
	for _, kind := range kinds {
		f.wait()
		f.events = append(f.events, judge.Event{At: f.clock, Kind: kind, Machine: f.machine, Tenant: f.tenant, Identity: f.identity})
	}
}

// asks records that the tenant asks for something, which takes its time to be acknowledged.
func (f *life) asks(kinds ...judge.Kind) {
	for _, kind := range kinds {
		f.wait()
		e := judge.Event{At: f.clock, Kind: kind, Tenant: f.tenant}
		f.wait()
		e.Acked = f.clock
		f.events = append(f.events, e)
	}
}

// probe notes that nothing is asked for now; what was on the wire has arrived.
func (f *life) probe() {
	f.clock = f.clock.Add(judge.InFlight + time.Second)
	f.probes = append(f.probes, probe{at: f.clock, machine: f.machine, tenant: f.tenant, identity: f.identity})
	f.clock = f.clock.Add(time.Second)
}

// onTheWire records an effect that arrives as late as it may after the withdrawal recorded last.
func (f *life) onTheWire(kind judge.Kind) {
	over := f.events[len(f.events)-1].Acked.Add(judge.InFlight)
	f.events = append(f.events, judge.Event{At: over.Add(time.Second), Arrived: over, Kind: kind, Machine: f.machine, Tenant: f.tenant})
	f.clock = over.Add(time.Second)
}

// metal is a machine and its tenants, one after another.
func (l *legal) metal(name string) {
	f := l.begin(name)
	for range rapid.IntRange(1, 3).Draw(l.t, "tenants") {
		f.newTenant()
		f.boots()
		for range rapid.IntRange(0, 4).Draw(l.t, "episodes") {
			f.probe()
			rapid.SampledFrom([]func(){
				f.offAndOn, f.restarts, f.goesOff, f.powerCut, f.maintenance, f.consentedOff, f.bootsAgain, f.changesItsMind, f.broughtBack,
			}).Draw(l.t, "episode")()
		}
		f.probe()
		if rapid.Bool().Draw(l.t, "keeps") {
			return
		}
		f.asks(judge.GaveUp)
		f.happens(judge.PoweredOff, judge.WentOff)
	}
}

func (f *life) boots() {
	f.asks(judge.Asked)
	f.drives(func() {
		f.happens(judge.Armed, judge.PoweredOn, judge.WentOn, judge.Disarmed, judge.NetworkBoot, judge.Installed)
	})
	f.happens(judge.Began)
}

// drives boots from a virtual drive, or not.
func (f *life) drives(boot func()) {
	drive := rapid.Bool().Draw(f.t, "from a drive")
	if drive {
		f.happens(judge.MediaInserted)
	}
	boot()
	if drive {
		f.happens(judge.MediaEjected)
	}
}

func (f *life) comesUp() { f.happens(judge.PoweredOn, judge.WentOn, judge.Began) }

func (f *life) offAndOn() {
	f.asks(judge.AskedOff)
	f.happens(judge.PoweredOff, judge.PoweredOff, judge.WentOff)
	f.asks(judge.AskedOn)
	f.comesUp()
}

func (f *life) changesItsMind() {
	f.asks(judge.AskedOff, judge.AskedOn)
	f.onTheWire(judge.PoweredOff)
	f.happens(judge.WentOff)
	f.comesUp()
}

// asksForRestart asks, and is not answered within the same second: a second one would be taken for one that is owed.
func (f *life) asksForRestart() {
	f.asks(judge.AskedRestart)
	f.clock = f.clock.Add(time.Second)
}

func (f *life) restarts() {
	f.asksForRestart()
	f.happens(judge.PoweredOff, judge.WentOff)
	f.comesUp()
}

func (f *life) goesOff() {
	f.happens(judge.WentOff)
	f.comesUp()
}

func (f *life) powerCut() { f.happens(judge.WentOff, judge.WentOn, judge.Began) }

func (f *life) maintenance() {
	f.happens(judge.MaintenanceBegan, judge.PoweredOff, judge.WentOff, judge.MaintenanceEnded)
	f.comesUp()
}

func (f *life) consentedOff() {
	f.happens(judge.ConsentedOff, judge.PoweredOff, judge.WentOff)
	f.comesUp()
}

func (f *life) bootsAgain() {
	f.asksForRestart()
	f.happens(judge.PoweredOff, judge.WentOff, judge.ConsentedBoot) // of the machine, for the tenant
	f.drives(func() {
		f.happens(judge.Armed, judge.PoweredOn, judge.WentOn, judge.NetworkBoot, judge.Installed)
	})
	f.happens(judge.Began)
}

// broughtBack gives up, and is brought back before anything was done.
func (f *life) broughtBack() { f.asks(judge.GaveUp, judge.Asked) }

// vm is a VM, and those that are made when it could not be launched.
func (l *legal) vm(name string) {
	f := l.begin(name)
	f.newTenant()
	f.identity = "identity of " + f.tenant
	f.asks(judge.Asked)
	f.hangs(judge.PortMade)
	for i := range rapid.IntRange(0, 2).Draw(l.t, "failures") {
		f.machine = fmt.Sprintf("%s-%d", name, i)
		f.happens(judge.CreatedVM, judge.DeletedVM, judge.GoneVM)
	}
	f.machine = name
	f.happens(judge.CreatedVM, judge.LaunchedVM)
	for range rapid.IntRange(0, 4).Draw(l.t, "episodes") {
		f.probe()
		rapid.SampledFrom([]func(){f.vmOffAndOn, f.restartedVM, f.rebuilt, f.maintained, f.broughtBack}).Draw(l.t, "episode")()
	}
	f.probe()
	if rapid.Bool().Draw(l.t, "gives up") {
		f.asks(judge.GaveUp)
		f.happens(judge.DeletedVM, judge.GoneVM)
		f.hangs(judge.PortGone)
	}
}

// hangs records what happens to the VM's port.
func (f *life) hangs(kind judge.Kind) {
	f.wait()
	f.events = append(f.events, judge.Event{At: f.clock, Kind: kind, Machine: "port of " + f.tenant, Identity: f.identity})
}

func (f *life) vmOffAndOn() {
	f.asks(judge.AskedOff)
	f.happens(judge.PoweredOff, judge.WentOff)
	f.asks(judge.AskedOn)
	f.happens(judge.PoweredOn, judge.WentOn)
}

func (f *life) restartedVM() {
	f.asksForRestart()
	f.happens(judge.PoweredOff, judge.WentOff, judge.PoweredOn, judge.WentOn)
}

func (f *life) rebuilt() {
	f.asks(judge.AskedRebuild)
	f.happens(judge.RebuiltVM, judge.Installed)
}

func (f *life) maintained() {
	f.happens(judge.MaintenanceBegan, judge.PoweredOff, judge.WentOff, judge.PoweredOn, judge.WentOn, judge.MaintenanceEnded)
}

// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

var dismantleCases = []testCase{
	{name: "all of a server goes, and nil means that all is gone", run: func(f *fixture) {
		f.running()
		f.done(f.Actor().AttachFloatingIP(f.ctx, f.ref, provider.Selector{Name: f.Offer().Public}))
		f.dismantled(f.ref)
		f.nothingLeft()
		f.quiet(func() {
			if err := f.Actor().Dismantle(f.ctx, f.ref); err != nil {
				f.Errorf("what is gone already: %v", err)
			}
		})
	}},
	{name: "over a connection to another project nothing is done, nor taken for gone (I3)", run: func(f *fixture) {
		project, err := f.Observer().Project(f.ctx)
		if err != nil || project == "" {
			f.Fatalf("project %q: %v", project, err)
		}
		f.ref.Project = project
		f.running()
		elsewhere := f.ref
		elsewhere.Project = "another"
		f.quiet(func() {
			f.fails(f.Actor().Dismantle(f.ctx, elsewhere), provider.Mismatch, "")
			f.fails(f.Actor().DeleteFailed(f.ctx, elsewhere, provider.InstanceExpect{}), provider.Mismatch, "")
			f.fails(f.Actor().ConfirmStopped(f.ctx, elsewhere, provider.InstanceExpect{Power: provider.PowerOff}), provider.Mismatch, "")
			_, err := f.Actor().Create(f.ctx, elsewhere, f.spec)
			f.fails(err, provider.Mismatch, "")
		})
		f.dismantled(f.ref)
	}},
	{name: "it goes by identity alone, when nothing of it was remembered (B088, B195)", run: func(f *fixture) {
		f.create()
		forgotten := f.ref
		forgotten.ID = ""
		f.dismantled(forgotten)
		f.nothingLeft()
	}},
	{name: "a VM that lost its tags goes too, by its id or by its port", run: func(f *fixture) {
		f.running()
		f.StripVM(f.ref.ID)
		f.ref.ID = ""
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "ports without a VM go, and what the cloud lost is no error", run: func(f *fixture) {
		f.running()
		f.RemoveVM(f.ref.ID)
		f.Settle()
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "the VM outlives its floating IP, and the port its VM", needs: []Feature{Time}, run: func(f *fixture) {
		f.running()
		f.done(f.Actor().AttachFloatingIP(f.ctx, f.ref, provider.Selector{Name: f.Offer().Public}))
		f.fails(f.Actor().Dismantle(f.ctx, f.ref), provider.Busy, "")
		f.same("floating IPs", 0, len(f.FloatingIPs(f.ref.Identity)))
		f.theVM()
		f.thePort()
		f.quiet(func() { f.fails(f.Actor().Dismantle(f.ctx, f.ref), provider.Busy, "") })
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "what was never launched goes as well", run: func(f *fixture) {
		f.failed()
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "two VMs of the identity both go", run: func(f *fixture) {
		f.MakeVM(f.ref.Name, tags(f.ref), nil)
		f.MakeVM(f.ref.Name, tags(f.ref), nil)
		f.Settle()
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "what is somebody else's stays: ports, floating IPs and VMs without our marks (B040, B042)", run: func(f *fixture) {
		f.running()
		stranger := f.MakePort("")
		named := f.MakePort("holdfast:" + uuid.NewString())
		given := f.GiveFloatingIP(f.thePort().ID)
		other := f.MakeVM(f.ref.Name+"-other", nil, nil)
		f.Settle()
		f.dismantled(f.ref)
		f.nothingLeft()
		if len(f.VMs(f.ref.Name+"-other")) != 1 {
			f.Errorf("VM %s of somebody else is gone", other)
		}
		for _, id := range []string{stranger, named} {
			if _, err := f.Observer().Port(f.ctx, id); err != nil {
				f.Errorf("port %s of somebody else: %v", id, err)
			}
		}
		if fip, err := f.Observer().FloatingIP(f.ctx, given); err != nil || fip.PortID != "" {
			f.Errorf("the floating IP that somebody gave is %+v, %v; want it there, led nowhere", fip, err)
		}
	}},
	{name: "a remembered VM that bears another server's identity stays, one that bears nothing stops it", run: func(f *fixture) {
		other := f.ref
		other.Identity = uuid.NewString()
		f.ref.ID = f.MakeVM(f.ref.Name, tags(other), nil)
		f.Settle()
		f.quiet(func() {
			if err := f.Actor().Dismantle(f.ctx, f.ref); err != nil {
				f.Errorf("a VM that is another server's by now: %v", err)
			}
		})
		f.StripVM(f.ref.ID)
		f.quiet(func() { f.fails(f.Actor().Dismantle(f.ctx, f.ref), provider.Mismatch, "") })
		f.theVM()
	}},
	{name: "another cluster's things of the identity stay", run: func(f *fixture) {
		f.running()
		foreign := f.ref
		foreign.Owner += "-2"
		f.quiet(func() { f.fails(f.Actor().Dismantle(f.ctx, foreign), provider.Mismatch, "") })
		f.theVM()
		f.thePort()
		f.RemoveVM(f.ref.ID)
		f.Settle()
		f.quiet(func() {
			f.fails(f.Actor().Dismantle(f.ctx, foreign), provider.Mismatch, "")
			f.fails(drop(f.Actor().Create(f.ctx, foreign, f.spec)), provider.Mismatch, "")
		})
		f.thePort()
	}},
	{name: "no VM comes after the end: a creation on the wire finds no port", needs: []Feature{Troubles, Time}, run: func(f *fixture) {
		f.looked()
		f.Break(SlowCreation)
		f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Transient, "")
		for range 20 {
			if err := f.Another().Dismantle(f.ctx, f.ref); err == nil {
				break
			}
		}
		f.Repair() // and it is carried out, if it can be
		f.Settle()
		f.nothingLeft()
	}},
}

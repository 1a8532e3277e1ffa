// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"sync"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// onceCases: never two VMs of one identity (I3).
var onceCases = []testCase{
	{name: "many calls at once in one process make one VM (B184)", run: func(f *fixture) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() { _, _ = f.Actor().Create(f.ctx, f.ref, f.spec) })
		}
		group.Wait()
		f.theVM()
		f.thePort()
	}},
	{name: "two processes at once make one VM", run: func(f *fixture) {
		var group sync.WaitGroup
		for _, actor := range []provider.CloudActor{f.Actor(), f.Another(), f.Actor(), f.Another()} {
			group.Go(func() { _, _ = actor.Create(f.ctx, f.ref, f.spec) })
		}
		group.Wait()
		if n := len(f.VMs(f.ref.Name)); n > 1 {
			f.Fatalf("%d VMs were made", n)
		}
		f.LetLapse()
		f.create()
		f.theVM()
		f.thePort()
	}},
	{name: "a VM whose creation lost its reply is found by the next call (B187)", needs: []Feature{Troubles}, run: func(f *fixture) {
		f.looked()
		f.Break(LosesReply)
		var err error
		for range 2 { // the port's reply is lost first
			if _, err = f.Actor().Create(f.ctx, f.ref, f.spec); provider.ClassOf(err) != provider.Transient {
				break
			}
			f.fails(err, provider.Transient, "")
			if len(f.VMs(f.ref.Name)) > 0 {
				break
			}
		}
		id := f.theVM().ID
		f.Repair()
		f.quiet(func() { f.same("VM", id, f.unchanged(f.Actor().Create(f.ctx, f.ref, f.spec)).Made.InstanceID) })
		f.has("port's tags", f.thePort().Tags, tags(f.ref)...)
	}},
	{name: "while a creation may still be carried out none is sent, by nobody, and it is found when it was", needs: []Feature{Troubles, Time}, run: func(f *fixture) {
		f.looked()
		f.Break(SlowCreation)
		f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Transient, "")
		for _, actor := range []provider.CloudActor{f.Actor(), f.Another()} {
			f.quiet(func() { f.fails(drop(actor.Create(f.ctx, f.ref, f.spec)), provider.Busy, "") })
		}
		f.same("VMs", 0, len(f.VMs(f.ref.Name)))
		f.Repair() // and it is carried out
		id := f.theVM().ID
		f.same("VM", id, f.unchanged(f.Another().Create(f.ctx, f.ref, f.spec)).Made.InstanceID)
	}},
	{name: "a creation that was never carried out is sent again when it is sure", needs: []Feature{Troubles, Time}, run: func(f *fixture) {
		f.looked()
		f.Break(Fails)
		f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Transient, "")
		f.Repair()
		f.LetLapse()
		f.create()
		f.theVM()
		f.thePort()
	}},
	{name: "a VM that lost its tags is found by its port, and gets them back", run: func(f *fixture) {
		f.running()
		f.StripVM(f.ref.ID)
		out, err := f.Actor().Create(f.ctx, f.ref, f.spec)
		if err != nil {
			f.Fatal(err)
		}
		f.same("VM", f.ref.ID, out.Made.InstanceID)
		f.has("tags", f.theVM().Tags, tags(f.ref)...)
	}},
	{name: "a VM that somebody deleted is made again only by who asks for it, with its port", run: func(f *fixture) {
		f.running()
		port := f.thePort().ID
		f.RemoveVM(f.ref.ID)
		f.Settle()
		f.create()
		f.same("port", port, f.thePort().ID)
		f.theVM()
	}},
}

// looked makes sure that the provider has logged in and knows the cloud.
func (f *fixture) looked() {
	f.Helper()
	if _, err := f.Observer().Cloud(f.ctx); err != nil {
		f.Fatal(err)
	}
}

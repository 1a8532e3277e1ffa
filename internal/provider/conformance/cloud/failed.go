// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// failedCases: what never launched may be deleted and made again, and nothing else (I2).
var failedCases = []testCase{
	{name: "a VM that never launched is deleted by its id, and its port serves the next one (B192)", run: func(f *fixture) {
		f.failed()
		port, first := f.thePort().ID, f.ref.ID
		if err := f.until(func() error {
			return f.Actor().DeleteFailed(f.ctx, f.ref, provider.InstanceExpect{NeverLaunched: true})
		}); err != nil {
			f.Fatal(err)
		}
		f.same("VMs", 0, len(f.VMs(f.ref.Name)))
		f.quiet(func() {
			if err := f.Actor().DeleteFailed(f.ctx, f.ref, provider.InstanceExpect{}); err != nil {
				f.Errorf("what is gone already: %v", err)
			}
		})
		f.spec.Flavor.Name = f.Offer().Flavor
		f.create()
		f.same("port", port, f.thePort().ID)
		if f.ref.ID == first {
			f.Error("the new VM has the old one's id")
		}
	}},
	{name: "a VM that is running, stopped or being built is not deleted, whatever the call expects", run: func(f *fixture) {
		f.create()
		check := func() {
			f.quiet(func() {
				for _, expect := range []provider.InstanceExpect{{}, {NeverLaunched: true}} {
					f.fails(f.Actor().DeleteFailed(f.ctx, f.ref, expect), provider.Mismatch, "")
				}
			})
		}
		check()
		f.Settle()
		check()
		f.StopVM(f.ref.ID)
		f.Settle()
		check()
		f.theVM()
	}},
	{name: "a VM that launched once and failed later is not deleted (B202)", run: func(f *fixture) {
		f.running()
		image := f.look().ImageID
		broken := provider.Selector{Name: f.Offer().BrokenImage}
		f.done(f.Actor().Rebuild(f.ctx, f.ref, broken, provider.InstanceExpect{ImageID: image}))
		f.Settle()
		if !f.look().Errored {
			f.Fatal("the rebuild did not fail")
		}
		f.quiet(func() {
			f.fails(f.Actor().DeleteFailed(f.ctx, f.ref, provider.InstanceExpect{NeverLaunched: true}), provider.Mismatch, "")
		})
	}},
	{name: "what bears another identity or owner is not deleted (B040)", run: func(f *fixture) {
		f.failed()
		other, foreign := f.ref, f.ref
		other.Identity = uuid.NewString()
		foreign.Owner += "-2"
		f.quiet(func() {
			f.fails(f.Actor().DeleteFailed(f.ctx, other, provider.InstanceExpect{}), provider.Mismatch, "")
			f.fails(f.Actor().DeleteFailed(f.ctx, foreign, provider.InstanceExpect{}), provider.Mismatch, "")
		})
		f.theVM()
	}},
}

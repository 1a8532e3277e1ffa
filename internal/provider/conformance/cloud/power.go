// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// actions are the acting calls that are about a VM by its id. The VM runs, and each would do something to it.
var actions = map[string]func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error{
	"StopInstance": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		return drop(f.Actor().StopInstance(f.ctx, ref, e))
	},
	"StartInstance": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		return drop(f.Actor().StartInstance(f.ctx, ref, e))
	},
	"DeleteFailed": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		return f.Actor().DeleteFailed(f.ctx, ref, e)
	},
	"ConfirmStopped": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		return f.Actor().ConfirmStopped(f.ctx, ref, e)
	},
	"Rebuild": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		if e.ImageID == "" {
			e.ImageID = f.look().ImageID
		}
		return drop(f.Actor().Rebuild(f.ctx, ref, provider.Selector{Name: f.Offer().OtherImage}, e))
	},
	"StampInstance": func(f *fixture, ref provider.InstanceRef, e provider.InstanceExpect) error {
		if e.Claim == nil {
			e.Claim = new("claim-1")
		}
		return drop(f.Actor().StampInstance(f.ctx, ref, "claim-2", "", e))
	},
}

var powerCases = []testCase{
	{name: "an unmet expectation is a Mismatch, and nothing was done", run: func(f *fixture) {
		f.running()
		other, foreign, nameless := f.ref, f.ref, f.ref
		other.Identity = uuid.NewString()
		foreign.Owner += "-2"
		nameless.ID = ""
		for name, call := range actions {
			for what, unmet := range map[string]struct {
				ref    provider.InstanceRef
				expect provider.InstanceExpect
			}{
				"power":          {f.ref, provider.InstanceExpect{Power: provider.PowerOff}},
				"never launched": {f.ref, provider.InstanceExpect{NeverLaunched: true}},
				"image":          {f.ref, provider.InstanceExpect{ImageID: "another"}},
				"claim":          {f.ref, provider.InstanceExpect{Claim: new("another")}},
				"identity":       {other, provider.InstanceExpect{}},
				"owner":          {foreign, provider.InstanceExpect{}},
				"no id":          {nameless, provider.InstanceExpect{}},
			} {
				f.quiet(func() {
					if err := call(f, unmet.ref, unmet.expect); provider.ClassOf(err) != provider.Mismatch {
						f.Errorf("%s with another %s: %v, want a Mismatch", name, what, err)
					}
				})
			}
		}
		f.same("state", "ACTIVE", f.theVM().State)
	}},
	{name: "a VM is stopped once, confirmed, and started once", run: func(f *fixture) {
		f.running()
		f.fails(f.Actor().ConfirmStopped(f.ctx, f.ref, provider.InstanceExpect{}), provider.Mismatch, "")
		f.quiet(func() { f.unchanged(f.Actor().StartInstance(f.ctx, f.ref, provider.InstanceExpect{})) })
		f.writes(1, func() {
			f.done(f.Actor().StopInstance(f.ctx, f.ref, provider.InstanceExpect{Power: provider.PowerOn}))
		})
		f.Settle()
		f.quiet(func() {
			f.unchanged(f.Actor().StopInstance(f.ctx, f.ref, provider.InstanceExpect{}))
			if err := f.Actor().ConfirmStopped(f.ctx, f.ref, provider.InstanceExpect{}); err != nil {
				f.Error(err)
			}
		})
		f.same("power", provider.PowerOff, f.look().Power)
		f.writes(1, func() {
			f.done(f.Actor().StartInstance(f.ctx, f.ref, provider.InstanceExpect{Power: provider.PowerOff}))
		})
		f.Settle()
		f.same("power", provider.PowerOn, f.look().Power)
	}},
	{name: "what is on its way is not sent again", needs: []Feature{Time}, run: func(f *fixture) {
		f.running()
		f.done(f.Actor().StopInstance(f.ctx, f.ref, provider.InstanceExpect{}))
		f.quiet(func() {
			f.same("power", provider.PoweringOff, f.look().Power)
			f.unchanged(f.Actor().StopInstance(f.ctx, f.ref, provider.InstanceExpect{}))
			f.fails(drop(f.Actor().StartInstance(f.ctx, f.ref, provider.InstanceExpect{})), provider.Busy, "")
			f.fails(f.Actor().ConfirmStopped(f.ctx, f.ref, provider.InstanceExpect{}), provider.Mismatch, "")
		})
	}},
	{name: "a VM that is gone is NotFound", run: func(f *fixture) {
		f.running()
		f.RemoveVM(f.ref.ID)
		f.Settle()
		for name, call := range actions {
			if name == "DeleteFailed" || name == "Rebuild" {
				continue // gone is what the one wants, and the other's expectation needs a look
			}
			f.fails(call(f, f.ref, provider.InstanceExpect{}), provider.NotFound, provider.ReasonInstanceNotFound)
		}
	}},
}

var rebuildCases = []testCase{
	{name: "a disk is made anew once, by the image that was resolved", run: func(f *fixture) {
		f.running()
		before := f.look()
		other := provider.Selector{Name: f.Offer().OtherImage}
		var out provider.Outcome
		f.writes(1, func() {
			out = f.done(f.Actor().Rebuild(f.ctx, f.ref, other, provider.InstanceExpect{ImageID: before.ImageID}))
		})
		f.quiet(func() {
			again := f.unchanged(f.Actor().Rebuild(f.ctx, f.ref, other, provider.InstanceExpect{ImageID: before.ImageID}))
			f.same("image", out.Made.ImageID, again.Made.ImageID)
		})
		f.Settle()
		after := f.look()
		f.same("state", "ACTIVE", after.State)
		f.same("image", out.Made.ImageID, after.ImageID)
		f.same("identity", f.ref.Identity, after.Identity)
		f.same("addresses", before.Addresses, after.Addresses)
	}},
	{name: "a rebuild names the image it relies on", run: func(f *fixture) {
		f.running()
		f.quiet(func() {
			_, err := f.Actor().Rebuild(f.ctx, f.ref, provider.Selector{Name: f.Offer().OtherImage}, provider.InstanceExpect{})
			f.fails(err, provider.Mismatch, "")
		})
	}},
	{name: "a rebuild that failed is not taken for done, nor repeated", run: func(f *fixture) {
		f.running()
		image := f.look().ImageID
		broken := provider.Selector{Name: f.Offer().BrokenImage}
		f.done(f.Actor().Rebuild(f.ctx, f.ref, broken, provider.InstanceExpect{ImageID: image}))
		f.Settle()
		facts := f.look()
		if !facts.Errored || facts.Fault == "" || facts.LaunchedAt.IsZero() {
			f.Fatalf("the VM is %+v, want a failed rebuild", facts)
		}
		f.quiet(func() {
			f.fails(drop(f.Actor().Rebuild(f.ctx, f.ref, broken, provider.InstanceExpect{ImageID: image})), provider.Mismatch, "")
		})
		f.done(f.Actor().Rebuild(f.ctx, f.ref, provider.Selector{Name: f.Offer().OtherImage}, provider.InstanceExpect{ImageID: facts.ImageID}))
		f.Settle()
		f.same("state", "ACTIVE", f.look().State)
	}},
}

var stampCases = []testCase{
	{name: "a claim is stamped over the one that was seen, once, and cleared", run: func(f *fixture) {
		f.running()
		f.done(f.Actor().StampInstance(f.ctx, f.ref, "claim-2", "", provider.InstanceExpect{Claim: new("claim-1")}))
		f.same("claim", "claim-2", f.look().Claim)
		f.quiet(func() {
			f.unchanged(f.Actor().StampInstance(f.ctx, f.ref, "claim-2", "", provider.InstanceExpect{Claim: new("claim-2")}))
			f.fails(drop(f.Actor().StampInstance(f.ctx, f.ref, "claim-3", "", provider.InstanceExpect{Claim: new("claim-1")})), provider.Mismatch, "")
			f.fails(drop(f.Actor().StampInstance(f.ctx, f.ref, "claim-3", "", provider.InstanceExpect{})), provider.Mismatch, "")
		})
		f.done(f.Actor().StampInstance(f.ctx, f.ref, "", "", provider.InstanceExpect{Claim: new("claim-2")}))
		f.same("claim", "", f.look().Claim)
		if _, there := f.theVM().Metadata[provider.MetadataClaim]; there {
			f.Error("the claim is still in the metadata")
		}
		f.has("tags", f.theVM().Tags, tags(f.ref)...)
	}},
	{name: "a take-over moves VM, ports and floating IP to the new owner", run: func(f *fixture) {
		f.running()
		f.done(f.Actor().AttachFloatingIP(f.ctx, f.ref, provider.Selector{Name: f.Offer().Public}))
		taken := f.ref
		taken.Owner += "-new"
		f.quiet(func() {
			_, err := f.Actor().StampInstance(f.ctx, taken, "claim-1", "", provider.InstanceExpect{Claim: new("claim-1")})
			f.fails(err, provider.Mismatch, "")
		})
		f.done(f.Actor().StampInstance(f.ctx, taken, "claim-1", f.ref.Owner, provider.InstanceExpect{Claim: new("claim-1")}))
		f.quiet(func() {
			f.unchanged(f.Actor().StampInstance(f.ctx, taken, "claim-1", f.ref.Owner, provider.InstanceExpect{Claim: new("claim-1")}))
		})
		f.same("owner", taken.Owner, f.look().Owner)
		for _, bears := range [][]string{f.theVM().Tags, f.thePort().Tags, f.FloatingIPs(f.ref.Identity)[0].Tags} {
			f.has("tags", bears, tags(taken)...)
			if slices.Contains(bears, provider.TagOwner+f.ref.Owner) {
				f.Errorf("the old owner is still among the tags %q", bears)
			}
		}
		ports, err := f.Observer().ListPorts(f.ctx, taken.Owner)
		if err != nil || len(ports) != 1 {
			f.Errorf("ports of the new owner: %+v, %v", ports, err)
		}
		fips, err := f.Observer().ListFloatingIPs(f.ctx, taken.Owner)
		if err != nil || len(fips) != 1 {
			f.Errorf("floating IPs of the new owner: %+v, %v", fips, err)
		}
		f.quiet(func() { f.fails(f.Actor().Dismantle(f.ctx, f.ref), provider.Mismatch, "") })
		f.dismantled(taken)
		f.nothingLeft()
	}},
}

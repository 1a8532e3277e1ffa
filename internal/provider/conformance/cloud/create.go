// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

var createCases = []testCase{
	{name: "a VM is made with its marks, its port first, and adopted when asked for again (B187, B189, B197)", run: func(f *fixture) {
		out := f.done(f.Actor().Create(f.ctx, f.ref, f.spec))
		f.ref.ID = out.Made.InstanceID
		vm := f.theVM()
		f.same("VM", vm.ID, out.Made.InstanceID)
		f.has("tags", vm.Tags, tags(f.ref)...)
		f.same("metadata", map[string]string{provider.MetadataIdentity: f.ref.Identity, provider.MetadataOwner: f.ref.Owner, provider.MetadataClaim: "claim-1"}, vm.Metadata)
		f.same("resolved groups", [][]string{{f.Offer().GroupID}}, out.Made.SecurityGroups)
		port := f.thePort()
		f.has("port's tags", port.Tags, tags(f.ref)...)
		f.same("port's groups", []string{f.Offer().GroupID}, port.Groups)
		f.quiet(func() {
			again := f.unchanged(f.Actor().Create(f.ctx, f.ref, f.spec))
			f.same("VM made again", vm.ID, again.Made.InstanceID)
			f.same("image", out.Made.ImageID, again.Made.ImageID)
		})
		f.Settle()
		f.quiet(func() { f.unchanged(f.Another().Create(f.ctx, f.ref, f.spec)) })
	}},
	{name: "a VM that another process made is adopted in BUILD, and is what it is (B190)", run: func(f *fixture) {
		made := f.done(f.Another().Create(f.ctx, f.ref, f.spec))
		f.quiet(func() {
			out := f.unchanged(f.Actor().Create(f.ctx, f.ref, f.spec))
			f.same("VM", made.Made.InstanceID, out.Made.InstanceID)
			f.ref.ID = out.Made.InstanceID
		})
		if facts := f.look(); facts.Power == provider.PowerOn && facts.State != "ACTIVE" {
			f.Errorf("a VM in %s is told to be on", facts.State)
		}
	}},
	{name: "several ports come in their order", run: func(f *fixture) {
		f.spec.Ports = append(f.spec.Ports, provider.PortSpec{Network: f.spec.Ports[0].Network, SecurityGroups: []provider.Selector{}})
		f.create()
		ports, err := f.Observer().ListPorts(f.ctx, f.ref.Owner)
		if err != nil || len(ports) != 2 {
			f.Fatalf("ports are %+v, %v; want two", ports, err)
		}
		for _, p := range ports {
			if want := 1 - p.Index; len(p.SecurityGroups) != want {
				f.Errorf("port %d has %d groups, want %d", p.Index, len(p.SecurityGroups), want)
			}
		}
	}},
	{name: "two VMs of one identity are named, and nothing is made or deleted (B186)", run: func(f *fixture) {
		one := f.MakeVM(f.ref.Name, tags(f.ref), nil)
		two := f.MakeVM(f.ref.Name, tags(f.ref), nil)
		f.quiet(func() {
			_, err := f.Actor().Create(f.ctx, f.ref, f.spec)
			e := f.failure(err, provider.Terminal, provider.ReasonDuplicateVM)
			if !strings.Contains(e.Message, one) || !strings.Contains(e.Message, two) {
				f.Errorf("the message does not name both: %s", e.Message)
			}
		})
	}},
	{name: "a VM of ours with the name and another identity is named, and adopted where a person says so", run: func(f *fixture) {
		lost := f.ref
		lost.Identity = uuid.NewString()
		id := f.MakeVM(f.ref.Name, tags(lost), nil)
		f.Settle()
		f.quiet(func() {
			_, err := f.Actor().Create(f.ctx, f.ref, f.spec)
			e := f.failure(err, provider.Terminal, provider.ReasonFoundExisting)
			if !strings.Contains(e.Message, id) {
				f.Errorf("the message does not name it: %s", e.Message)
			}
		})
		f.spec.Adopt = id
		out := f.done(f.Actor().Create(f.ctx, f.ref, f.spec))
		f.same("VM", id, out.Made.InstanceID)
		f.has("tags", f.theVM().Tags, tags(f.ref)...)
		f.ref.ID = id
		f.same("identity", f.ref.Identity, f.look().Identity)
		f.same("claim", "claim-1", f.look().Claim)
		f.quiet(func() { f.unchanged(f.Actor().Create(f.ctx, f.ref, f.spec)) })
		f.same("port's device", id, f.thePort().Device)
		f.has("port's tags", f.thePort().Tags, tags(f.ref)...)
		f.quiet(func() { f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "a VM from before its server's memory was lost is adopted with its ports", run: func(f *fixture) {
		f.running()
		port := f.thePort().ID
		f.ref.Identity, f.spec.Adopt = uuid.NewString(), f.ref.ID
		f.done(f.Actor().Create(f.ctx, f.ref, f.spec))
		f.same("port", port, f.thePort().ID)
		f.has("port's tags", f.thePort().Tags, tags(f.ref)...)
		f.same("tags of the port", 3, len(f.thePort().Tags))
		f.quiet(func() { f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
		f.dismantled(f.ref)
		f.nothingLeft()
	}},
	{name: "another server's VM is not adopted, whatever id a person names (I1)", run: func(f *fixture) {
		f.running()
		mistaken := f.ref
		mistaken.Identity, mistaken.Name, mistaken.ID = uuid.NewString(), f.ref.Name+"-2", ""
		spec := f.spec
		spec.Adopt = f.ref.ID
		f.quiet(func() {
			f.fails(drop(f.Actor().Create(f.ctx, mistaken, spec)), provider.Terminal, provider.ReasonRefused)
		})
		f.dismantled(f.ref)
	}},
	{name: "another cluster's VM of the identity is neither adopted nor made again", run: func(f *fixture) {
		theirs := f.ref
		theirs.Owner += "-2"
		id := f.MakeVM(f.ref.Name, tags(theirs), nil)
		f.Settle()
		f.quiet(func() {
			f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Mismatch, "")
			f.spec.Adopt = id
			f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Mismatch, "")
		})
	}},
	{name: "what is missing or malformed is named before anything is made (B204, B209)", run: func(f *fixture) {
		for what, edit := range map[string]func(*provider.InstanceSpec){
			"no-such-flavor":  func(s *provider.InstanceSpec) { s.Flavor.Name = "no-such-flavor" },
			"no-such-image":   func(s *provider.InstanceSpec) { s.Image.Name = "no-such-image" },
			"not-an-id":       func(s *provider.InstanceSpec) { s.Image = provider.Selector{ID: "not-an-id"} },
			"no-such-tag":     func(s *provider.InstanceSpec) { s.Image = provider.Selector{Tags: []string{"no-such-tag"}} },
			"no-such-network": func(s *provider.InstanceSpec) { s.Ports[0].Network.Name = "no-such-network" },
			"no-such-group": func(s *provider.InstanceSpec) {
				s.Ports[0].SecurityGroups = []provider.Selector{{Name: "no-such-group"}}
			},
			"no-such-key":          func(s *provider.InstanceSpec) { s.KeyName = "no-such-key" },
			"no-such-zone":         func(s *provider.InstanceSpec) { s.AvailabilityZone = "no-such-zone" },
			"no-such-server-group": func(s *provider.InstanceSpec) { s.ServerGroup = "no-such-server-group" },
		} {
			spec := f.spec
			spec.Ports = []provider.PortSpec{f.spec.Ports[0]}
			edit(&spec)
			f.quiet(func() {
				_, err := f.Actor().Create(f.ctx, f.ref, spec)
				if e := f.failure(err, provider.Terminal, provider.ReasonResourceMissing); !strings.Contains(e.Message, what) {
					f.Errorf("the message does not name %s: %s", what, e.Message)
				}
			})
		}
		f.nothingLeft()
	}},
	{name: "two images of one name are named, and none is taken", needs: []Feature{Duplicates}, run: func(f *fixture) {
		f.Break(TwoImages)
		f.quiet(func() {
			f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Terminal, provider.ReasonResourceAmbiguous)
		})
	}},
	{name: "user data that is too long is refused before any request, and its size is named", run: func(f *fixture) {
		f.spec.UserData = make([]byte, 50_000)
		before := f.Requests()
		e := f.failure(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Terminal, provider.ReasonUserDataTooLarge)
		if !strings.Contains(e.Message, "66668") || f.Requests() != before {
			f.Errorf("message %q, %d requests", e.Message, f.Requests()-before)
		}
	}},
	{name: "a used up quota is Terminal, and the next attempt uses the ports there are (B194)", needs: []Feature{Quotas}, run: func(f *fixture) {
		f.Break(NoQuota)
		for range 3 {
			f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Terminal, provider.ReasonQuotaExceeded)
			f.thePort()
		}
		f.Repair()
		f.create()
		f.thePort()
	}},
	{name: "a used up quota of ports is Terminal", needs: []Feature{Quotas}, run: func(f *fixture) {
		f.Break(NoPortQuota)
		f.fails(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Terminal, provider.ReasonQuotaExceeded)
		f.Repair()
		f.create()
	}},
	{name: "ports of an earlier spec give way to those of this one", needs: []Feature{Quotas}, run: func(f *fixture) {
		f.Break(NoQuota)
		spec := f.spec
		spec.Ports = []provider.PortSpec{f.spec.Ports[0], f.spec.Ports[0]}
		f.fails(drop(f.Actor().Create(f.ctx, f.ref, spec)), provider.Terminal, provider.ReasonQuotaExceeded)
		f.same("ports", 2, len(f.Ports(f.ref.Identity)))
		f.Repair()
		f.create()
		f.thePort()
	}},
}

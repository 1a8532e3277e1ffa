// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var portCases = []testCase{
	{name: "ports that say what is wanted are not written", run: func(f *fixture) {
		f.running()
		before := f.thePort().Revision
		f.quiet(func() {
			out := f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports))
			f.same("groups", [][]string{{f.Offer().GroupID}}, out.Made.SecurityGroups)
		})
		f.same("revision", before, f.thePort().Revision)
	}},
	{name: "groups that somebody changed are put back by one write, and only they", run: func(f *fixture) {
		f.running()
		f.SetGroups(f.thePort().ID)
		f.same("groups", 0, len(f.thePort().Groups))
		f.writes(1, func() { f.done(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
		f.same("groups", []string{f.Offer().GroupID}, f.thePort().Groups)
		f.quiet(func() { f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
	}},
	{name: "nil leaves groups and pairs alone, empty takes them away", run: func(f *fixture) {
		f.running()
		alone := []provider.PortSpec{{Network: f.spec.Ports[0].Network}}
		f.quiet(func() {
			out := f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, alone))
			f.same("groups", [][]string{nil}, out.Made.SecurityGroups)
		})
		none := []provider.PortSpec{{Network: f.spec.Ports[0].Network, SecurityGroups: []provider.Selector{}}}
		f.done(f.Actor().UpdatePorts(f.ctx, f.ref, none))
		f.same("groups", 0, len(f.thePort().Groups))
	}},
	{name: "address pairs are compared by what they mean", run: func(f *fixture) {
		f.spec.Ports[0].AddressPairs = []provider.AddressPair{{IP: "10.99.0.9"}, {IP: "10.98.0.0/24"}}
		f.running()
		f.quiet(func() { f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
		f.spec.Ports[0].AddressPairs = []provider.AddressPair{{IP: "10.98.0.0/24"}, {IP: "10.99.0.9/32"}}
		f.quiet(func() { f.unchanged(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
		ports, err := f.Observer().ListPorts(f.ctx, f.ref.Owner)
		if err != nil || len(ports) != 1 {
			f.Fatalf("ports %+v, %v", ports, err)
		}
		f.same("pairs", []provider.AddressPair{{IP: "10.98.0.0/24"}, {IP: "10.99.0.9"}}, ports[0].AddressPairs)
		f.spec.Ports[0].AddressPairs = []provider.AddressPair{}
		f.writes(1, func() { f.done(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)) })
	}},
	{name: "a port that is not there is a Mismatch, and is not made anew under a running VM", run: func(f *fixture) {
		f.running()
		f.RemovePort(f.thePort().ID)
		f.quiet(func() { f.fails(drop(f.Actor().UpdatePorts(f.ctx, f.ref, f.spec.Ports)), provider.Mismatch, "") })
	}},
}

var floatingIPCases = []testCase{
	{name: "a floating IP is allocated once, with its marks, and leads to the first port (B198, B201)", run: func(f *fixture) {
		f.running()
		public := provider.Selector{Name: f.Offer().Public}
		out := f.done(f.Actor().AttachFloatingIP(f.ctx, f.ref, public))
		all := f.FloatingIPs(f.ref.Identity)
		if len(all) != 1 || all[0].ID != out.Made.FloatingIP || all[0].Port != f.thePort().ID {
			f.Fatalf("floating IPs are %+v, want %s at port %s", all, out.Made.FloatingIP, f.thePort().ID)
		}
		f.has("tags", all[0].Tags, tags(f.ref)...)
		f.quiet(func() { f.unchanged(f.Actor().AttachFloatingIP(f.ctx, f.ref, public)) })
		f.quiet(func() { f.unchanged(f.Another().AttachFloatingIP(f.ctx, f.ref, public)) })
		facts, err := f.Observer().ListFloatingIPs(f.ctx, f.ref.Owner)
		if err != nil || len(facts) != 1 || facts[0].Identity != f.ref.Identity || facts[0].Address == "" || facts[0].PortID != all[0].Port {
			f.Errorf("facts are %+v, %v", facts, err)
		}
	}},
	{name: "one whose reply was lost is found, and gets its tags (B201)", needs: []Feature{Troubles}, run: func(f *fixture) {
		f.running()
		public := provider.Selector{Name: f.Offer().Public}
		f.Break(LosesReply)
		f.fails(drop(f.Actor().AttachFloatingIP(f.ctx, f.ref, public)), provider.Transient, "")
		f.Repair()
		f.unchanged(f.Actor().AttachFloatingIP(f.ctx, f.ref, public))
		all := f.FloatingIPs(f.ref.Identity)
		if len(all) != 1 {
			f.Fatalf("floating IPs are %+v, want one", all)
		}
		f.has("tags", all[0].Tags, tags(f.ref)...)
	}},
	{name: "a port that somebody gave a floating IP is left with it, and none is allocated beside it (B200)", run: func(f *fixture) {
		f.running()
		given := f.GiveFloatingIP(f.thePort().ID)
		for range 3 {
			f.fails(drop(f.Actor().AttachFloatingIP(f.ctx, f.ref, provider.Selector{Name: f.Offer().Public})), provider.Busy, "")
		}
		f.same("floating IPs of ours", 0, len(f.FloatingIPs(f.ref.Identity)))
		if fip, err := f.Observer().FloatingIP(f.ctx, given); err != nil || fip.PortID != f.thePort().ID {
			f.Errorf("the floating IP that somebody gave is %+v, %v", fip, err)
		}
	}},
	{name: "it is released, and nil means that it is gone", run: func(f *fixture) {
		f.running()
		f.done(f.Actor().AttachFloatingIP(f.ctx, f.ref, provider.Selector{Name: f.Offer().Public}))
		if err := f.Actor().ReleaseFloatingIP(f.ctx, f.ref); err != nil {
			f.Fatal(err)
		}
		f.same("floating IPs", 0, len(f.FloatingIPs(f.ref.Identity)))
		f.quiet(func() {
			if err := f.Actor().ReleaseFloatingIP(f.ctx, f.ref); err != nil {
				f.Error(err)
			}
		})
	}},
}

// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"fmt"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// longAgo is before any test.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

var lookCases = []testCase{
	{name: "the cloud tells its project, its version and its quota", run: func(f *fixture) {
		facts, err := f.Observer().Cloud(f.ctx)
		if err != nil {
			f.Fatal(err)
		}
		if facts.ProjectID == "" || facts.Project == "" || facts.ComputeMicroversion == "" || facts.Instances.Limit == 0 || facts.Cores.Limit == 0 || facts.MemoryMiB.Limit == 0 {
			f.Errorf("not all is told: %+v", facts)
		}
	}},
	{name: "what was made is listed by its owner, and tells what it is", run: func(f *fixture) {
		out := f.create()
		f.Settle()
		facts, there := f.listed(f.ref.ID, time.Time{})
		if !there {
			f.Fatal("the VM is not listed")
		}
		f.same("facts by id", facts, f.look())
		f.same("identity", f.ref.Identity, facts.Identity)
		f.same("owner", f.ref.Owner, facts.Owner)
		f.same("claim", "claim-1", facts.Claim)
		f.same("state", "ACTIVE", facts.State)
		f.same("power", provider.PowerOn, facts.Power)
		f.same("image", out.Made.ImageID, facts.ImageID)
		f.same("flavor", f.Offer().Flavor, facts.Flavor)
		if facts.VCPUs == 0 || facts.MemoryMiB == 0 || len(facts.Addresses) != 1 || facts.LaunchedAt.IsZero() || facts.CreatedAt.IsZero() || facts.Errored || facts.Deleted {
			f.Errorf("not all is told: %+v", facts)
		}
		ports, err := f.Observer().ListPorts(f.ctx, f.ref.Owner)
		if err != nil || len(ports) != 1 {
			f.Fatalf("ports are %+v, %v; want one", ports, err)
		}
		p := ports[0]
		f.same("port's identity", f.ref.Identity, p.Identity)
		f.same("port's index", 0, p.Index)
		f.same("port's device", f.ref.ID, p.DeviceID)
		f.same("port's addresses", facts.Addresses, p.FixedIPs)
		f.same("port's groups", out.Made.SecurityGroups[0], p.SecurityGroups)
		byID, err := f.Observer().Port(f.ctx, p.ID)
		if err != nil {
			f.Fatal(err)
		}
		f.same("port by id", p, byID)
	}},
	{name: "another owner's things are not listed", run: func(f *fixture) {
		f.create()
		all, err := f.Observer().ListInstances(f.ctx, f.ref.Owner+"-2", time.Time{})
		if err != nil || len(all) != 0 {
			f.Errorf("VMs of another owner: %+v, %v; want none", all, err)
		}
		ports, err := f.Observer().ListPorts(f.ctx, f.ref.Owner+"-2")
		if err != nil || len(ports) != 0 {
			f.Errorf("ports of another owner: %+v, %v; want none", ports, err)
		}
		changed, err := f.Observer().ListInstances(f.ctx, f.ref.Owner+"-2", longAgo)
		if err != nil {
			f.Fatal(err)
		}
		for _, facts := range changed {
			if !facts.Deleted {
				f.Errorf("a VM of another owner is among the changes: %+v", facts)
			}
		}
	}},
	{name: "what was deleted is among the changes by its id, and a 404 by id", run: func(f *fixture) {
		f.running()
		f.RemoveVM(f.ref.ID)
		f.Settle()
		if _, there := f.listed(f.ref.ID, time.Time{}); there {
			f.Error("a deleted VM is in the full listing")
		}
		facts, there := f.listed(f.ref.ID, longAgo)
		if !there || !facts.Deleted {
			f.Errorf("among the changes it is %+v, want it deleted", facts)
		}
		_, err := f.Observer().Instance(f.ctx, f.ref.ID)
		f.fails(err, provider.NotFound, provider.ReasonInstanceNotFound)
	}},
	{name: "what changed since is listed, and what did not is not", needs: []Feature{Time}, run: func(f *fixture) {
		f.running()
		before := f.look()
		f.LetLapse()
		since := before.LaunchedAt.Add(30 * time.Second)
		if _, there := f.listed(f.ref.ID, since); there {
			f.Error("a VM that did not change is among the changes")
		}
		f.StopVM(f.ref.ID)
		f.Settle()
		if facts, there := f.listed(f.ref.ID, since); !there || facts.Power != provider.PowerOff || facts.Identity != f.ref.Identity {
			f.Errorf("among the changes it is %+v, want it off, with its marks", facts)
		}
	}},
	{name: "a listing is read to its last page, each row once", needs: []Feature{Troubles}, run: func(f *fixture) {
		f.Break(SmallPages)
		name, identity := f.ref.Name, f.ref.Identity
		for i := range 5 {
			f.ref.Name, f.ref.Identity = fmt.Sprintf("%s-%d", name, i), fmt.Sprintf("%s%d", identity[:len(identity)-1], i)
			f.create()
		}
		all, err := f.Observer().ListInstances(f.ctx, f.ref.Owner, time.Time{})
		seen := map[string]bool{}
		for _, facts := range all {
			seen[facts.ID] = true
		}
		if err != nil || len(all) != 5 || len(seen) != 5 {
			f.Errorf("%d rows of %d VMs, %v; want five of five", len(all), len(seen), err)
		}
	}},
	{name: "what is not there is NotFound by id", run: func(f *fixture) {
		const nowhere = "0c5c5c5c-0000-4000-8000-000000000000"
		_, err := f.Observer().Instance(f.ctx, nowhere)
		f.fails(err, provider.NotFound, provider.ReasonInstanceNotFound)
		_, err = f.Observer().Port(f.ctx, nowhere)
		f.fails(err, provider.NotFound, provider.ReasonResourceMissing)
		_, err = f.Observer().FloatingIP(f.ctx, nowhere)
		f.fails(err, provider.NotFound, provider.ReasonResourceMissing)
	}},
	{name: "a 404 that a proxy wrote is no word about anything (P10)", needs: []Feature{Troubles}, run: func(f *fixture) {
		f.running()
		port := f.thePort()
		f.Break(ProxyPages)
		_, err := f.Observer().Instance(f.ctx, f.ref.ID)
		f.fails(err, provider.Transient, provider.ReasonProtocolError)
		_, err = f.Observer().Port(f.ctx, port.ID)
		f.fails(err, provider.Transient, provider.ReasonProtocolError)
		if err := f.Actor().Dismantle(f.ctx, f.ref); err == nil {
			f.Error("a proxy's 404s were taken for the end of everything")
		}
		f.Repair()
		f.theVM()
	}},
}

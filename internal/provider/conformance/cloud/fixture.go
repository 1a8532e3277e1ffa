// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// create makes the VM of the fixture, which must work, and remembers its id.
func (f *fixture) create() provider.Outcome {
	f.Helper()
	var out provider.Outcome
	call := func() (err error) {
		out, err = f.Actor().Create(f.ctx, f.ref, f.spec)
		return err
	}
	err := call()
	if f.Lacks(Time) && err != nil { // a cloud that others use may be slow
		err = f.until(call)
	}
	if err != nil {
		f.Fatalf("Create: %v", err)
	}
	if out.Made == nil || out.Made.InstanceID == "" || out.Made.ImageID == "" {
		f.Fatalf("Create tells %+v, want a VM and its image", out.Made)
	}
	f.ref.ID = out.Made.InstanceID
	return out
}

// running makes the VM of the fixture and lets it come up.
func (f *fixture) running() {
	f.Helper()
	f.create()
	f.Settle()
	if facts := f.look(); facts.State != "ACTIVE" {
		f.Fatalf("the VM is %s, want ACTIVE: %s", facts.State, facts.Fault)
	}
}

// failed makes a VM that never launches.
func (f *fixture) failed() {
	f.Helper()
	f.spec.Flavor.Name = f.Offer().Unhostable
	f.create()
	f.Settle()
	if facts := f.look(); !facts.Errored || !facts.LaunchedAt.IsZero() || facts.Fault == "" {
		f.Fatalf("the VM is %+v, want one that failed before its launch, and why", facts)
	}
}

// look takes a picture of the VM that must come.
func (f *fixture) look() provider.InstanceFacts {
	f.Helper()
	facts, err := f.Observer().Instance(f.ctx, f.ref.ID)
	if err != nil {
		f.Fatalf("Instance: %v", err)
	}
	return facts
}

// theVM is the one VM of the fixture's name, as it truly is.
func (f *fixture) theVM() VM {
	f.Helper()
	all := f.VMs(f.ref.Name)
	if len(all) != 1 {
		f.Fatalf("there are %d VMs of this name, want one: %+v", len(all), all)
	}
	return all[0]
}

// thePort is the one port of the fixture's identity, as it truly is.
func (f *fixture) thePort() Port {
	f.Helper()
	all := f.Ports(f.ref.Identity)
	if len(all) != 1 {
		f.Fatalf("there are %d ports of this identity, want one: %+v", len(all), all)
	}
	return all[0]
}

// nothingLeft wants that nothing of the fixture is at the cloud.
func (f *fixture) nothingLeft() {
	f.Helper()
	if vms, ports, fips := f.VMs(f.ref.Name), f.Ports(f.ref.Identity), f.FloatingIPs(f.ref.Identity); len(vms)+len(ports)+len(fips) > 0 {
		f.Errorf("left behind: VMs %+v, ports %+v, floating IPs %+v", vms, ports, fips)
	}
}

// until repeats call while it answers Busy, and lets the cloud go on in between.
func (f *fixture) until(call func() error) error {
	f.Helper()
	var err error
	for range 100 {
		if err = call(); provider.ClassOf(err) != provider.Busy {
			return err
		}
		f.Settle()
	}
	return err
}

// dismantled wants that all of ref comes down.
func (f *fixture) dismantled(ref provider.InstanceRef) {
	f.Helper()
	if err := f.until(func() error { return f.Actor().Dismantle(f.ctx, ref) }); err != nil {
		f.Fatalf("Dismantle: %v", err)
	}
}

// same wants two values to be equal.
func (f *fixture) same(what string, want, got any) {
	f.Helper()
	if !reflect.DeepEqual(want, got) {
		f.Errorf("%s is %+v, want %+v", what, got, want)
	}
}

// has wants each of wanted among got.
func (f *fixture) has(what string, got []string, wanted ...string) {
	f.Helper()
	for _, w := range wanted {
		if !slices.Contains(got, w) {
			f.Errorf("%s are %q, want %q among them", what, got, w)
		}
	}
}

// writes runs do, and wants so many writes.
func (f *fixture) writes(want int, do func()) {
	f.Helper()
	before := f.Writes()
	do()
	if n := f.Writes() - before; n != want {
		f.Errorf("%d writes reached the cloud, want %d", n, want)
	}
}

// quiet runs do, and wants that it wrote nothing.
func (f *fixture) quiet(do func()) {
	f.Helper()
	f.writes(0, do)
}

// done wants that an acting call was carried out.
func (f *fixture) done(out provider.Outcome, err error) provider.Outcome {
	f.Helper()
	if err != nil {
		f.Fatalf("the call failed: %v", err)
	}
	if out.Unchanged {
		f.Fatal("the call found nothing to do")
	}
	return out
}

// unchanged wants that an acting call found nothing to do.
func (f *fixture) unchanged(out provider.Outcome, err error) provider.Outcome {
	f.Helper()
	if err != nil {
		f.Fatalf("the call failed: %v", err)
	}
	if !out.Unchanged {
		f.Error("the call does not say that nothing was to be done")
	}
	return out
}

// fails wants an error of that class, and of that reason if one is given. It must be whole and hold no secret.
func (f *fixture) fails(err error, class provider.Class, reason string) {
	f.Helper()
	_ = f.failure(err, class, reason)
}

// failure is fails, and hands the error out.
func (f *fixture) failure(err error, class provider.Class, reason string) *provider.Error {
	f.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		f.Fatalf("got %v, want a provider.Error of class %s", err, class)
	}
	if e.Class != class || (reason != "" && e.Reason != reason) {
		f.Errorf("got %v, want class %s, reason %s", e, class, reason)
	}
	if e.Reason == "" || e.Message == "" || len(e.Message) >= 256 || strings.ContainsAny(e.Message, "\r\n") {
		f.Errorf("reason %q and message %q are not fit to be shown", e.Reason, e.Message)
	}
	for _, secret := range append(f.Secrets(), "canary-user-data") {
		if strings.Contains(e.Error(), secret) {
			f.Errorf("the error shows a secret: %v", e)
		}
	}
	return e
}

func drop(_ provider.Outcome, err error) error { return err }

// tags are those that what belongs to ref must bear.
func tags(ref provider.InstanceRef) []string {
	return []string{provider.TagIdentity + ref.Identity, provider.TagOwner + ref.Owner}
}

// listed is the VM of that id in a listing, if it is there.
func (f *fixture) listed(id string, since time.Time) (provider.InstanceFacts, bool) {
	f.Helper()
	all, err := f.Observer().ListInstances(f.ctx, f.ref.Owner, since)
	if err != nil {
		f.Fatalf("ListInstances: %v", err)
	}
	i := slices.IndexFunc(all, func(facts provider.InstanceFacts) bool { return facts.ID == id })
	if i < 0 {
		return provider.InstanceFacts{}, false
	}
	return all[i], true
}

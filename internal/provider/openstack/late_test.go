// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// TestAFloatingIPThatComesLateGoesWithItsServer: a former leader's allocation is carried out after the one who dismantles has looked for
// floating IPs, and before the port is gone. It is released all the same (I3).
func TestAFloatingIPThatComesLateGoesWithItsServer(t *testing.T) {
	r := newRace(t)
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); err != nil {
		t.Fatal(err)
	}
	r.Settle()
	atAllocation, allocate := stopAt(r.another, http.MethodPost, "/floatingips$")
	attached := make(chan error, 1)
	go func() {
		_, err := r.another.Actor().AttachFloatingIP(context.Background(), r.ref, provider.Selector{Name: r.offer.Public})
		attached <- err
	}()
	<-atAllocation
	atPort, removePort := stopAt(r.one, http.MethodDelete, "/ports/")
	dismantled := make(chan error, 1)
	go func() {
		var err error
		for range 100 {
			if err = r.one.Actor().Dismantle(context.Background(), r.ref); provider.ClassOf(err) != provider.Busy {
				break
			}
			r.Settle()
		}
		dismantled <- err
	}()
	<-atPort
	allocate()
	if err := <-attached; err != nil {
		t.Fatalf("the late allocation: %v", err)
	}
	removePort()
	if err := <-dismantled; err != nil {
		t.Fatal(err)
	}
	if ips, ports := r.FloatingIPs(r.ref.Identity), r.Ports(r.ref.Identity); len(ips)+len(ports) > 0 {
		t.Errorf("left behind: floating IPs %+v, ports %+v", ips, ports)
	}
}

// TestAPortThatComesLateIsWaitedFor: a request for a port runs past its deadline, and is carried out after that. Nothing is asked for
// beside it meanwhile, and in the end there is one port, in the VM (B192).
func TestAPortThatComesLateIsWaitedFor(t *testing.T) {
	r := newRace(t)
	if _, err := r.sim.Inject(sim.Fault{Kind: sim.FaultDelay, Method: http.MethodPost, Path: "/ports$", Delay: clock.Duration(2 * time.Second), Count: 1}); err != nil {
		t.Fatal(err)
	}
	hasty, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := r.one.Actor().Create(hasty, r.ref, r.spec); provider.ClassOf(err) != provider.Transient {
		t.Fatalf("the request that got no answer: %v", err)
	}
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Busy {
		t.Fatalf("while it may be carried out yet: %v", err)
	}
	r.waitFor("the late port", func() bool { return len(r.Ports(r.ref.Identity)) > 0 })
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); err != nil {
		t.Fatalf("once it came: %v", err)
	}
	r.onlyOne(t)
}

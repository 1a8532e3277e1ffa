// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
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

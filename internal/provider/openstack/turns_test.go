// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// B207: three VMs of one server group, asked for at once. In turn, each is asked for when the one before has a host and not earlier; where
// nobody asked for turns they come as they come.
func TestVMsOfAServerGroupAreMadeInTurn(t *testing.T) {
	for name, test := range map[string]struct {
		serial  bool
		waiting int // VMs without a host, at most, when another is asked for
	}{"serial": {serial: true, waiting: 0}, "parallel": {serial: false, waiting: 2}} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t)
			r.spec.ServerGroup, r.spec.Serial = r.serverGroup(t), test.serial
			var atOnce, overlaps atomic.Int32
			var mu sync.Mutex
			waiting := 0
			r.one.Through(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(request *http.Request) (*http.Response, error) {
					if request.Method != http.MethodPost || !strings.HasSuffix(request.URL.Path, "/servers") {
						return next.RoundTrip(request)
					}
					if atOnce.Add(1) > 1 {
						overlaps.Add(1)
					}
					defer atOnce.Add(-1)
					mu.Lock()
					waiting = max(waiting, r.withoutHost())
					mu.Unlock()
					return next.RoundTrip(request)
				})
			})
			var all sync.WaitGroup
			for _, vm := range []string{"web-1", "web-2", "web-3"} {
				all.Go(func() { r.untilMade(t, provider.InstanceRef{Identity: uuid.NewString(), Owner: r.owner, Name: vm}) })
			}
			all.Wait()
			if test.serial && overlaps.Load() > 0 {
				t.Errorf("%d requests for a VM while another was on its way", overlaps.Load())
			}
			if waiting > test.waiting {
				t.Errorf("a VM was asked for while %d had no host, want %d at most", waiting, test.waiting)
			}
			if !test.serial && waiting == 0 {
				t.Error("without turns none was asked for while another had no host: this test shows nothing")
			}
		})
	}
}

// A request of unknown outcome keeps the group's turn for as long as it may be carried out.
func TestALostReplyKeepsTheTurn(t *testing.T) {
	r := newRace(t)
	r.spec.ServerGroup, r.spec.Serial = r.serverGroup(t), true
	if _, err := r.sim.Inject(sim.Fault{Kind: sim.FaultDropReply, Method: http.MethodPost, Path: "/servers$", Count: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Transient {
		t.Fatalf("the request without an answer: %v", err)
	}
	next := provider.InstanceRef{Identity: uuid.NewString(), Owner: r.owner, Name: "web-2"}
	_, err := r.one.Actor().Create(t.Context(), next, r.spec)
	if provider.ClassOf(err) != provider.Busy || !strings.Contains(err.Error(), "server group") {
		t.Fatalf("the next of the group: %v, want Busy", err)
	}
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); err != nil {
		t.Errorf("the VM whose reply was lost is not found: %v", err)
	}
	r.LetLapse()
	if _, err := r.one.Actor().Create(t.Context(), next, r.spec); err != nil {
		t.Errorf("later: %v", err)
	}
}

// untilMade asks for the VM as a reconciler does: again after a while where the cloud has no time.
func (r *race) untilMade(t *testing.T, ref provider.InstanceRef) {
	for range 200 {
		_, err := r.one.Actor().Create(t.Context(), ref, r.spec)
		if err == nil {
			return
		}
		if provider.ClassOf(err) != provider.Busy {
			t.Errorf("%s: %v", ref.Name, err)
			return
		}
		r.clock.Advance(100 * time.Millisecond)
	}
	t.Errorf("%s is never made", ref.Name)
}

// withoutHost counts the VMs for which the cloud looks for a host.
func (r *race) withoutHost() (n int) {
	for _, vm := range r.sim.Servers() {
		if vm.Task == "scheduling" {
			n++
		}
	}
	return n
}

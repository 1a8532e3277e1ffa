// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"context"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// race is two processes at one simulated cloud, each of which can be stopped at a request of its.
type race struct {
	*simulated
	ref  provider.InstanceRef
	spec provider.InstanceSpec
}

func newRace(t *testing.T) *race {
	s := newSimulated(t, nil, (*sim.Cloud).CloudsYAML)
	return &race{
		simulated: s,
		ref:       provider.InstanceRef{Identity: uuid.NewString(), Owner: s.owner, Name: "web"},
		spec: provider.InstanceSpec{
			Flavor: provider.Selector{Name: s.offer.Flavor}, Image: provider.Selector{Name: s.offer.Image},
			Ports: []provider.PortSpec{{Network: provider.Selector{Name: s.offer.Network}}},
		},
	}
}

// stopAt stops c at its first request that matches. arrived tells when it is there; calling goOn lets it go on.
func stopAt(c *openstack.Cloud, method, path string) (arrived <-chan struct{}, goOn func()) {
	here, open := make(chan struct{}), make(chan struct{})
	wanted := regexp.MustCompile(path)
	var once sync.Once
	c.Through(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == method && wanted.MatchString(r.URL.Path) {
				once.Do(func() {
					close(here)
					<-open
				})
			}
			return next.RoundTrip(r)
		})
	})
	return here, func() { close(open) }
}

func (r *race) start(c *openstack.Cloud) (done <-chan error) {
	out := make(chan error, 1)
	go func() {
		_, err := c.Actor().Create(context.Background(), r.ref, r.spec)
		out <- err
	}()
	return out
}

// onlyOne wants that, in the end, there is one VM with one port.
func (r *race) onlyOne(t *testing.T) {
	t.Helper()
	r.LetLapse()
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); err != nil {
		t.Fatal(err)
	}
	if vms, ports := r.VMs("web"), r.Ports(r.ref.Identity); len(vms) != 1 || len(ports) != 1 {
		t.Errorf("there are VMs %+v and ports %+v, want one each", vms, ports)
	}
}

// TestAProcessThatIsAboutToAskHoldsTheOthers: it stands right before its POST, and nobody else comes by (I3, B184, B189).
func TestAProcessThatIsAboutToAskHoldsTheOthers(t *testing.T) {
	r := newRace(t)
	arrived, goOn := stopAt(r.another, http.MethodPost, "/servers$")
	slow := r.start(r.another)
	<-arrived
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Busy {
		t.Errorf("while another is about to ask: %v, want Busy", err)
	}
	goOn()
	if err := <-slow; err != nil {
		t.Errorf("the one that held the lease: %v", err)
	}
	r.onlyOne(t)
}

// TestPortsThatAreMadeAtOnce: both saw that there is no port, and the one that comes second sees the other's lease (I3, B250).
func TestPortsThatAreMadeAtOnce(t *testing.T) {
	r := newRace(t)
	atPort, goOnPort := stopAt(r.one, http.MethodPost, "/ports$")
	atPost, goOnPost := stopAt(r.another, http.MethodPost, "/servers$")
	second := r.start(r.one)
	<-atPort
	first := r.start(r.another)
	<-atPost
	goOnPort()
	if err := <-second; provider.ClassOf(err) != provider.Busy {
		t.Errorf("the one that came second: %v, want Busy", err)
	}
	if ports := r.Ports(r.ref.Identity); len(ports) != 1 {
		t.Errorf("ports are %+v, want the first one's alone", ports)
	}
	goOnPost()
	if err := <-first; err != nil {
		t.Errorf("the one that came first: %v", err)
	}
	r.onlyOne(t)
}

// TestOneOfTwoTakesTheLeaseOfAPort: both found the same free port, and Neutron's revision lets one of them have it.
func TestOneOfTwoTakesTheLeaseOfAPort(t *testing.T) {
	r := newRace(t)
	r.sim.SetQuotas(func(q *sim.Quotas) { q.Instances = 0 })
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Terminal {
		t.Fatalf("without quota: %v", err)
	}
	r.sim.SetQuotas(func(q *sim.Quotas) { q.Instances = 10 })
	r.LetLapse()
	arrived, goOn := stopAt(r.another, http.MethodPut, "/ports/")
	slow := r.start(r.another)
	<-arrived // it has read the port, and not written its lease
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); err != nil {
		t.Fatal(err)
	}
	goOn()
	if err := <-slow; provider.ClassOf(err) != provider.Busy {
		t.Errorf("the one whose revision was old: %v, want Busy", err)
	}
	r.onlyOne(t)
}

// TestARenewalServesAllWhoWaitForIt: several find out at once, one of them logs in for all, and the one who stays gets its answer even if
// it was one of the others who asked for the login and went (B176, B177).
func TestARenewalServesAllWhoWaitForIt(t *testing.T) {
	for range 20 { // which of them asks for the login is chance
		renewTogether(t, 5)
	}
}

func renewTogether(t *testing.T, callers int) {
	t.Helper()
	r := newRace(t)
	if _, err := r.one.Observer().ListPorts(t.Context(), r.owner); err != nil {
		t.Fatal(err)
	}
	r.sim.RevokeTokens()
	together(r.one, callers)
	arrived, goOn := stopAt(r.one, http.MethodPost, "/auth/tokens$")
	answers := make(chan error, callers)
	leaving, leave := context.WithCancel(t.Context())
	for i := range callers {
		ctx := leaving
		if i == 0 {
			ctx = t.Context()
		}
		go func() {
			_, err := r.one.Observer().ListPorts(ctx, r.owner)
			if ctx != leaving {
				answers <- err
			}
		}()
	}
	<-arrived
	leave()
	goOn()
	if err := <-answers; err != nil {
		t.Errorf("the one who stayed: %v", err)
	}
	logins, err := r.sim.Requests(sim.RequestFilter{Method: http.MethodPost, Path: "/auth/tokens$"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(logins); n != 3 { // the person's, the first one, and the renewal
		t.Errorf("%d logins, want three", n)
	}
}

// together has the next listings of ports sent only when so many are there.
func together(c *openstack.Cloud, count int) {
	var mu sync.Mutex
	all := make(chan struct{})
	c.Through(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				mu.Lock()
				if count--; count == 0 {
					close(all)
				}
				mu.Unlock()
				<-all
			}
			return next.RoundTrip(r)
		})
	})
}

// TestAVMThatComesWhileAllIsTakenDownIsSeen: it was asked for before its port went, and goes with the next call (I3).
func TestAVMThatComesWhileAllIsTakenDownIsSeen(t *testing.T) {
	r := newRace(t)
	atPost, goOnPost := stopAt(r.another, http.MethodPost, "/servers$")
	atDelete, goOnDelete := stopAt(r.one, http.MethodDelete, "/ports/")
	making := r.start(r.another)
	<-atPost
	taking := make(chan error, 1)
	go func() { taking <- r.one.Actor().Dismantle(t.Context(), r.ref) }()
	<-atDelete
	goOnPost()
	if err := <-making; err != nil {
		t.Fatal(err)
	}
	goOnDelete()
	if err := <-taking; provider.ClassOf(err) != provider.Busy {
		t.Errorf("a VM came to be meanwhile: %v, want Busy", err)
	}
	for range 5 {
		r.Settle()
		if err := r.one.Actor().Dismantle(t.Context(), r.ref); err == nil {
			break
		}
	}
	if vms, ports := r.VMs("web"), r.Ports(r.ref.Identity); len(vms)+len(ports) > 0 {
		t.Errorf("left behind: %+v %+v", vms, ports)
	}
}

// TestARevisionThatNeutronDoesNotHonour: both found the same free port and name its revision, and both are answered 200, as Neutron does
// where they write at once. The one that came second knows it by the revision in its answer, asks for nothing, and does not take the lease
// that it overwrote for lapsed (I3).
func TestARevisionThatNeutronDoesNotHonour(t *testing.T) {
	r := newRace(t)
	r.sim.SetQuotas(func(q *sim.Quotas) { q.Instances = 0 })
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Terminal {
		t.Fatalf("without quota: %v", err)
	}
	r.sim.SetQuotas(func(q *sim.Quotas) { q.Instances = 10 })
	r.LetLapse()
	r.one.Through(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(q *http.Request) (*http.Response, error) {
			q.Header.Del("If-Match")
			return next.RoundTrip(q)
		})
	})
	atLease, goOnLease := stopAt(r.one, http.MethodPut, "/ports/")
	atPost, goOnPost := stopAt(r.another, http.MethodPost, "/servers$")
	second := r.start(r.one)
	<-atLease // it has read the port, and not written its lease
	first := r.start(r.another)
	<-atPost // it holds the lease, and is about to ask
	goOnLease()
	if err := <-second; provider.ClassOf(err) != provider.Busy {
		t.Errorf("the one that wrote second: %v, want Busy", err)
	}
	if _, err := r.one.Actor().Create(t.Context(), r.ref, r.spec); provider.ClassOf(err) != provider.Busy {
		t.Errorf("and again, while the first one may be asking: %v, want Busy", err)
	}
	goOnPost()
	if err := <-first; err != nil {
		t.Errorf("the one that wrote first: %v", err)
	}
	r.onlyOne(t)
}

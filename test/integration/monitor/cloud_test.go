// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/monitor"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/internal/testenv"
	"github.com/holdfast-dev/holdfast/test/harness"
)

const cluster = "cluster-of-this-test"

// project is a simulated cloud on the wire, the provider that speaks to it, and how often the monitor looked at it.
type project struct {
	*sim.Cloud
	name  string
	pool  *openstack.Pool
	looks atomic.Int64
}

func newProject(t *testing.T, name string) *project {
	t.Helper()
	cloud, err := sim.Start(sim.Config{Timing: &sim.Timing{}})
	if err != nil {
		t.Fatal(err)
	}
	p := &project{Cloud: cloud, name: name, pool: openstack.NewPool(openstack.Options{RequestsPerSecond: 1e6})}
	t.Cleanup(func() {
		if err := p.pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *project) open() (*openstack.Cloud, error) {
	credentials := openstack.Credentials{CloudsYAML: p.CloudsYAML(), Version: "1"}
	return p.pool.Cloud(p.name, openstack.Endpoint{CloudName: sim.CloudName}, credentials)
}

// ForCloud implements monitor.CloudObservers.
func (p *project) ForCloud(_ context.Context, cloud *v1alpha1.Cloud) (provider.CloudObserver, error) {
	if cloud.Name != p.name {
		return nil, fmt.Errorf("cloud %s is another test's", cloud.Name)
	}
	opened, err := p.open()
	if err != nil {
		return nil, err
	}
	return lookCounter{opened.Observer(), &p.looks}, nil
}

// Forget implements monitor.CloudObservers.
func (p *project) Forget(ctx context.Context, name string) { p.pool.Forget(ctx, name) }

// lookCounter counts looks: each has one listing of ports.
type lookCounter struct {
	provider.CloudObserver

	looks *atomic.Int64
}

// ListPorts implements provider.CloudObserver.
func (c lookCounter) ListPorts(ctx context.Context, owner string) ([]provider.PortFacts, error) {
	c.looks.Add(1)
	return c.CloudObserver.ListPorts(ctx, owner)
}

// populate makes VMs, and the objects of their servers as they are after a long time.
func (p *project) populate(t *testing.T, count int) []client.Object {
	t.Helper()
	opened, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	api := admin(t)
	objects := []client.Object{&v1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Name: p.name},
		Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: p.name}, CloudName: sim.CloudName},
	}}
	servers := make([]client.Object, count)
	var makers errgroup.Group
	makers.SetLimit(16)
	for i := range count {
		makers.Go(func() error {
			name := fmt.Sprintf("%s-%04d", p.name, i)
			ref := provider.InstanceRef{Identity: "identity-of-" + name, Owner: cluster, Name: name}
			made, err := opened.Actor().Create(t.Context(), ref, provider.InstanceSpec{
				Flavor: provider.Selector{Name: "m1.small"}, Image: provider.Selector{Name: "debian-12"},
				Ports: []provider.PortSpec{{Network: provider.Selector{Name: "private"}}},
			})
			if err != nil {
				return err
			}
			servers[i] = virtual(name, p.name, ref.Identity, made.Made.InstanceID)
			return api.Create(t.Context(), servers[i])
		})
	}
	if err := makers.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := api.Create(t.Context(), objects[0]); err != nil {
		t.Fatal(err)
	}
	objects = append(objects, servers...)
	t.Cleanup(func() {
		var removers errgroup.Group
		removers.SetLimit(16)
		for _, object := range objects {
			removers.Go(func() error {
				remove(t, object)
				return nil
			})
		}
		_ = removers.Wait() // each tells its own failure
	})
	return servers
}

func virtual(name, cloud, identity, id string) *v1alpha1.Server {
	return &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{ledger.KeyIdentity: identity, ledger.KeyProviderID: id}},
		Spec: v1alpha1.ServerSpec{OpenStack: &v1alpha1.OpenStackServer{
			CloudRef: v1alpha1.LocalObjectReference{Name: cloud},
			Flavor:   v1alpha1.FlavorSelector{Name: "m1.small"}, Image: v1alpha1.ResourceSelector{Name: "debian-12"},
			Networks: []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
		}},
	}
}

// reads counts what a cloud was asked, by service and route; logging in is left out.
func (p *project) reads(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, total := range p.Totals() {
		if total.Service != "identity" && total.Method == "GET" {
			counts[total.Service+" "+total.Route] += total.Count
		}
	}
	return counts
}

// after waits for that many looks more.
func (p *project) after(t *testing.T, looks int64) {
	t.Helper()
	until := p.looks.Load() + looks
	testenv.Eventually(t, fmt.Sprintf("%d looks more", looks), func(context.Context) error {
		if now := p.looks.Load(); now < until {
			return fmt.Errorf("%d to come", until-now)
		}
		return nil
	})
}

// The requests of a look at a cloud are those of three listings, whatever the number of VMs, but for the pages of a full one: over the
// wire, with the provider's own requests. And a fleet at rest costs no write.
func TestAFleetOfVMsCostsTheSameRequests(t *testing.T) {
	const looks = 10
	const few = 10
	many := harness.FleetSize(t, 200)
	atRest := map[int]map[string]string{}
	for _, count := range []int{few, many} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			p := newProject(t, fmt.Sprintf("bulk%d", count))
			servers := p.populate(t, count)
			made := p.reads(t)
			before := writesOfMonitors(t)
			open(t, newRack(), nil, nil, func(o *monitor.Options) {
				o.Clouds, o.ClusterID = p, cluster
				o.Cadence.Clouds = monitor.DefaultCloudCadence()
				o.Cadence.Clouds.Slow, o.Cadence.Clouds.Floor, o.Cadence.Clouds.Overlap = 100*time.Millisecond, 20*time.Millisecond, time.Millisecond
			})
			began := time.Now()
			for _, server := range []client.Object{servers[0], servers[count-1]} {
				eventuallySeen(t, server.GetName(), "running", func(o *v1alpha1.ServerObserved) bool {
					return o.Reachable && o.PowerState == v1alpha1.ObservedOn && o.Instance != nil && o.Instance.Exists && len(o.Ports) == 1
				})
			}
			p.after(t, 3)
			first := p.reads(t)
			wrote := writesOfMonitors(t) - before
			t.Logf("%4d VMs: all seen and written (%d writes) within %.1fs; reads until then: %v", count, wrote, time.Since(began).Seconds(), less(first, made))
			if wrote != count+1 {
				t.Errorf("%d writes for %d servers and their cloud, want one each", wrote, count)
			}
			start := p.looks.Load()
			p.after(t, looks)
			asked, during := less(p.reads(t), first), p.looks.Load()-start
			atRest[count] = perLook(asked, during)
			t.Logf("%4d VMs at rest: requests a look, by route: %v", count, atRest[count])
			if more := writesOfMonitors(t) - before - wrote; more > 0 {
				t.Errorf("%d writes at rest", more)
			}
		})
	}
	if diff := cmp.Diff(atRest[few], atRest[many]); diff != "" {
		t.Errorf("a look costs different requests for %d and for %d VMs:\n%s", few, many, diff)
	}
	for route := range atRest[many] {
		if strings.Contains(route, "{") {
			t.Errorf("%s: a GET by id of what is listed", route)
		}
	}
}

func less(now, then map[string]int) map[string]int {
	difference := map[string]int{}
	for _, route := range slices.Sorted(maps.Keys(now)) {
		if more := now[route] - then[route]; more > 0 {
			difference[route] = more
		}
	}
	return difference
}

// perLook rounds to whole requests: a look that is under way when counting ends has part of its own.
func perLook(counts map[string]int, looks int64) map[string]string {
	rounded := map[string]string{}
	for route, count := range counts {
		rounded[route] = fmt.Sprintf("%.0f", float64(count)/float64(looks))
	}
	return rounded
}

// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/conformance/cloud"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// TestConformance runs the suite of all clouds over the simulator. Its cases show, by group: look (B088, B190), create (B186, B187, B189,
// B190, B194, B197, B204, B209), once (B184, B187, B189), failed (B040, B192, B202), dismantle (B040, B042, B088, B195), ports (B250),
// floating-ip (B198, B200, B201), trouble (B176, B177, B210, B212).
func TestConformance(t *testing.T) {
	for _, shape := range []struct {
		name   string
		config func(*sim.Config)
		login  func(*sim.Cloud) []byte
	}{
		{name: "password", login: (*sim.Cloud).CloudsYAML},
		{name: "application credential", login: func(c *sim.Cloud) []byte { yaml, _ := c.CredentialYAML("holdfast"); return yaml }},
		{name: "small pages", config: func(c *sim.Config) { c.Behaviour.PageSize, c.Behaviour.ImagePage = 1, 1 }, login: (*sim.Cloud).CloudsYAML},
	} {
		t.Run(shape.name, func(t *testing.T) {
			cloud.Run(t, func(t testing.TB) cloud.Project { return newSimulated(t, shape.config, shape.login) })
		})
	}
}

// TestConformanceOfARealCloud runs the suite over the cloud of that name in a clouds.yaml, both named by the environment.
func TestConformanceOfARealCloud(t *testing.T) {
	file, name := os.Getenv("HOLDFAST_CLOUDS_YAML"), os.Getenv("HOLDFAST_CLOUD")
	if file == "" || name == "" {
		t.Skip("no real cloud: HOLDFAST_CLOUDS_YAML and HOLDFAST_CLOUD name none")
	}
	yaml, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cloud.Run(t, func(t testing.TB) cloud.Project { return newReal(t, yaml, name) })
}

// bed is what both kinds of projects have.
type bed struct {
	*person
	*line
	owner        string
	one, another *openstack.Cloud
}

func newBed(t testing.TB, ep openstack.Endpoint, yaml []byte, now func() time.Time, offer cloud.Offer) *bed {
	t.Helper()
	b := &bed{person: newPerson(t, yaml, ep.CloudName, offer), line: newLine(), owner: "conf-" + uuid.NewString()[:8]}
	for _, slot := range []**openstack.Cloud{&b.one, &b.another} {
		pool := openstack.NewPool(openstack.Options{Clock: now, RequestsPerSecond: 1000})
		c, err := pool.Cloud("cloud", ep, openstack.Credentials{CloudsYAML: yaml, Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		c.Through(b.wrap)
		*slot = c
		t.Cleanup(func() {
			if err := pool.Close(ctx()); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	return b
}

func (b *bed) Observer() provider.CloudObserver { return b.one.Observer() }
func (b *bed) Actor() provider.CloudActor       { return b.one.Actor() }
func (b *bed) Another() provider.CloudActor     { return b.another.Actor() }
func (b *bed) Owner() string                    { return b.owner }
func (b *bed) Offer() cloud.Offer               { return b.offer }

// simulated is a project of a simulated cloud of its own, on a clock that stands still.
type simulated struct {
	*bed
	sim   *sim.Cloud
	clock *clock.Manual
}

const simPassword = "canary-password"

func newSimulated(t testing.TB, config func(*sim.Config), login func(*sim.Cloud) []byte) *simulated {
	t.Helper()
	c := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	timing := sim.Timing{
		Schedule: time.Second, Spawn: 3 * time.Second, Rebuild: 4 * time.Second,
		PowerOn: time.Second, PowerOff: time.Second, Reboot: time.Second, Delete: time.Second,
	}
	inventory := sim.DefaultInventory()
	inventory.Users[0].Password = simPassword
	setup := sim.Config{Clock: c, Timing: &timing, Inventory: &inventory}
	if config != nil {
		config(&setup)
	}
	s, err := sim.Start(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	b := newBed(t, openstack.Endpoint{CloudName: sim.CloudName}, login(s), c.Now, cloud.Offer{
		Flavor: "m1.tiny", Unhostable: "m1.huge", Image: "debian-12", OtherImage: "debian-13", BrokenImage: "broken",
		Network: "private", Public: "public", Group: "default", Zone: "nova",
	})
	return &simulated{bed: b, sim: s, clock: c}
}

func (s *simulated) Settle()                  { s.clock.Advance(10 * time.Second) }
func (s *simulated) LetLapse()                { s.clock.Advance(2 * time.Minute) }
func (s *simulated) Lacks(cloud.Feature) bool { return false }
func (s *simulated) Secrets() []string        { return []string{simPassword, "X-Auth-Token", "adminPass"} }

func (s *simulated) Break(trouble cloud.Trouble) {
	switch trouble {
	case cloud.NoQuota:
		s.sim.SetQuotas(func(q *sim.Quotas) { q.Instances = 0 })
	case cloud.NoPortQuota:
		s.sim.SetQuotas(func(q *sim.Quotas) { q.Ports = 0 })
	case cloud.TwoImages:
		s.sim.AddImage(sim.Image{Name: s.offer.Image})
	default:
		s.line.Break(trouble)
	}
}

func (s *simulated) Repair() {
	s.sim.SetQuotas(func(q *sim.Quotas) { *q = sim.DefaultInventory().Quotas })
	s.line.Repair()
}

// actual is a project of a real cloud, shared with others.
type actual struct {
	*bed
	lapsed *atomic.Int64 // what the provider's clock is ahead by
}

func newReal(t testing.TB, yaml []byte, name string) *actual {
	t.Helper()
	lapsed := &atomic.Int64{}
	now := func() time.Time { return time.Now().Add(time.Duration(lapsed.Load())) }
	b := newBed(t, openstack.Endpoint{CloudName: name}, yaml, now, cloud.Offer{
		Flavor: "osci.tiny", Unhostable: "osci.huge", Image: "osci-image-a", OtherImage: "osci-image-b", BrokenImage: "osci-broken",
		Network: "private", Public: "public", Group: "default", Zone: "nova",
	})
	t.Cleanup(func() { b.clearUp(b.owner) })
	return &actual{bed: b, lapsed: lapsed}
}

func (r *actual) Settle()           { r.settle(r.owner) }
func (r *actual) LetLapse()         { r.lapsed.Add(int64(2 * time.Minute)) }
func (r *actual) Secrets() []string { return []string{"X-Auth-Token", "adminPass"} }

func (r *actual) Lacks(feature cloud.Feature) bool {
	return feature == cloud.Quotas || feature == cloud.Duplicates || feature == cloud.Time
}

// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func startSim(t *testing.T, config sim.Config) *sim.Cloud {
	t.Helper()
	s, err := sim.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func newPool(t *testing.T, opts openstack.Options) *openstack.Pool {
	t.Helper()
	pool := openstack.NewPool(opts)
	t.Cleanup(func() { _ = pool.Close(ctx()) })
	return pool
}

var simEndpoint = openstack.Endpoint{CloudName: sim.CloudName}

func inject(t *testing.T, s *sim.Cloud, f sim.Fault) {
	t.Helper()
	if _, err := s.Inject(f); err != nil {
		t.Fatal(err)
	}
}

// TestACloudIsItsCredentials: the same ones get the same login, a new version of the secret a new one at once (B179, B180), and what was
// forgotten sends nothing more.
func TestACloudIsItsCredentials(t *testing.T) {
	s := startSim(t, sim.Config{})
	pool := newPool(t, openstack.Options{})
	cred := openstack.Credentials{CloudsYAML: s.CloudsYAML(), Version: "1"}
	one, err := pool.Cloud("a", simEndpoint, cred)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := pool.Cloud("a", simEndpoint, cred); err != nil || again != one {
		t.Errorf("the same credentials gave another connection, %v", err)
	}
	if _, err := one.Observer().Cloud(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetPassword("demo", "rotated")
	s.RevokeTokens()
	if _, err := one.Observer().Cloud(t.Context()); provider.ClassOf(err) != provider.Denied {
		t.Errorf("with the old password: %v, want Denied", err)
	}
	two, err := pool.Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML(), Version: "2"})
	if err != nil || two == one {
		t.Fatalf("another version gave the same connection, %v", err)
	}
	if _, err := two.Observer().Cloud(t.Context()); err != nil {
		t.Errorf("with the new password: %v", err)
	}
	if _, err := one.Observer().Cloud(t.Context()); provider.ClassOf(err) != provider.Denied && provider.ClassOf(err) != provider.Transient {
		t.Errorf("a connection that was replaced: %v", err)
	}
	pool.Forget(t.Context(), "a")
	if _, err := two.Observer().Cloud(t.Context()); provider.ClassOf(err) != provider.Transient {
		t.Errorf("a cloud that was forgotten: %v, want Transient", err)
	}
}

// TestAPasswordIsNotTriedForEver: a refusal is remembered, for a pause that grows, whatever is asked in between (B176).
func TestAPasswordIsNotTriedForEver(t *testing.T) {
	s := startSim(t, sim.Config{})
	yaml := s.CloudsYAML()
	s.SetPassword("demo", "another")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pool := newPool(t, openstack.Options{Clock: func() time.Time { return now }})
	c, err := pool.Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: yaml})
	if err != nil {
		t.Fatal(err)
	}
	for minute, want := range []int{1, 2, 2, 3, 3, 3, 3, 4} {
		for range 5 {
			if _, err := c.Observer().Cloud(t.Context()); provider.ClassOf(err) != provider.Denied {
				t.Fatalf("got %v, want Denied", err)
			}
		}
		logins, err := s.Requests(sim.RequestFilter{Method: http.MethodPost})
		if err != nil || len(logins) != want {
			t.Fatalf("%d logins after %d minutes, want %d", len(logins), minute, want)
		}
		now = now.Add(time.Minute)
	}
}

// TestCertificates: a cloud is believed by the authority of its object, and not without.
func TestCertificates(t *testing.T) {
	s := startSim(t, sim.Config{TLS: true})
	pool := newPool(t, openstack.Options{})
	trusted := simEndpoint
	trusted.CABundle = s.CAPEM()
	for name, c := range map[string]struct {
		ep   openstack.Endpoint
		yaml []byte
		want provider.Class
	}{
		"without":         {simEndpoint, s.CloudsYAML(), provider.Denied},
		"with its bundle": {trusted, s.CloudsYAML(), ""},
		"verify: false":   {simEndpoint, bytes.Replace(s.CloudsYAML(), []byte("    interface:"), []byte("    verify: false\n    interface:"), 1), ""},
	} {
		cloud, err := pool.Cloud(name, c.ep, openstack.Credentials{CloudsYAML: c.yaml})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = cloud.Observer().Cloud(t.Context()); provider.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want class %q", name, err, c.want)
		}
	}
	broken := simEndpoint
	broken.CABundle = []byte("no certificate")
	if _, err := pool.Cloud("broken", broken, openstack.Credentials{CloudsYAML: s.CloudsYAML()}); provider.ClassOf(err) != provider.Terminal {
		t.Errorf("a bundle without a certificate: %v", err)
	}
}

// TestAServiceThatNobodyUsesMayBeMissing (B205): one that is used is named.
func TestAServiceThatNobodyUsesMayBeMissing(t *testing.T) {
	s := startSim(t, sim.Config{Behaviour: sim.Behaviour{WithoutServices: []string{"image"}}})
	c, err := newPool(t, openstack.Options{}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Observer().ListInstances(t.Context(), "owner", time.Time{}); err != nil {
		t.Error(err)
	}
	_, err = c.Actor().Create(t.Context(), provider.InstanceRef{Identity: "i", Owner: "o", Name: "web"}, provider.InstanceSpec{
		Flavor: provider.Selector{Name: "m1.tiny"}, Image: provider.Selector{Name: "debian-12"}, Ports: []provider.PortSpec{{Network: provider.Selector{Name: "private"}}},
	})
	if provider.ClassOf(err) != provider.Terminal || !strings.Contains(err.Error(), "image") {
		t.Errorf("without an image service: %v", err)
	}
}

// TestRequestsEnd: a cloud that accepts and never answers costs one RequestTimeout, whatever the caller's patience (B176).
func TestRequestsEnd(t *testing.T) {
	s := startSim(t, sim.Config{})
	c, err := newPool(t, openstack.Options{RequestTimeout: 200 * time.Millisecond}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	inject(t, s, sim.Fault{Kind: sim.FaultHang, Path: "servers/detail"})
	begun := time.Now()
	_, err = c.Observer().ListInstances(t.Context(), "owner", time.Time{})
	if provider.ClassOf(err) != provider.Transient || !strings.Contains(err.Error(), provider.ReasonTimeout) {
		t.Errorf("got %v, want Transient (Timeout)", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	inject(t, s, sim.Fault{Kind: sim.FaultHang, Path: "auth/tokens"})
	s.RevokeTokens()
	s.ClearFaults()
	inject(t, s, sim.Fault{Kind: sim.FaultHang, Path: "auth/tokens"})
	if _, err = c.Observer().Cloud(t.Context()); provider.ClassOf(err) != provider.Transient {
		t.Errorf("a login that hangs: %v", err)
	}
}

// TestRequestsAreCounted by service, method and outcome, and by nothing that could hold a secret.
func TestRequestsAreCounted(t *testing.T) {
	s := startSim(t, sim.Config{})
	registry := prometheus.NewRegistry()
	c, err := newPool(t, openstack.Options{Registerer: registry}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Observer().ListInstances(t.Context(), "owner", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Observer().Port(t.Context(), "nowhere"); err == nil {
		t.Fatal("a port that is not there was found")
	}
	want := `
# HELP holdfast_openstack_logins_total Logins at clouds by result: accepted, refused or failed.
# TYPE holdfast_openstack_logins_total counter
holdfast_openstack_logins_total{result="accepted"} 1
# HELP holdfast_openstack_requests_total Requests to clouds by service, method and status code; code 0 got no answer.
# TYPE holdfast_openstack_requests_total counter
holdfast_openstack_requests_total{code="200",method="GET",service="compute"} 2
holdfast_openstack_requests_total{code="200",method="GET",service="discovery"} 1
holdfast_openstack_requests_total{code="201",method="POST",service="identity"} 1
holdfast_openstack_requests_total{code="404",method="GET",service="network"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "holdfast_openstack_logins_total", "holdfast_openstack_requests_total"); err != nil {
		t.Error(err)
	}
}

// TestUserDataArrivesAsItIs: also where it looks like base64 already, which the library would pass on; with the rest of what was asked for
// (B215).
func TestUserDataArrivesAsItIs(t *testing.T) {
	s := startSim(t, sim.Config{})
	c, err := newPool(t, openstack.Options{}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	const data = "aGVsbG8="
	out, err := c.Actor().Create(t.Context(), provider.InstanceRef{Identity: "i", Owner: "o", Name: "web"}, provider.InstanceSpec{
		Flavor: provider.Selector{Name: "m1.tiny"}, Image: provider.Selector{Tags: []string{"debian", "testing"}}, UserData: []byte(data),
		AvailabilityZone: "nova", ConfigDrive: true, Ports: []provider.PortSpec{{Network: provider.Selector{Tags: []string{"tier:private"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	vm, _ := s.Server(out.Made.InstanceID)
	if sent, err := base64.StdEncoding.DecodeString(vm.UserData); err != nil || string(sent) != data {
		t.Errorf("user data is %q, %v", sent, err)
	}
	if !vm.ConfigDrive || vm.Zone != "nova" || vm.Image != "debian-13" {
		t.Errorf("the VM is %+v", vm)
	}
}

// TestAZoneThatIsDown is named, and no VM is asked for (B209).
func TestAZoneThatIsDown(t *testing.T) {
	s := startSim(t, sim.Config{})
	c, err := newPool(t, openstack.Options{}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Actor().Create(t.Context(), provider.InstanceRef{Identity: "i", Owner: "o", Name: "web"}, provider.InstanceSpec{
		Flavor: provider.Selector{Name: "m1.tiny"}, Image: provider.Selector{Name: "debian-12"}, AvailabilityZone: "az-down",
		Ports: []provider.PortSpec{{Network: provider.Selector{Name: "private"}}},
	})
	if provider.ClassOf(err) != provider.Terminal || !strings.Contains(err.Error(), "az-down") || len(s.Ports()) > 0 {
		t.Errorf("got %v with %d ports, want the zone named and nothing made", err, len(s.Ports()))
	}
}

// TestOurOwnRateLimit: what finds no turn within its deadline was not sent, and says so.
func TestOurOwnRateLimit(t *testing.T) {
	s := startSim(t, sim.Config{})
	c, err := newPool(t, openstack.Options{RequestsPerSecond: 0.5, RequestTimeout: 300 * time.Millisecond}).Cloud("a", simEndpoint, openstack.Credentials{CloudsYAML: s.CloudsYAML()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Observer().ListInstances(t.Context(), "owner", time.Time{})
	if provider.ClassOf(err) != provider.Busy || !strings.Contains(err.Error(), provider.ReasonRateLimited) {
		t.Errorf("got %v, want Busy (RateLimited)", err)
	}
	requests, err := s.Requests(sim.RequestFilter{})
	if err != nil || len(requests) != 1 {
		t.Errorf("%d requests were sent, want the one that had a turn", len(requests))
	}
}

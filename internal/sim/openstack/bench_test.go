// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// What a monitor's tick costs the simulator, of which a thousand servers are the larger part of a scale check's machine.
func BenchmarkListAThousandServers(b *testing.B) {
	cloud, err := openstack.Start(openstack.Config{Timing: &openstack.Timing{}})
	if err != nil {
		b.Fatal(err)
	}
	client := cloud.Client()
	b.Cleanup(func() {
		client.CloseIdleConnections()
		_ = cloud.Close()
	})
	s := &site{t: b, client: client, services: map[string]string{"identity": cloud.AuthURL()}, shapes: map[string]shape{}}
	s.call("", "POST", "identity", "/auth/tokens", "", passwordLogin("demo", "secret", "demo"))
	base := cloud.AuthURL()[:len(cloud.AuthURL())-len("/identity/v3")]
	s.services["compute"] = base + "/compute/v2.1"
	for i := range 1000 {
		s.call("", "POST", "compute", "/servers", "2.52", obj{"server": obj{
			"name": fmt.Sprintf("web-%d", i), "flavorRef": cloud.FlavorID("m1.tiny"), "imageRef": cloud.ImageID("debian-12"),
			"networks": []obj{{"uuid": cloud.NetworkID("private")}}, "tags": []string{"owner"},
		}})
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, base+detail+"?tags=owner", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", s.token)
	req.Header.Set("OpenStack-API-Version", "compute 2.52")
	for b.Loop() {
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 1_000_000 {
			b.Fatalf("%d bytes, %v", n, err)
		}
		_ = resp.Body.Close()
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestEndpoints: an endpoint is taken as people write it (B134), and a malformed one is Terminal without being quoted (B062, B244).
func TestEndpoints(t *testing.T) {
	for _, row := range []struct{ in, root string }{
		{"https://bmc.example", "https://bmc.example/redfish/v1/"},
		{"https://BMC.example:8443/", "https://bmc.example:8443/redfish/v1/"},
		{"http://192.0.2.1/redfish/v1", "http://192.0.2.1/redfish/v1/"},
		{" https://[2001:db8::1]/redfish/v1/ ", "https://[2001:db8::1]/redfish/v1/"},
		{"https://gw.example/bmc1", "https://gw.example/bmc1/redfish/v1/"},
		{"https://gw.example/bmc1/redfish/v1", "https://gw.example/bmc1/redfish/v1/"},
	} {
		b, err := parseEndpoint(row.in)
		if err != nil || b.url(b.root()) != row.root {
			t.Errorf("%q: got %q, %v; want %q", row.in, b.url(b.root()), err, row.root)
		}
	}
	for _, in := range []string{
		"", "bmc.example", "redfish:///", "ftp://bmc.example", "https://", "https:///redfish/v1", "https://root:" + canary + "@bmc.example",
		"https://bmc.example?x=" + canary, "https://bmc.example#" + canary, "https://bmc.example:port" + canary, "https:bmc", "://",
	} {
		_, err := parseEndpoint(in)
		if err == nil {
			t.Errorf("%q is taken", in)
			continue
		}
		wantError(t, err, provider.Terminal, provider.ReasonEndpointInvalid)
	}
}

func TestLinksAreResolvedWithinTheService(t *testing.T) {
	plain := base{scheme: "https", host: "bmc"}
	behind := base{scheme: "https", host: "gw", prefix: "/bmc1"}
	for _, row := range []struct {
		base       base
		from, link string
		want       string
	}{
		{plain, "/redfish/v1/Systems", "/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		{plain, "/redfish/v1/Systems", "https://10.0.0.1/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		{plain, "/redfish/v1/Systems", "Systems/1/", "/redfish/v1/Systems/Systems/1"},
		{plain, "/redfish/v1/Systems/", "1", "/redfish/v1/Systems/1"},
		{plain, "/redfish/v1/Systems", "?$skip=75", "/redfish/v1/Systems?$skip=75"},
		{plain, "/redfish/v1/Systems?$skip=75", "?$skip=150", "/redfish/v1/Systems?$skip=150"},
		{plain, "/redfish/v1/Systems", "/redfish/v1/Systems?$skip=1", "/redfish/v1/Systems?$skip=1"},
		{plain, "/redfish/v1/Chassis/1", "/redfish/v1/Chassis/1/Power#/PowerControl/0", "/redfish/v1/Chassis/1/Power"},
		{plain, "/x", "/redfish/v1/Drives/Disk.Bay.0:Enclosure.Internal.0-1", "/redfish/v1/Drives/Disk.Bay.0:Enclosure.Internal.0-1"},
		{plain, "/x", "/redfish/v1/A%20B", "/redfish/v1/A%20B"},
		{plain, "/x", "", ""},
		{plain, "/x", "#frag", ""},
		{plain, "/x", "%zz", ""},
		{behind, "/bmc1/redfish/v1/Systems", "/redfish/v1/Systems/1", "/bmc1/redfish/v1/Systems/1"},
		{behind, "/bmc1/redfish/v1/Systems", "/bmc1/redfish/v1/Systems/1", "/bmc1/redfish/v1/Systems/1"},
	} {
		if got := row.base.resolve(row.from, row.link); got != row.want {
			t.Errorf("resolve(%q, %q) = %q, want %q", row.from, row.link, got, row.want)
		}
	}
}

// FuzzResolve: no link makes a request leave the endpoint.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"/a", "a", "//evil.example/a", "https://evil.example/a", "?x", "\\\\evil", "/..//../x", "@evil", ":80"} {
		f.Add(seed)
	}
	at := base{scheme: "https", host: "bmc.example"}
	f.Fuzz(func(t *testing.T, link string) {
		p := at.resolve("/redfish/v1/Systems", link)
		if p != "" && !strings.HasPrefix(p, "/") {
			t.Errorf("resolve(%q) = %q leaves the endpoint", link, p)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// foreign is the command line client of the OpenStack project (Debian: python3-openstackclient), which reads the same
// answers another way.
type foreign struct {
	t      *testing.T
	tool   string
	clouds string
}

func newForeign(t *testing.T, yaml []byte) *foreign {
	t.Helper()
	tool, err := exec.LookPath("openstack")
	if err != nil {
		t.Skip("openstack (python3-openstackclient) is not installed")
	}
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(file, yaml, 0o600); err != nil {
		t.Fatal(err)
	}
	return &foreign{t: t, tool: tool, clouds: file}
}

// session runs commands in one process of the client, which costs more to start than all of them to run, and returns
// what it prints. The client goes on after a command that failed: its complaints are looked for.
func (f *foreign) session(commands ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), f.tool, "--os-cloud", openstack.CloudName, "--os-compute-api-version", "2.52")
	cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+f.clouds, "NO_PROXY=*", "HOME="+filepath.Dir(f.clouds))
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || strings.Contains(complaints.String(), "rror") || strings.Contains(complaints.String(), "HTTP") {
		f.t.Fatalf("openstack: %v\n%s\n%s", err, out, &complaints)
	}
	return string(out)
}

// The client's own idea of the API: discovery, names found, a whole life of a server.
func TestTheOpenStackClientDrivesTheSimulator(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Python")
	}
	cloud, err := openstack.Start(openstack.Config{Timing: &openstack.Timing{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	f := newForeign(t, cloud.CloudsYAML())

	out := f.session(
		"token issue", "catalog list", "flavor list", "image list", "network list", "subnet list", "availability zone list --compute",
		"limits show --absolute", "security group list", "router list",
		"port create --network private --description holdfast:1 --tag holdfast:1 web",
		"server create --flavor m1.small --image debian-12 --port web --property k=v --tag holdfast:1 --wait web",
		"floating ip create public --port web --description holdfast:1",
		"server list --tags holdfast:1 -f json", "server show web -f json",
	)
	ports, fips, all := cloud.Ports(), cloud.FloatingIPs(), cloud.Servers()
	if len(ports) != 1 || len(fips) != 1 || len(all) != 1 {
		t.Fatalf("ports %v, floating IPs %v, servers %v\n%s", ports, fips, all, out)
	}
	if all[0].Status != "ACTIVE" || all[0].Tags[0] != "holdfast:1" || all[0].Metadata["k"] != "v" || ports[0].Device != all[0].ID || fips[0].Port != ports[0].ID {
		t.Errorf("port %+v, floating IP %+v, server %+v", ports[0], fips[0], all[0])
	}
	if !strings.Contains(out, fips[0].Address) || !strings.Contains(out, all[0].ID) {
		t.Errorf("neither the floating IP nor the id was shown:\n%s", out)
	}

	f.session("server stop web", "server start web", "server rebuild --image debian-13 --wait web", "server set --property k=w web")
	if s := cloud.Servers()[0]; s.Image != "debian-13" || s.Metadata["k"] != "w" || s.Status != "ACTIVE" {
		t.Errorf("server %+v", s)
	}
	f.session("floating ip delete "+fips[0].Address, "server delete --wait web", "port delete web")
	if left := len(cloud.Servers()) + len(cloud.Ports()) + len(cloud.FloatingIPs()); left != 0 {
		t.Errorf("%d things are left over", left)
	}
	requests, err := cloud.Requests(openstack.RequestFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if r.Status >= 500 || r.Route == "" {
			t.Errorf("%+v", r)
		}
	}
}

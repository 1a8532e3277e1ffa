// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/devmode"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// countCloud keeps a request to the cloud that changes anything; sessions are none.
func (f *figures) countCloud(r openstack.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Service != "identity" {
		f.cloud = append(f.cloud, r)
	}
}

// cloudCalls are the writes to the cloud by what was asked, sorted.
func (f *figures) cloudCalls() string {
	if len(f.cloud) == 0 {
		return "none"
	}
	counts := map[string]int{}
	for _, r := range f.cloud {
		counts[r.Method+" "+devmode.CloudCall(r)]++
	}
	calls := make([]string, 0, len(counts))
	for _, call := range slices.Sorted(maps.Keys(counts)) {
		calls = append(calls, fmt.Sprintf("%d %s", counts[call], call))
	}
	return strings.Join(calls, ", ")
}

// cloudCalled checks, since m, the writes to the cloud.
func (t *tour) cloudCalled(m mark, want ...string) error {
	f, err := t.since(m)
	if err != nil {
		return err
	}
	if len(want) == 0 {
		want = []string{"none"}
	}
	return t.checked("writes to the cloud", f.cloudCalls(), strings.Join(want, ", "))
}

// holds checks what there is in the cloud, by its own word.
func (t *tour) holds(vms, ports, floatingIPs int) error {
	count := func(vms, ports, ips int) string {
		return fmt.Sprintf("%d VMs, %d ports, %d floating IPs", vms, ports, ips)
	}
	cloud := t.stack.Cloud
	return t.checked("in the cloud", count(len(cloud.Servers()), len(cloud.Ports()), len(cloud.FloatingIPs())), count(vms, ports, floatingIPs))
}

// vm is the VM of a server, which bears its name. There is one, or it is an error.
func (t *tour) vm(server string) (openstack.Server, error) {
	var found []openstack.Server
	for _, vm := range t.stack.Cloud.Servers() {
		if vm.Name == server {
			found = append(found, vm)
		}
	}
	if len(found) != 1 {
		return openstack.Server{}, fmt.Errorf("%d VMs are named %s", len(found), server)
	}
	return found[0], nil
}

// roundOfCloud waits for so many looks at the cloud, where it has servers: it is not looked at for others.
func (t *tour) roundOfCloud(ctx context.Context, m mark, looks int) error {
	var servers v1alpha1.ServerList
	if err := t.admin.List(ctx, &servers); err != nil {
		return err
	}
	if !slices.ContainsFunc(servers.Items, func(s v1alpha1.Server) bool { return s.Spec.OpenStack != nil }) {
		return nil
	}
	return t.until(ctx, fmt.Sprintf("%d looks at the cloud", looks), func(context.Context) error {
		seen, err := t.stack.Cloud.Requests(openstack.RequestFilter{Method: http.MethodGet, Path: "/servers/detail", After: m.cloudRequest})
		if err != nil {
			return err
		}
		if len(seen) < looks {
			return fmt.Errorf("it was looked at %d times", len(seen))
		}
		return nil
	})
}

// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// mark is a moment in all logs.
type mark struct {
	request, event, cloudRequest uint64
	audited                      int
}

// figures are what was counted since a mark.
type figures struct {
	// power are the requests that change the power of a machine.
	power []sim.Request
	// writes are all requests to BMCs that change anything, the power calls among them; sessions are counted apart.
	writes, logins int
	// cloud are all requests to the cloud that change anything but sessions.
	cloud []openstack.Request
	// installs are the disks written over, boots the systems started, both as the machines tell it.
	installs, boots []sim.Event
	// api are the writes of the operator to the API server, failed ones included.
	api []auditv1.Event
}

func (t *tour) mark() (mark, error) {
	requests, err := t.stack.Rack.Requests(sim.RequestFilter{})
	if err != nil {
		return mark{}, err
	}
	audited, err := testenv.ReadAudit(t.stack.AuditLog())
	if err != nil {
		return mark{}, err
	}
	m := mark{event: uint64(len(t.stack.Rack.MachineLog(sim.EventFilter{}))), audited: len(audited)}
	if len(requests) > 0 {
		m.request = requests[len(requests)-1].Seq
	}
	asked, err := t.stack.Cloud.Requests(openstack.RequestFilter{})
	if len(asked) > 0 {
		m.cloudRequest = asked[len(asked)-1].Seq
	}
	return m, err
}

func (t *tour) since(m mark) (figures, error) {
	var f figures
	requests, err := t.stack.Rack.Requests(sim.RequestFilter{After: m.request})
	if err != nil {
		return f, err
	}
	for _, r := range requests {
		f.count(r)
	}
	asked, err := t.stack.Cloud.Requests(openstack.RequestFilter{After: m.cloudRequest})
	if err != nil {
		return f, err
	}
	for _, r := range asked {
		f.countCloud(r)
	}
	f.installs = t.stack.Rack.MachineLog(sim.EventFilter{After: m.event, Kinds: []sim.EventKind{sim.EventInstall}})
	f.boots = t.stack.Rack.MachineLog(sim.EventFilter{After: m.event, Kinds: []sim.EventKind{sim.EventBoot}})
	audited, err := testenv.ReadAudit(t.stack.AuditLog())
	if err != nil {
		return f, err
	}
	for _, event := range audited[m.audited:] {
		if testenv.IsWrite(event) && event.ImpersonatedUser != nil && event.ImpersonatedUser.Username == config.OperatorUsername {
			f.api = append(f.api, event)
		}
	}
	return f, nil
}

func (f *figures) count(r sim.Request) {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
	case strings.Contains(r.Path, "/SessionService/Sessions"):
		if r.Method == http.MethodPost {
			f.logins++
		}
	default:
		f.writes++
		if strings.HasSuffix(r.Path, ".Reset") {
			f.power = append(f.power, r)
		}
	}
}

// resets are the power calls by BMC and reset type, sorted.
func (f *figures) resets() string {
	if len(f.power) == 0 {
		return "none"
	}
	calls := make([]string, len(f.power))
	for i, r := range f.power {
		calls[i] = r.BMC + " " + between(r.Body, `"ResetType":"`, `"`)
	}
	return joined(calls)
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

// objects are the operator's writes by what was written.
func (f *figures) objects() string {
	if len(f.api) == 0 {
		return "0"
	}
	counts := map[string]int{}
	var order []string
	for _, event := range f.api {
		what := event.Verb
		if ref := event.ObjectRef; ref != nil {
			what = strings.TrimSuffix(ref.Resource+"/"+ref.Subresource, "/")
		}
		if counts[what]++; counts[what] == 1 {
			order = append(order, what)
		}
	}
	parts := make([]string, len(order))
	for i, what := range order {
		parts[i] = fmt.Sprintf("%d %s", counts[what], what)
	}
	return fmt.Sprintf("%d (%s)", len(f.api), strings.Join(parts, ", "))
}

// untouched checks that since m nothing was asked of any machine or cloud: no power call, no install, no write of any kind.
func (t *tour) untouched(m mark) error {
	f, err := t.since(m)
	if err != nil {
		return err
	}
	if f.writes > 0 || len(f.installs) > 0 || len(f.cloud) > 0 {
		return fmt.Errorf("power calls: %s, writes to BMCs: %d, installs: %d, writes to the cloud: %s, want none of any",
			f.resets(), f.writes, len(f.installs), f.cloudCalls())
	}
	t.line("checked", "power calls: 0, other writes to BMCs: 0, installs: 0, writes to the cloud: 0")
	return nil
}

// watched waits until the monitor has looked at every machine, and the cloud, several times since m: time enough for what should not happen to happen.
func (t *tour) watched(ctx context.Context, m mark) error {
	err := t.round(ctx, m, looks)
	if err == nil {
		t.saw("each machine, and a cloud with servers, looked at %d times or more since", looks)
	}
	return err
}

// round waits for so many looks at each machine whose BMC is registered, and at the cloud.
func (t *tour) round(ctx context.Context, m mark, looks int) error {
	var registered v1alpha1.BMCList
	if err := t.admin.List(ctx, &registered); err != nil {
		return err
	}
	err := t.until(ctx, fmt.Sprintf("%d looks at each machine", looks), func(context.Context) error {
		for _, bmc := range registered.Items {
			seen, err := t.stack.Rack.Requests(sim.RequestFilter{BMC: bmc.Name, Method: http.MethodGet, Path: "/Systems/[^/]+/?$", After: m.request})
			if err != nil {
				return err
			}
			if len(seen) < looks {
				return fmt.Errorf("%s was looked at %d times", bmc.Name, len(seen))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.roundOfCloud(ctx, m, looks)
}

// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explain"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func (t *tour) explainer(by client.Client) *explain.Explainer {
	return &explain.Explainer{Reader: by, Settings: lifecycle.DefaultSettings(""), Now: time.Now}
}

// show prints a report, indented under its step.
func (t *tour) show(report explain.Report) {
	var text bytes.Buffer
	report.Render(&text)
	for line := range strings.Lines(text.String()) {
		fmt.Fprint(t.out, "       | ", line)
	}
}

// evidence prints what there is to know after a failure: every object explained, and what was last asked of BMCs and cloud.
func (t *tour) evidence(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	explainer := t.explainer(t.admin)
	var claims v1alpha1.ServerClaimList
	var servers v1alpha1.ServerList
	for _, list := range []client.ObjectList{&claims, &servers} {
		if err := t.admin.List(ctx, list); err != nil {
			fmt.Fprintf(t.out, "       no evidence: %v\n", err)
			return
		}
	}
	tell := func(report explain.Report, err error) {
		if err != nil {
			fmt.Fprintf(t.out, "       %v\n", err)
			return
		}
		report.Server = nil
		t.show(report)
	}
	for i := range claims.Items {
		tell(explainer.Claim(ctx, client.ObjectKeyFromObject(&claims.Items[i])))
	}
	for i := range servers.Items {
		tell(explainer.Server(ctx, servers.Items[i].Name))
	}
	t.lastRequests()
	t.lastCloudRequests()
}

// mostRequests are told of each simulator.
const mostRequests = 20

func (t *tour) lastRequests() {
	requests, err := t.stack.Rack.Requests(sim.RequestFilter{})
	if err != nil {
		fmt.Fprintf(t.out, "       no requests: %v\n", err)
		return
	}
	var writes []sim.Request
	for _, r := range requests {
		if r.Method != http.MethodGet {
			writes = append(writes, r)
		}
	}
	for _, r := range writes[max(0, len(writes)-mostRequests):] {
		fmt.Fprintf(t.out, "       | %s %s %s %s %s → %d\n", r.At.Format("15:04:05.000"), r.BMC, r.Method, r.Path, r.Body, r.Status)
	}
}

func (t *tour) lastCloudRequests() {
	requests, err := t.stack.Cloud.Requests(openstack.RequestFilter{})
	if err != nil {
		fmt.Fprintf(t.out, "       no requests: %v\n", err)
		return
	}
	var f figures
	for _, r := range requests {
		f.countCloud(r)
	}
	for _, r := range f.cloud[max(0, len(f.cloud)-mostRequests):] {
		fmt.Fprintf(t.out, "       | %s %s %s %s → %d\n", r.At.Format("15:04:05.000"), r.Method, r.Path, r.Body, r.Status)
	}
}

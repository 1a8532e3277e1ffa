// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// chapter is one chapter of a VM's life: how many writes to the API server it may cost, and which to the cloud it costs.
type chapter struct {
	name string
	aim  int
	want string
	do   func()
}

// The writes of one virtual life, per chapter: to the API server over all objects, the monitor's own region apart, and to the cloud by
// method and route. Each thing is made once, and nothing is asked for twice.
func TestWritesOfAVirtualLife(t *testing.T) {
	k := suite.Kit(t, "vmlife")
	k.Manage(pacedClouds(harness.SlowPoll))
	var cloud *harness.Cloud
	var class *v1alpha1.ServerClass
	var claim *v1alpha1.ServerClaim
	var alone *v1alpha1.Server
	chapters := []chapter{
		{"register cloud and class → Ready", 8, "none", func() {
			cloud = k.RegisterCloud()
			k.UntilReady(&v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: cloud.Name}})
			class = k.Class(cloud, func(c *v1alpha1.ServerClass) {
				c.Spec.OpenStack.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
			})
			k.UntilReady(class)
		}},
		{"claim → its VM runs, with a floating IP", 26, "1 POST floatingips, 1 POST ports, 1 POST servers, 2 PUT {kind}/{id}/tags", func() {
			claim = k.ClassClaim(class)
			k.UntilReady(claim)
		}},
		{"its tenant switches it off → On", 8, "1 POST servers/{server}/action os-start", func() {
			vm := cloud.Servers()[0]
			if err := cloud.StopGuest(vm.ID); err != nil {
				t.Fatal(err)
			}
			untilVMIs(k, cloud, vm.ID, "ACTIVE")
		}},
		{"restart", 16, "1 POST servers/{server}/action os-start, 1 POST servers/{server}/action os-stop", func() {
			at := metav1.NewTime(time.Now().Add(time.Second).Truncate(time.Second))
			harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.RestartedAt = &at })
			untilAsked(k, cloud, "action os-stop")
			untilVMIs(k, cloud, cloud.Servers()[0].ID, "ACTIVE")
		}},
		{"claim deleted → nothing left", 12, "1 DELETE floatingips/{fip}, 1 DELETE ports/{port}, 1 DELETE servers/{server}", func() {
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilEmpty(cloud)
		}},
		{"a server without a claim → its VM runs", 14, "1 POST ports, 1 POST servers, 1 PUT {kind}/{id}/tags", func() {
			alone = k.RunningVM(cloud, func(s *v1alpha1.Server) { s.Spec.OpenStack.RebuildPolicy = v1alpha1.RebuildOnImageChange })
		}},
		{"its image edited → rebuilt", 12, "1 POST servers/{server}/action rebuild", func() {
			harness.Change(k, alone, func(s *v1alpha1.Server) { s.Spec.OpenStack.Image = v1alpha1.ResourceSelector{Name: "debian-13"} })
			untilAsked(k, cloud, "action rebuild")
			untilVMIs(k, cloud, cloud.Servers()[0].ID, "ACTIVE")
			k.UntilVM(alone.Name, v1alpha1.PhaseRunning)
		}},
		{"deleted → nothing left", 8, "1 DELETE ports/{port}, 1 DELETE servers/{server}", func() {
			k.Delete(alone)
			k.UntilGone(alone)
			k.UntilEmpty(cloud)
		}},
	}
	tellChapters(k, chapters, func() *harness.Cloud { return cloud })
}

// tellChapters runs the chapters, counts, and prints what was counted.
func tellChapters(k *harness.Kit, chapters []chapter, cloud func() *harness.Cloud) {
	k.T.Helper()
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "chapter\tAPI writes\taim\tstatus.observed\tcloud: reads\twrites\tof the API writes")
	before := harness.Asked{}
	for _, c := range chapters {
		started := time.Now()
		c.do()
		quiet(k)
		counted, observed := count(k.T, started)
		now := cloud().Asked()
		since := now.Less(before)
		before = now
		fmt.Fprintf(out, "%s\t%d\t≤ %d\t%d\t%d\t%s\t%s\n", c.name, len(counted), c.aim, len(observed), since.Reads(), since.Writes(), harness.ByResource(counted))
		if len(counted) > c.aim {
			k.T.Errorf("%s: %d writes to the API server, want at most %d:\n  %s", c.name, len(counted), c.aim, listed(counted))
		}
		if got := since.Writes(); got != c.want {
			k.T.Errorf("%s: writes to the cloud: %s, want %s", c.name, got, c.want)
		}
	}
	if err := out.Flush(); err != nil {
		k.T.Fatal(err)
	}
	k.T.Log("writes of a virtual life\n" + table.String())
}

// quiet waits until the operator has written nothing for longer than anything is put off in tests.
func quiet(k *harness.Kit) {
	k.T.Helper()
	const pause = 3 * harness.SlowPoll
	since := time.Now()
	k.Until("nothing is written any more", func(context.Context) error {
		if counted, observed := count(k.T, since); len(counted)+len(observed) > 0 {
			since = time.Now()
			return fmt.Errorf("%d writes", len(counted)+len(observed))
		}
		if time.Since(since) < pause {
			return fmt.Errorf("quiet for %s", time.Since(since))
		}
		return nil
	})
}

func untilVMIs(k *harness.Kit, cloud *harness.Cloud, id, status string) {
	k.T.Helper()
	k.Until("VM "+status, func(context.Context) error {
		if vm, _ := cloud.Server(id); vm.Status != status || vm.Task != "" {
			return fmt.Errorf("VM %s %s", vm.Status, vm.Task)
		}
		return nil
	})
}

// untilAsked waits until the cloud was asked for what ends so.
func untilAsked(k *harness.Kit, cloud *harness.Cloud, suffix string) {
	k.T.Helper()
	k.Until(suffix+" asked for", func(context.Context) error {
		for what := range cloud.Asked() {
			if strings.HasSuffix(what, suffix) {
				return nil
			}
		}
		return fmt.Errorf("only %s", cloud.Asked().Writes())
	})
}

// pacedClouds has the monitor look at clouds so often.
func pacedClouds(pace time.Duration) harness.Override {
	return func(o *operator.Options) {
		o.Cadence.Clouds.Slow, o.Cadence.Clouds.Floor = pace, min(pace, harness.FastPoll)
		o.Cadence.Clouds.Full, o.Cadence.Clouds.FullFast = 10*pace, 5*pace
	}
}

// P8: at rest nothing is written, to the API server or to a cloud, and what a look costs does not grow with the servers: one listing each
// of servers, ports and floating IPs, whether there is one server or thirty.
func TestWritesAtRestInACloud(t *testing.T) {
	k := suite.Kit(t, "vmrest")
	k.Manage(pacedClouds(100 * time.Millisecond))
	cloud := k.RegisterCloud()
	var told []string
	for _, fleet := range []int{1, 30} {
		for len(cloud.Servers()) < fleet {
			add(k, cloud, fleet-len(cloud.Servers()))
		}
		quiet(k)
		told = append(told, expectBulkReads(k, cloud, fleet))
	}
	t.Log("a cloud at rest\n  " + strings.Join(told, "\n  "))
}

// add makes VMs, and waits until all run.
func add(k *harness.Kit, cloud *harness.Cloud, n int) {
	k.T.Helper()
	servers := make([]*v1alpha1.Server, n)
	for i := range servers {
		servers[i] = k.VM(cloud)
	}
	for _, server := range servers {
		k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	}
}

// expectBulkReads watches fifty looks at a cloud at rest.
func expectBulkReads(k *harness.Kit, cloud *harness.Cloud, fleet int) string {
	k.T.Helper()
	const looks = 50
	const list = "GET servers/detail"
	started, before := time.Now(), cloud.Asked()
	var since harness.Asked
	k.Until(fmt.Sprintf("%d looks", looks), func(context.Context) error {
		if since = cloud.Asked().Less(before); since[list] < looks {
			return fmt.Errorf("%d looks", since[list])
		}
		return nil
	})
	counted, observed := count(k.T, started)
	if n := len(counted) + len(observed); n > 0 {
		k.T.Errorf("%d servers: %d writes at rest:\n  %s", fleet, n, listed(append(counted, observed...)))
	}
	bulk := []string{list, "GET ports", "GET floatingips"}
	if others := since.Told(func(what string) bool { return !slices.Contains(bulk, what) }); others != "none" {
		k.T.Errorf("%d servers at rest: asked for %s", fleet, others)
	}
	for _, what := range bulk {
		// Counting begins and ends somewhere in a look.
		if n := since[what]; n < since[list]-1 || n > since[list]+1 {
			k.T.Errorf("%d servers at rest: %d %s in %d looks", fleet, n, what, since[list])
		}
	}
	return fmt.Sprintf("%d servers: 0 writes in %d looks; asked %s", fleet, since[list], since.Told(harness.OnlyReads))
}

// A page of a listing is all that a look at more servers adds.
func TestALookGrowsByPagesAlone(t *testing.T) {
	k := suite.Kit(t, "pages")
	const fleet, page = 10, 2
	k.Manage(pacedClouds(100 * time.Millisecond))
	cloud := k.RegisterCloud(func(s *harness.CloudSetup) { s.Simulated.Behaviour = sim.Behaviour{PageSize: page} })
	add(k, cloud, fleet)
	quiet(k)
	before := cloud.Asked()
	full := 0
	k.Until("two full listings", func(context.Context) error {
		requests, err := cloud.Requests(sim.RequestFilter{Method: "GET", Path: `/servers/detail`})
		if err != nil {
			return err
		}
		longest, pages := 0, 0
		for _, r := range requests {
			if pages++; !strings.Contains(r.Query, "marker=") {
				pages = 1
			}
			longest = max(longest, pages)
		}
		if full = longest; cloud.Asked().Less(before)["GET floatingips"] < 25 {
			return fmt.Errorf("%d looks", cloud.Asked().Less(before)["GET floatingips"])
		}
		return nil
	})
	if most := fleet/page + 1; full < fleet/page || full > most {
		t.Errorf("a full listing of %d servers took %d pages of %d, want at most %d", fleet, full, page, most)
	}
	t.Logf("a full listing of %d servers in pages of %d: %d requests", fleet, page, full)
}

// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// cloudPoll is the pace of looking at the cloud here, so that looks at rest can be counted without waiting long.
const cloudPoll = time.Second

// B189, B228: as many claims with a class as the fleet is large, in one go: each gets a VM of its own, by the cloud's own word, and a look
// at all of them costs what a look at one does. Then all go, and leave nothing.
func TestClaimsOfAClassGetTheirVMs(t *testing.T) {
	k := suite.Kit(t, "vms")
	n := harness.FleetSize(t, small)
	k.Patience = time.Minute + time.Duration(n)*time.Second/2
	timing := openstack.DefaultTiming()
	cloud := k.RegisterCloud(func(s *harness.CloudSetup) { s.Simulated.Timing = &timing })
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) {
		c.Spec.Labels = map[string]string{"test": k.Name}
	})
	manager := k.StartProcess("--cloud-poll=" + cloudPoll.String())
	k.UntilReady(class)
	started := time.Now()
	busy := manager.CPU()
	claimClass(k, class, n)
	untilClaimsReady(k, n)
	took := time.Since(started)
	memory := manager.Memory()
	t.Logf("%d claims of a class: all VMs run after %s (%.0f a second, counted from the first creation); manager CPU %s, RSS %d MiB, at most %d MiB",
		n, took.Round(time.Millisecond), float64(n)/took.Seconds(), (manager.CPU() - busy).Round(time.Millisecond), memory.Now>>20, memory.Most>>20)
	first, last := creations(cloud)
	t.Logf("the first VM was asked for after %s, the last after %s", first.Sub(started).Round(time.Millisecond), last.Sub(started).Round(time.Millisecond))
	expectOneVMEach(k, cloud, n)
	writes, err := suite.Audit().Writes(started)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f writes to the API server a claim, status.observed included; requests to the cloud: %s", float64(len(writes))/float64(n), totals(cloud))
	expectRest(k, cloud, manager, n)

	ended := time.Now()
	k.Each(n, func(ctx context.Context, i int) error { return k.Tenant.Delete(ctx, classClaim(k, i)) })
	k.UntilEmpty(cloud)
	untilNoServer(k, n)
	t.Logf("%d claims deleted: no VM, port or floating IP left after %s", n, time.Since(ended).Round(time.Millisecond))
}

// creations is when the cloud was asked for the first VM and for the last one.
func creations(cloud *harness.Cloud) (first, last time.Time) {
	made := cloud.Events(openstack.EventFilter{Kinds: []openstack.EventKind{openstack.EventServerCreated}})
	if len(made) == 0 {
		return first, last
	}
	return made[0].At, made[len(made)-1].At
}

func classClaim(k *harness.Kit, i int) *v1alpha1.ServerClaim {
	return &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: fmt.Sprintf("vm-%04d", i)}}
}

func claimClass(k *harness.Kit, class *v1alpha1.ServerClass, n int) {
	k.T.Helper()
	k.Each(n, func(ctx context.Context, i int) error {
		claim := classClaim(k, i)
		claim.Spec.ClassName = class.Name
		return k.Tenant.Create(ctx, claim)
	})
}

// expectOneVMEach judges by the cloud's own log and lists: one VM made for each claim, ever, with one port; none twice, and none that is
// nobody's (I3, I8).
func expectOneVMEach(k *harness.Kit, cloud *harness.Cloud, n int) {
	k.T.Helper()
	var claims v1alpha1.ServerClaimList
	if err := k.Admin.List(k.T.Context(), &claims); err != nil {
		k.T.Fatal(err)
	}
	expected := map[string]bool{}
	for _, claim := range claims.Items {
		if claim.Spec.ClassName != "" {
			expected[ledger.ClaimedIdentity(claim.Annotations[ledger.KeyIdentity])] = true
		}
	}
	vms := map[string]string{}
	for _, vm := range cloud.Servers() {
		identity := vm.Metadata[provider.MetadataIdentity]
		if other := vms[identity]; other != "" || !expected[identity] || vm.Status != "ACTIVE" || len(vm.Ports) != 1 {
			k.T.Errorf("VM %s of %s: other %q, ours %t, %s, %d ports", vm.ID, identity, other, expected[identity], vm.Status, len(vm.Ports))
		}
		vms[identity] = vm.ID
	}
	made := len(cloud.Events(openstack.EventFilter{Kinds: []openstack.EventKind{openstack.EventServerCreated}}))
	got := fmt.Sprintf("%d claims, %d VMs, %d ever made, %d ports", len(expected), len(vms), made, len(cloud.Ports()))
	if want := fmt.Sprintf("%d claims, %d VMs, %d ever made, %d ports", n, n, n, n); got != want {
		k.T.Errorf("%s, want %s", got, want)
	}
}

// expectRest watches looks at rest: three listings each, but for their pages, and nothing else. It tells what a look costs.
func expectRest(k *harness.Kit, cloud *harness.Cloud, manager *harness.Process, n int) {
	k.T.Helper()
	const looks = 6
	k.Settled(cloud)
	untilQuiet(k)
	mark, began, busy := lastRequest(k, cloud), time.Now(), manager.CPU()
	var seen []openstack.Request
	k.Until(fmt.Sprintf("%d looks at the cloud", looks), func(context.Context) error {
		requests, err := cloud.Requests(openstack.RequestFilter{After: mark})
		if err != nil {
			return err
		}
		if seen = requests; len(listings(seen)) < looks {
			return fmt.Errorf("%d", len(listings(seen)))
		}
		return nil
	})
	// What the cloud itself is, is asked once in five minutes.
	bulk := []string{"/servers/detail", "/ports", "/floatingips", "/auth/tokens", "/compute/v2.1", "/limits"}
	for _, r := range seen {
		if !slices.ContainsFunc(bulk, func(end string) bool { return strings.HasSuffix(r.Path, end) }) {
			k.T.Errorf("at rest: %s %s", r.Method, r.Path)
		}
	}
	pages := n/1000 + 1 // of servers, each a thousand long; the last may be empty
	if most := (looks+1)*(pages+2) + 2; len(seen) > most {
		k.T.Errorf("%d requests in %d looks at %d VMs, want at most %d", len(seen), looks, n, most)
	}
	took := time.Since(began)
	writes, err := suite.Audit().Writes(began)
	writes = slices.DeleteFunc(writes, func(w harness.Write) bool { return w.Resource == "clouds/status" }) // the quota used, as then told
	if err != nil || len(writes) > 0 {
		k.T.Errorf("%d writes to the API server at rest: %v %v", len(writes), writes[:min(len(writes), 10)], err)
	}
	k.T.Logf("at rest: %.1f requests a look at %d VMs; manager CPU %.1f%% with a look every %s", float64(len(seen))/looks, n,
		100*(manager.CPU()-busy).Seconds()/took.Seconds(), cloudPoll)
}

// untilQuiet waits until the operator has written nothing for a while that is longer than anything is put off.
func untilQuiet(k *harness.Kit) {
	k.T.Helper()
	const pause = 3 * cloudPoll
	read := time.Now()
	k.Until("nothing is written any more", func(context.Context) error {
		if time.Since(read) < pause {
			return errors.New("just written")
		}
		since := read
		read = time.Now() // the log is long: it is read once in a while
		writes, err := suite.Audit().Writes(since)
		if err == nil && len(writes) > 0 {
			err = fmt.Errorf("%d writes, the last %s", len(writes), writes[len(writes)-1])
		}
		return err
	})
}

// untilClaimsReady waits until n claims say that their VM is there to be used.
func untilClaimsReady(k *harness.Kit, n int) {
	k.T.Helper()
	k.Until(fmt.Sprintf("%d claims ready", n), harness.Seldom(n, func(ctx context.Context) error {
		var claims v1alpha1.ServerClaimList
		if err := k.Admin.List(ctx, &claims, client.InNamespace(k.Namespace)); err != nil {
			return err
		}
		ready := 0
		for _, claim := range claims.Items {
			if meta.IsStatusConditionTrue(claim.Status.Conditions, v1alpha1.ConditionReady) {
				ready++
			}
		}
		if ready < n {
			return fmt.Errorf("%d", ready)
		}
		return nil
	}))
}

func untilNoServer(k *harness.Kit, n int) {
	k.T.Helper()
	k.Until("no server left", harness.Seldom(n, func(ctx context.Context) error {
		var servers v1alpha1.ServerList
		if err := k.Admin.List(ctx, &servers, client.MatchingLabels{"test": k.Name}); err != nil {
			return err
		}
		if n := len(servers.Items); n > 0 {
			return fmt.Errorf("%d", n)
		}
		return nil
	}))
}

func lastRequest(k *harness.Kit, cloud *harness.Cloud) uint64 {
	k.T.Helper()
	requests, err := cloud.Requests(openstack.RequestFilter{})
	if err != nil {
		k.T.Fatal(err)
	}
	return requests[len(requests)-1].Seq
}

// listings are the listings of servers, of which each look has one: further pages of one are not counted.
func listings(requests []openstack.Request) []openstack.Request {
	return slices.DeleteFunc(slices.Clone(requests), func(r openstack.Request) bool {
		return r.Method != http.MethodGet || !strings.HasSuffix(r.Path, "/servers/detail") || strings.Contains(r.Query, "marker=")
	})
}

// totals are the requests to a cloud by method, sessions apart.
func totals(cloud *harness.Cloud) string {
	counts := map[string]int{}
	for _, total := range cloud.Totals() {
		if total.Service != "identity" {
			counts[total.Method] += total.Count
		}
	}
	return fmt.Sprintf("%d GET, %d POST, %d PUT, %d DELETE", counts["GET"], counts["POST"], counts["PUT"], counts["DELETE"])
}

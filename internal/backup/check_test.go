// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// A live cluster reads as its export does.
func TestALiveClusterReadsAsItsExport(t *testing.T) {
	exported := read(t, filepath.Join("testdata", "velero"))
	cluster, err := newWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range exported.Items {
		cluster.put(item.Object.DeepCopyObject().(client.Object))
	}
	live, err := Live(t.Context(), cluster, "holdfast-system")
	if err != nil {
		t.Fatal(err)
	}
	want, got := checked(t, exported), checked(t, live)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Object{}, "Origin"), cmpopts.IgnoreFields(Report{}, "Others")); diff != "" {
		t.Errorf("live (+) and exported (-) differ:\n%s", diff)
	}
}

// The cluster is the one told, else the one whose kube-system is in the backup, else the owner of most servers.
func TestWhoRestores(t *testing.T) {
	set := read(t, filepath.Join("testdata", "velero"))
	if got := checked(t, set).Cluster.ID; got != "0b1e7f9c-cluster" {
		t.Errorf("by the ledgers: %s", got)
	}
	system := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "by-namespace"}}
	set.add(KindNamespace, Origin{}, system)
	if got := checked(t, set).Cluster.ID; got != "by-namespace" {
		t.Errorf("by kube-system: %s", got)
	}
	if got := checked(t, set, into("told")).Cluster.ID; got != "told" {
		t.Errorf("as told: %s", got)
	}
}

// I1, I9, I10: whatever of a backup is lost, and however the machines are found, no server that was booted for a claim is powered off,
// booted from the network or made anew by what is left.
func TestNothingThatIsLostCostsAWorkload(t *testing.T) {
	whole := read(t, filepath.Join("testdata", "velero"))
	// Where the machine is Off and bears no stamp, or there is no VM, nothing tells of a workload.
	atRest := []Condition{Off, VMNone, VMGone}
	harmless := []lifecycle.Op{lifecycle.OpPowerOn, lifecycle.OpStart, lifecycle.OpWriteAssetTag, lifecycle.OpStampInstance, lifecycle.OpClearBootOverride}
	rapid.Check(t, func(rt *rapid.T) {
		set := &Set{}
		for _, item := range whole.Items {
			if item.Kind == KindServer || item.Kind == KindClaim {
				item.Object = lose(rt, item)
			}
			if item.Object != nil {
				set.Items = append(set.Items, item)
			}
		}
		cluster := rapid.SampledFrom([]string{"", "new-cluster"}).Draw(rt, "cluster")
		report, err := Check(t.Context(), set, options(into(cluster)))
		if err != nil {
			rt.Fatal(err)
		}
		for _, object := range report.Objects {
			if object.Kind != KindServer || object.Name == "rack1-u02" || object.Made {
				continue
			}
			for _, o := range object.Outcomes {
				for _, op := range o.Effects {
					if !slices.Contains(harmless, op) && !slices.Contains(atRest, o.Condition) {
						rt.Errorf("%s, %s: %v (%s)", object.Name, o.Condition, o.Effects, o.Clause)
					}
				}
			}
		}
	})
}

// lose takes an object away, or entries of its ledger, or leaves it; nil for an object that is lost.
func lose(rt *rapid.T, item Item) client.Object {
	object := item.Object.DeepCopyObject().(client.Object)
	switch rapid.SampledFrom([]string{"nothing", "the object", "the ledger", "entries", "the name of its server"}).Draw(rt, "lost of "+item.Name()) {
	case "the object":
		return nil
	case "the ledger":
		object.SetAnnotations(nil)
	case "entries":
		annotations := object.GetAnnotations()
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			if rapid.Bool().Draw(rt, key+" of "+item.Name()) {
				delete(annotations, key)
			}
		}
	case "the name of its server":
		if claim, is := object.(*v1alpha1.ServerClaim); is {
			claim.Spec.ServerName = ""
		}
	}
	return object
}

// A server of a claim that was being deleted when it was exported says so: the deletion does not come back.
func TestADeletionUnderWayIsForgotten(t *testing.T) {
	set := read(t, filepath.Join("testdata", "velero"))
	for _, item := range set.Items {
		if item.Name() == "team-a/web" && item.Kind == KindClaim {
			now := metav1.NewTime(then)
			item.Object.SetDeletionTimestamp(&now)
		}
	}
	report := checked(t, set)
	if report.Resumes() || !slices.ContainsFunc(report.Findings, func(f Finding) bool { return strings.Contains(f.Text, "was being deleted") }) {
		t.Errorf("findings %v", report.Findings)
	}
	if server, _ := report.Object(KindServer, "rack1-u01"); server.Verdict != Resume {
		t.Errorf("the server: %s", server.Verdict)
	}
}

// A picture in the backup says more than memory does: a claim's machine that was seen Off is expected Off.
func TestTheLastPictureIsExpected(t *testing.T) {
	set := read(t, filepath.Join("testdata", "velero"))
	for _, server := range of[*v1alpha1.Server](set, KindServer) {
		if server.Name == "rack1-u01" {
			server.Status.Observed = &v1alpha1.ServerObserved{
				Reachable: true, PowerState: v1alpha1.ObservedOff, AssetTag: ledger.Stamp(server.Annotations[ledger.KeyIdentity], "0b1e7f9c-cluster", "claim-web"),
			}
		}
	}
	server, _ := checked(t, set).Object(KindServer, "rack1-u01")
	if e := server.Expected(); e.Condition != OffStamped || e.Verdict != Start || !slices.Equal(e.Effects, []lifecycle.Op{lifecycle.OpPowerOn}) {
		t.Errorf("%+v", e)
	}
}

// A large fleet is checked in seconds: nothing grows with the square of it.
func TestALargeBackup(t *testing.T) {
	const n = 1000
	one := read(t, filepath.Join("testdata", "velero"))
	set := &Set{}
	for i := range n {
		for _, item := range one.Items {
			if item.Object.GetName() == "rack1-u02" {
				set.Items = append(set.Items, copied(item, i))
			}
		}
	}
	started := time.Now()
	report := checked(t, set)
	took := time.Since(started)
	t.Logf("%d objects in %s", len(report.Objects), took.Round(time.Millisecond))
	if report.Summary[Resume] != 2*n {
		t.Errorf("%v", report.Summary)
	}
}

// copied is an object under another name, and of another machine.
func copied(item Item, i int) Item {
	object := item.Object.DeepCopyObject().(client.Object)
	name := fmt.Sprintf("%s-%d", object.GetName(), i)
	object.SetName(name)
	object.SetUID("")
	switch o := object.(type) {
	case *v1alpha1.Server:
		o.Spec.Redfish.BMCRef.Name, o.Spec.Redfish.SystemUUID = name, fmt.Sprintf("38947555-7742-3448-3784-82%010d", i)
		o.Annotations[ledger.KeyIdentity] = ledger.MachineIdentity(ledger.Hardware{SystemUUID: o.Spec.Redfish.SystemUUID})
	case *v1alpha1.BMC:
		o.Spec.CredentialsSecretRef.Name = name
	}
	item.Object = object
	return item
}

// A snapshot of etcd brings a deletion back that was under way: the claim's VM goes with it, and the claim then.
func TestASnapshotBringsADeletionBack(t *testing.T) {
	set := read(t, filepath.Join("testdata", "velero"))
	deleted := metav1.NewTime(then)
	for _, claim := range of[*v1alpha1.ServerClaim](set, KindClaim) {
		if claim.Name == "db" {
			claim.DeletionTimestamp = &deleted
		}
	}
	report := checked(t, set, func(o *Options) { o.Snapshot = true })
	server, _ := report.Object(KindServer, "team-a-db-0a1b2c3d")
	if e := server.Expected(); e.Verdict != PowerOff || !slices.Equal(e.Effects, []lifecycle.Op{lifecycle.OpDismantle}) {
		t.Errorf("%+v", e)
	}
	if web, _ := report.Object(KindServer, "rack1-u01"); web.Verdict != Resume {
		t.Errorf("another claim's server: %+v", web.Expected())
	}
}

// P10, P11: a BMC that was enrolled and comes back without its Servers makes none, and says so; where etcd was restored nothing tells that
// time went backwards, and one that never had any makes them.
func TestABMCWithoutItsServers(t *testing.T) {
	set := &Set{}
	for _, item := range read(t, filepath.Join("testdata", "velero")).Items {
		if item.Object.GetName() != "rack1-u02" || item.Kind == KindServer {
			continue
		}
		if item.Kind == KindBMC {
			item.Object.SetAnnotations(map[string]string{ledger.KeyObjectUID: string(item.Object.GetUID())})
		}
		set.Items = append(set.Items, item)
	}
	restored := checked(t, set)
	if rack, _ := restored.Object(KindBMC, "rack1-u02"); rack.Verdict != Hold || rack.Expected().Reason != v1alpha1.ReasonServerMissing {
		t.Errorf("restored: %+v", rack.Expected())
	}
	if server, there := restored.Object(KindServer, "rack1-u02"); there {
		t.Errorf("restored: a server is made: %+v", server)
	}
	back := checked(t, set, func(o *Options) { o.Snapshot = true })
	server, made := back.Object(KindServer, "rack1-u02")
	if rack, _ := back.Object(KindBMC, "rack1-u02"); rack.Verdict != Resume || !made || !server.Made {
		t.Errorf("by a snapshot: %+v, %+v", rack.Expected(), server)
	}
}

// I8, P10: a claim that waited for a machine when it was exported holds once it is restored, for its copy does not tell whether it had one
// later. Where etcd was restored it is the claim that it was; one that asks for a server by name had no other.
func TestAClaimThatWaited(t *testing.T) {
	waiting := func(spec v1alpha1.ServerClaimSpec) *Set {
		claim := &v1alpha1.ServerClaim{Spec: spec, ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "later", UID: "later-uid", Finalizers: []string{v1alpha1.FinalizerClaim}, Annotations: ledger.Claim{Identity: "later-uid"}.Render(),
		}}
		set := read(t, filepath.Join("testdata", "velero"))
		set.add(KindClaim, Origin{}, claim)
		return set
	}
	named := v1alpha1.ServerClaimSpec{ServerRef: &v1alpha1.LocalObjectReference{Name: "none"}}
	for name, c := range map[string]struct {
		report Report
		held   bool
	}{
		"restored":                {checked(t, waiting(v1alpha1.ServerClaimSpec{})), true},
		"by the name of a server": {checked(t, waiting(named)), false},
		"by a snapshot":           {checked(t, waiting(v1alpha1.ServerClaimSpec{}), func(o *Options) { o.Snapshot = true }), false},
	} {
		t.Run(name, func(t *testing.T) {
			claim, there := c.report.Object(KindClaim, "team-a/later")
			if held := claim.Verdict == Hold && claim.Expected().Reason == v1alpha1.ReasonClaimRestored; !there || held != c.held {
				t.Errorf("held %v, want %v: %+v", held, c.held, claim)
			}
		})
	}
}

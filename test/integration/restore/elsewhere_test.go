// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/backup"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// Drills on another control plane, one after the other: a move to it, and snapshots of its etcd.
func TestOnAnotherControlPlane(t *testing.T) {
	t.Parallel()
	t.Run("moved", testMoved)
	t.Run("snapshot", testSnapshot)
}

// B003, P11: the backup of one cluster is restored into another, while the first one still runs. There all is another's until a person
// takes it over; then machines and VMs are stamped anew, and the first cluster stands down by what it sees on them.
func testMoved(t *testing.T) {
	e := build(suite.Kit(t, "moved"))
	e.export()
	there := other.Kit(t, "there")
	manager := there.Manage()
	files := with(fileServers, fileClaims)
	foreign := predict(there, e.dir, files)
	expectVerdict(t, foreign, backup.KindServer, e.claimed.Name, backup.Hold, v1alpha1.ReasonForeignOwner)
	expectVerdict(t, foreign, backup.KindServer, e.gateway.Name, backup.Hold, v1alpha1.ReasonForeignOwner)
	there.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}})
	restore(there, e.dir, files...)
	e.in(there).expectAs(foreign)
	e.expectUntouched()

	old := clusterID(e.Kit)
	takenOver := predict(there, e.dir, files, func(o *backup.Options) { o.Settings.TakeOver = old })
	expectVerdict(t, takenOver, backup.KindServer, e.claimed.Name, backup.Restamp, "")
	expectVerdict(t, takenOver, backup.KindServer, e.gateway.Name, backup.Restamp, "")
	for _, name := range []string{e.claimed.Name, e.free.Name, e.gateway.Name, e.db.Spec.ServerName} {
		kubectl(there, "annotate", "srv", name, v1alpha1.AnnotationTakeOver+"="+old)
	}
	for _, name := range []string{e.claimed.Name, e.free.Name, e.gateway.Name, e.db.Spec.ServerName} {
		there.Until("server "+name+" taken over", owned(there, name, clusterID(there)))
	}
	e.in(there).expectAs(takenOver)
	if vms := e.cloud.Servers(); len(vms) != 2 {
		t.Errorf("%d VMs", len(vms))
	}

	// The old cluster sees it, and does nothing any more, whatever is asked of it.
	e.UntilHeld(e.Server(e.claimed.Name), v1alpha1.ReasonStampMismatch)
	for _, name := range []string{e.gateway.Name, e.db.Spec.ServerName} {
		e.UntilHeld(e.Server(name), v1alpha1.ReasonForeignOwner)
	}
	mark, wrote := e.Mark(), e.cloud.Wrote()
	harness.Change(e.Kit, e.web, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	harness.Change(e.Kit, e.Server(e.gateway.Name), func(s *v1alpha1.Server) { s.Spec.Power = v1alpha1.PowerOff })
	e.ExpectUntouched(mark, e.claimed)
	e.Settled(e.cloud)
	if now := e.cloud.Wrote(); !maps.Equal(now, wrote) {
		t.Errorf("asked of the cloud by the old cluster: %v, before %v", now, wrote)
	}
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
}

// in is the same estate as another cluster sees it.
func (e *estate) in(k *harness.Kit) *estate {
	there, moved := *k, *e
	there.Namespace = e.Namespace
	there.Suite = &harness.Suite{Env: k.Env, Admin: k.Admin, Tenant: k.Tenant, Rack: e.Rack}
	moved.Kit = &there
	return &moved
}

func owned(k *harness.Kit, server, owner string) func(context.Context) error {
	return func(ctx context.Context) error {
		object := k.Server(server)
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if is := object.Annotations[ledger.KeyOwner]; is != owner {
			return fmt.Errorf("owner %s", is)
		}
		return nil
	}
}

// P6, I9: etcd is restored from a snapshot that is older than a claim and its boot. Where the machine bears a stamp it holds by itself.
// Where none can be kept, a machine that its tenant had switched off would read as free: that is what --after-restore is for.
func testSnapshot(t *testing.T) {
	k := other.Kit(t, "snapshot")
	manager := k.Manage()
	early, late, bare := k.Enroll(), k.Enroll(), k.Enroll()
	bare.BMC.Behave(func(b *sim.Behaviour) { b.AssetTag = sim.AssetTagRefused })
	first := k.Booted(early.Name)
	dir := filepath.Join(t.TempDir(), "snapshot")
	if err := other.Env.SnapshotEtcd(dir); err != nil {
		t.Fatal(err)
	}
	k.Booted(late.Name)
	k.Booted(bare.Name)
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	bare.PowerOffByTenant()
	mark := k.Mark()
	machines := []*harness.Machine{early, late, bare}

	restoreSnapshot(t, dir)
	predicted := live(k)
	expectIn(t, predicted, early, backup.Resume, "")
	expectIn(t, predicted, late, backup.Hold, v1alpha1.ReasonStampMismatch)
	expectIn(t, predicted, bare, backup.Resume, "") // and this is the limit of the promise
	manager = k.Manage()
	for _, machine := range machines {
		untilAs(k, outcomeOf(t, predicted, backup.KindServer, machine.Name, conditionsOf(machine)...), k.Server(machine.Name))
	}
	k.ExpectUntouched(mark, early, late)
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}

	restoreSnapshot(t, dir)
	epoch := func(o *backup.Options) { o.Settings.Epoch = "2026-11-30" }
	predicted = live(k, epoch)
	for _, machine := range machines {
		reason := v1alpha1.ReasonRestoredSnapshot
		if machine == late {
			reason = v1alpha1.ReasonStampMismatch
		}
		expectIn(t, predicted, machine, backup.Hold, reason)
	}
	mark = k.Mark()
	k.Manage(func(o *operator.Options) { o.Settings.Epoch = "2026-11-30" })
	next := k.Claim(bare.Name)
	for _, machine := range machines {
		untilAs(k, outcomeOf(t, predicted, backup.KindServer, machine.Name, conditionsOf(machine)...), k.Server(machine.Name))
	}
	k.ExpectUntouched(mark, machines...)
	if name := harness.Read(k, next).Spec.ServerName; name != "" {
		t.Errorf("a machine that nobody has looked at since the restore was chosen: %s", name)
	}
	server := harness.Read(k, k.Server(early.Name))
	kubectl(k, "annotate", "srv", early.Name, v1alpha1.AnnotationResume+"="+lifecycle.ResumeConsent(server.Annotations[ledger.KeyIdentity], "2026-11-30"))
	k.UntilReady(first)
	k.ExpectUntouched(mark, machines...)
}

func restoreSnapshot(t *testing.T, dir string) {
	t.Helper()
	if _, err := other.Env.RestoreEtcd(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

// live asks backup-check about a cluster as it stands after its etcd was restored, before a manager runs.
func live(k *harness.Kit, changes ...func(*backup.Options)) backup.Report {
	k.T.Helper()
	var set *backup.Set
	k.Until("the cluster read", func(ctx context.Context) (err error) {
		set, err = backup.Live(ctx, k.Admin, operator.Defaults().Namespace)
		return err
	})
	snapshot := func(o *backup.Options) { o.Snapshot = true }
	return check(k, set, slices.Concat([]func(*backup.Options){snapshot}, changes)...)
}

// expectIn checks what was predicted of a machine as it is.
func expectIn(t *testing.T, report backup.Report, machine *harness.Machine, want backup.Verdict, reason string) {
	t.Helper()
	o := outcomeOf(t, report, backup.KindServer, machine.Name, conditionsOf(machine)...)
	harmless := !slices.ContainsFunc(o.Effects, lifecycle.Op.Destructive)
	if o.Verdict != want || o.Reason != reason || !harmless {
		t.Errorf("predicted for %s, %v: %+v, want %s %s", machine.Name, conditionsOf(machine), o, want, reason)
	}
}

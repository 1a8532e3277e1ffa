// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

type option func(*maintenance.View)

func maint(name string, options ...func(*v1alpha1.ServerMaintenance)) *v1alpha1.ServerMaintenance {
	m := &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name + "-uid"), CreationTimestamp: metav1.Time{Time: now}, Finalizers: []string{v1alpha1.FinalizerMaintenance},
		},
		Spec: v1alpha1.ServerMaintenanceSpec{ServerRef: v1alpha1.LocalObjectReference{Name: "s1"}, Policy: v1alpha1.MaintenanceOwnerApproval},
	}
	for _, o := range options {
		o(m)
	}
	return m
}

func enforced(m *v1alpha1.ServerMaintenance) { m.Spec.Policy = v1alpha1.MaintenanceEnforced }
func ended(m *v1alpha1.ServerMaintenance)    { m.DeletionTimestamp = &metav1.Time{Time: now} }
func unheld(m *v1alpha1.ServerMaintenance)   { m.Finalizers = nil }
func older(m *v1alpha1.ServerMaintenance) {
	m.CreationTimestamp = metav1.Time{Time: now.Add(-time.Hour)}
}

// view is a maintenance "fan" of a server "s1" that nobody has.
func view(options ...option) maintenance.View {
	v := maintenance.View{
		Now: now, Settings: lifecycle.DefaultSettings("cluster-a"), Live: true, Maintenance: maint("fan"),
		Server: &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{
			Name: "s1", Annotations: ledger.Server{Identity: "s1-id", Owner: "cluster-a", DiscoveredAt: now}.Render(),
		}},
	}
	for _, o := range options {
		o(&v)
	}
	return v
}

func of(m *v1alpha1.ServerMaintenance) option { return func(v *maintenance.View) { v.Maintenance = m } }

func lockedBy(m *v1alpha1.ServerMaintenance) option {
	return func(v *maintenance.View) {
		v.Server.Spec.MaintenanceRef = &v1alpha1.MaintenanceReference{Name: m.Name, UID: string(m.UID)}
	}
}

// claimed gives the server to a claim that approves what is named.
func claimed(approved string) option {
	return func(v *maintenance.View) {
		v.Server.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team", Name: "web", Identity: "web-uid", UID: "web-uid"}
		v.Claim = &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "web",
			Annotations: map[string]string{ledger.KeyIdentity: "web-uid", v1alpha1.AnnotationMaintenanceApproved: approved},
		}}
	}
}

func rival(m *v1alpha1.ServerMaintenance) option {
	return func(v *maintenance.View) { v.Rivals = append(v.Rivals, m) }
}

func intent(why ledger.Why) option {
	return func(v *maintenance.View) {
		entries := ledger.Entries{}.Intent(&ledger.Intent{ID: "i1", Op: ledger.IntentPowerOff, Why: why, At: now, Target: "sys"})
		v.Server.Annotations[ledger.KeyIntent] = entries[ledger.KeyIntent]
	}
}

func noServer(v *maintenance.View) { v.Server = nil }
func paused(v *maintenance.View)   { v.Server.Spec.Paused = true }
func foreign(v *maintenance.View)  { v.Server.Annotations[ledger.KeyOwner] = "cluster-b" }

func TestDecide(t *testing.T) {
	lock := func(uid string) *lifecycle.Patch {
		return &lifecycle.Patch{MaintenanceRef: &lifecycle.RefChange[v1alpha1.MaintenanceReference]{To: &v1alpha1.MaintenanceReference{Name: "fan", UID: uid}}}
	}
	unlock := func(entries ...string) *lifecycle.Patch {
		p := &lifecycle.Patch{Ledger: map[string]string{}, MaintenanceRef: &lifecycle.RefChange[v1alpha1.MaintenanceReference]{}}
		for _, key := range entries {
			p.Ledger[key] = ""
		}
		return p
	}
	withdrawn := func() *lifecycle.Patch {
		p := unlock()
		ledger.Entries(p.Ledger).Intent(nil).OffAt(now)
		return p
	}
	fan := maint("fan")
	for _, c := range []struct {
		name   string
		view   maintenance.View
		clause string
		reason string
		patch  *lifecycle.Patch
	}{
		{"Not ours: deleted without our finalizer", view(of(maint("fan", ended, unheld))), "Maintenance.NotOurs", "", nil},
		{"Finalizer first, so that its end is seen", view(of(maint("fan", unheld))), "Maintenance.Remember", v1alpha1.ReasonInitializing, &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerMaintenance}},
		{"A free server is entered whatever the policy", view(), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"OwnerApproval waits for the claim", view(claimed("")), "Maintenance.AwaitingApproval", v1alpha1.ReasonAwaitingApproval, nil},
		{"OwnerApproval enters what the claim approved, from a list", view(claimed("disk, fan")), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"One approval never serves another maintenance", view(claimed("fan2,fa")), "Maintenance.AwaitingApproval", v1alpha1.ReasonAwaitingApproval, nil},
		{"A claim that is missing has not approved (P10)", view(claimed("fan"), func(v *maintenance.View) { v.Claim = nil }), "Maintenance.AwaitingApproval", v1alpha1.ReasonAwaitingApproval, nil},
		{"A claim of another identity has not approved", view(claimed("fan"), func(v *maintenance.View) { v.Claim.Annotations[ledger.KeyIdentity] = "x" }), "Maintenance.AwaitingApproval", v1alpha1.ReasonAwaitingApproval, nil},
		{"No gap: a claim that is being released still has its server (B055)", view(claimed(""), intent(ledger.WhyReleased)), "Maintenance.AwaitingApproval", v1alpha1.ReasonAwaitingApproval, nil},
		{"Enforced does not ask", view(of(maint("fan", enforced)), claimed("")), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"The lock is never taken from who has it (B054)", view(of(maint("fan", enforced, older)), lockedBy(maint("disk"))), "Maintenance.Queued", v1alpha1.ReasonQueued, nil},
		{"Queue: oldest first", view(rival(maint("zzz", older))), "Maintenance.Queued", v1alpha1.ReasonQueued, nil},
		{"Queue: then by name", view(rival(maint("disk"))), "Maintenance.Queued", v1alpha1.ReasonQueued, nil},
		{"Queue: a younger one does not stop it", view(rival(maint("zzz"))), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"Queue: one that may not enter does not stop it", view(of(maint("fan", enforced)), claimed(""), rival(maint("disk", older))), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"Queue: one that ends does not stop it", view(rival(maint("disk", older, ended))), "Maintenance.Enter", v1alpha1.ReasonQueued, lock("fan-uid")},
		{"ServerGone", view(noServer), "Maintenance.ServerGone", v1alpha1.ReasonServerGone, nil},
		{"A server that is being deleted takes no new one", view(func(v *maintenance.View) { v.Server.DeletionTimestamp = &metav1.Time{Time: now} }), "Maintenance.ServerDeleting", v1alpha1.ReasonDeleting, nil},
		{"A paused server is not written to", view(paused), "Maintenance.ServerPaused", v1alpha1.ReasonPaused, nil},
		{"Another cluster's server is not written to", view(foreign), "Maintenance.ForeignOwner", v1alpha1.ReasonForeignOwner, nil},
		{"Active", view(lockedBy(fan)), "Maintenance.Active", v1alpha1.ReasonActive, nil},
		{"Restored: its UID is stamped anew", view(lockedBy(maint("fan", func(m *v1alpha1.ServerMaintenance) { m.UID = "before" }))), "Maintenance.StampUID", v1alpha1.ReasonInitializing, lock("fan-uid")},
		{"End: an unclaimed server is discovered afresh", view(of(maint("fan", ended)), lockedBy(fan)), "Maintenance.End", v1alpha1.ReasonDeleting, unlock(ledger.KeyDiscoveredAt)},
		{"End: a claimed server resumes", view(of(maint("fan", ended)), lockedBy(fan), claimed("")), "Maintenance.End", v1alpha1.ReasonDeleting, unlock()},
		{"End: its own intent is withdrawn (R3), and what it sent may still be on the wire", view(of(maint("fan", ended)), lockedBy(fan), claimed(""), intent(ledger.WhyMaintenance)), "Maintenance.End", v1alpha1.ReasonDeleting, withdrawn()},
		{"End: a release's intent stays", view(of(maint("fan", ended)), lockedBy(fan), claimed(""), intent(ledger.WhyReleased)), "Maintenance.End", v1alpha1.ReasonDeleting, unlock()},
		{"End: an unreadable ledger is left as it is", view(of(maint("fan", ended)), lockedBy(fan), claimed(""), func(v *maintenance.View) { v.Server.Annotations[ledger.KeyIntent] = "{" }), "Maintenance.End", v1alpha1.ReasonDeleting, unlock()},
		{"End: not on a paused server", view(of(maint("fan", ended)), lockedBy(fan), paused), "Maintenance.End.Paused", v1alpha1.ReasonPaused, nil},
		{"End: another cluster's server is not written to", view(of(maint("fan", ended)), lockedBy(fan), foreign), "Maintenance.End.ForeignOwner", v1alpha1.ReasonForeignOwner, nil},
		{"Gone: no server has it", view(of(maint("fan", ended))), "Maintenance.Gone", v1alpha1.ReasonDeleting, &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerMaintenance}},
		{"Gone: another one's lock is not its own", view(of(maint("fan", ended)), lockedBy(maint("disk"))), "Maintenance.Gone", v1alpha1.ReasonDeleting, &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerMaintenance}},
		{"Gone: the server is gone (B065)", view(of(maint("fan", ended)), noServer), "Maintenance.Gone", v1alpha1.ReasonDeleting, &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerMaintenance}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := maintenance.Decide(c.view)
			if d.Step.Clause != c.clause {
				t.Fatalf("clause %s (%s), want %s", d.Step.Clause, d.Step.Message, c.clause)
			}
			if diff := cmp.Diff(c.patch, d.Step.Patch); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if onServer := c.patch != nil && c.patch.MaintenanceRef != nil; onServer != (d.OnServer == "s1") {
				t.Errorf("patch on server %q", d.OnServer)
			}
			if len(d.Gates) > 0 && d.Gates[0].Reason != c.reason {
				t.Errorf("reason %s, want %s", d.Gates[0].Reason, c.reason)
			}
			if d.Step.Kind != lifecycle.StepSettled && d.Step.Clause != "Maintenance.Remember" && !d.Step.Live {
				t.Error("rests on another object and is not live (P10)")
			}
		})
	}
}

// TestReleaseWithClaimAndMaintenanceWaiting is the documented order of B055: the server that becomes free is taken by compare-and-swap,
// and approval is asked again as soon as a claim has it.
func TestReleaseWithClaimAndMaintenanceWaiting(t *testing.T) {
	if d := maintenance.Decide(view()); d.Step.Clause != "Maintenance.Enter" {
		t.Errorf("a free server: %s", d.Step.Clause)
	}
	if d := maintenance.Decide(view(claimed(""))); d.Step.Clause != "Maintenance.AwaitingApproval" {
		t.Errorf("a server that the next claim took first: %s", d.Step.Clause)
	}
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestRefusedCredentials: B171, B173. Told at once, not repeated before a long pause, and tried within a moment of a new secret.
func TestRefusedCredentials(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.pass(time.Minute)
		bmc.set(func(b *scriptedBMC) { b.failing = refused() })
		bmc.asked()
		w.pass(2 * time.Minute)
		if got := w.bmc("rack1").Status.Observed; got.Reachable || got.Reason != provider.ReasonCredentialsInvalid {
			t.Errorf("region of the BMC: %+v", got)
		}
		if got := w.server("rack1").Status.Observed; got.Reachable || got.Reason != provider.ReasonCredentialsInvalid {
			t.Errorf("region of the server: %+v", got)
		}
		if calls := bmc.asked(); len(calls) != 1 {
			t.Errorf("logins with the refused credentials: %v, want 1", calls)
		}
		w.change("rack1", setIntent("i1")) // somebody waits: the account matters more
		w.pass(time.Minute)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("tried for the sake of one who waits: %v", calls)
		}
		w.pass(12 * time.Hour)
		if calls := bmc.asked(); len(calls) < 10 || len(calls) > 16 {
			t.Errorf("%d logins in 12 hours, want a back-off up to an hour", len(calls))
		}
		bmc.set(func(b *scriptedBMC) { b.failing = nil })
		w.pass(time.Minute)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("tried before the secret changed: %v", calls)
		}
		w.put(newSecret("rack1-credentials"))
		if got := w.bmc("rack1").Status.Observed; !got.Reachable {
			t.Error("not tried when the secret was made")
		}
		if got := w.server("rack1").Status.Observed; !got.Reachable || got.Intent != "i1" {
			t.Errorf("region of the server after the secret was made: %+v", got)
		}
		w.put(newSecret("rack1-credentials"))
		w.put(newSecret("of-somebody-else"))
		if got := kinds(bmc.asked())["discover"]; got != 2 {
			t.Errorf("%d discoveries for a secret made and changed, want 2", got)
		}
	})
}

// TestGuardOfASecretCostsNoDiscovery: the finalizer that a BMC's secret gets when it comes into use is no new password; where the
// BMC fails it is taken for one, to be safe.
func TestGuardOfASecretCostsNoDiscovery(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		w.put(newSecret("rack1-credentials"))
		bmc := w.enroll("rack1")
		bmc.asked()
		guarded := newSecret("rack1-credentials")
		guarded.UID = w.objects["Secret rack1-credentials"].GetUID()
		guarded.Finalizers = []string{v1alpha1.FinalizerInUse}
		w.put(guarded)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("asked because its secret was guarded: %v", calls)
		}
		bmc.set(func(b *scriptedBMC) { b.failing = refused() })
		w.pass(3 * time.Minute)
		bmc.asked()
		guarded = guarded.DeepCopy()
		guarded.Finalizers = nil
		w.put(guarded)
		if got := kinds(bmc.asked())["discover"]; got != 1 {
			t.Errorf("%d discoveries of a BMC that fails, want 1", got)
		}
	})
}

// TestSecretOfAnotherNamespace is none of ours.
func TestSecretOfAnotherNamespace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		secret := newSecret("rack1-credentials")
		secret.Namespace = "tenant"
		w.put(secret)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("asked for a tenant's secret: %v", calls)
		}
	})
}

// TestSpecChangeBeginsAnew: the back-off of a dead BMC ends with a new endpoint.
func TestSpecChangeBeginsAnew(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.pass(time.Hour)
		bmc.set(func(b *scriptedBMC) { b.failing = nil })
		moved := w.bmc("rack1")
		moved.Spec.Endpoint, moved.Generation = "https://elsewhere.example", 2
		w.put(moved)
		if got := w.bmc("rack1").Status.Observed; !got.Reachable {
			t.Error("not tried when the spec changed")
		}
		if got := w.server("rack1").Status.Observed; !got.Reachable {
			t.Error("its server not looked at when the spec changed")
		}
	})
}

// TestSpecChangeEndsAVisitThatHangs: what it would find says nothing about the new spec.
func TestSpecChangeEndsAVisitThatHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		bmc.set(func(b *scriptedBMC) { b.hangs = true })
		w.pass(2*time.Minute + time.Second)
		bmc.set(func(b *scriptedBMC) { b.hangs = false })
		moved := w.bmc("rack1")
		moved.Generation = 2
		w.put(moved)
		if got := kinds(bmc.asked())["discover"]; got != 2 {
			t.Errorf("%d discoveries, want the one at enrolment and one for the new spec", got)
		}
		if e := w.monitor.fleet.bmcs["rack1"]; e.strikes.count != 0 || !e.gate.IsZero() {
			t.Errorf("the visit of the old spec counts: %+v", e.strikes)
		}
	})
}

// TestWipeWhileDeniedIsHealedWithoutAsking: P1 does not cost a login.
func TestWipeWhileDeniedIsHealedWithoutAsking(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.failing = refused() })
		w.pass(3 * time.Minute)
		server, object := w.server("rack1").Status.Observed, w.bmc("rack1").Status.Observed
		bmc.asked()
		wiped := w.bmc("rack1")
		wiped.Status = v1alpha1.BMCStatus{}
		w.put(wiped)
		w.pass(time.Second)
		if got := w.bmc("rack1").Status.Observed; got == nil || got.Reason != object.Reason {
			t.Errorf("region of the BMC: %+v", got)
		}
		w.change("rack1", func(s *v1alpha1.Server) { s.Status = v1alpha1.ServerStatus{} })
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed; got == nil || got.Reason != server.Reason {
			t.Errorf("region of the server: %+v", got)
		}
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("asked for it: %v", calls)
		}
	})
}

// TestRestartDoesNotHammerAnAccount: the first try after a start waits where the credentials were refused.
func TestRestartDoesNotHammerAnAccount(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.failing = refused() })
		w.pass(3 * time.Minute)
		bmc.asked()
		for range 10 {
			w.stop()
			w.start()
			w.pass(10 * time.Second)
		}
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("logins in ten restarts: %d", len(calls))
		}
	})
}

// TestVisitOfAnOlderSecretDoesNotCount: it ended between the change and its failure.
func TestVisitOfAnOlderSecretDoesNotCount(t *testing.T) {
	now := time.Now()
	f := newFleet(DefaultCadence(), func() float64 { return 0.5 })
	bmc := newBMC("rack1")
	bmc.UID = "1"
	f.addBMC(bmc, created, now)
	_, v := f.begin(t.Context(), now)
	f.secretChanged("rack1-credentials", now)
	if _, current := f.bmcStruck(v, failureOf(refused()), now); current {
		t.Error("the failure counts")
	}
	f.end(v, now)
	if pause := f.wait(now); pause > 0 {
		t.Errorf("the new secret waits %s", pause)
	}
}

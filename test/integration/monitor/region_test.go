// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

const report = `{"status":{"phase":"Available","observedGeneration":1,"conditions":[
	{"type":"Ready","status":"True","reason":"Settled","message":"","lastTransitionTime":"2026-11-29T12:00:00Z"}]}}`

// TestReportIsUntouched: P7, B227. What the reconciler reports stays as it is through the monitor's writes, and the fields that the
// two own are disjoint.
func TestReportIsUntouched(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "untouched")
	open(t, r, nil, nil)
	eventuallySeen(t, "untouched", "first picture", reachable)
	server := getServer(t.Context(), t, "untouched")
	patchStatus(t, server, "reconciler", report)
	bmc.set(func(b *scripted) { b.facts.Power = provider.PowerOn })
	eventuallySeen(t, "untouched", "On", func(o *v1alpha1.ServerObserved) bool { return o.PowerState == v1alpha1.ObservedOn })

	got := getServer(t.Context(), t, "untouched")
	if got.Status.Phase != v1alpha1.PhaseAvailable || len(got.Status.Conditions) != 1 || got.Status.ObservedGeneration != 1 {
		t.Errorf("report after the monitor's write: %+v", got.Status)
	}
	if got.Generation != server.Generation {
		t.Error("the monitor moved the generation")
	}
	owned := owners(t, got)
	if diff := cmp.Diff([]string{"observed"}, owned["holdfast-monitor"]); diff != "" {
		t.Errorf("fields of status that the monitor owns: %s", diff)
	}
	if strings.Contains(strings.Join(owned["reconciler"], " "), "observed,") || len(owned["reconciler"]) == 0 {
		t.Errorf("fields of status that the reconciler owns: %v", owned["reconciler"])
	}
}

// owners returns the fields directly below status that each manager owns, and fails where one owns anything else by the same
// writes.
func owners(t *testing.T, object client.Object) map[string][]string {
	t.Helper()
	owned := map[string][]string{}
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource != "status" {
			continue
		}
		var fields map[string]map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		for top, below := range fields {
			if top != "f:status" {
				t.Errorf("%s owns %s", entry.Manager, top)
			}
			for field := range below {
				owned[entry.Manager] = append(owned[entry.Manager], strings.TrimPrefix(field, "f:"))
			}
		}
	}
	return owned
}

// TestWipedStatusIsHealed: P1, I5. A wipe by null, by an empty object and by an older copy is undone within a moment, on Server
// and BMC.
func TestWipedStatusIsHealed(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "wiped")
	open(t, r, nil, nil)
	eventuallySeen(t, "wiped", "first picture", reachable)
	older, err := json.Marshal(map[string]any{"status": map[string]any{"observed": getServer(t.Context(), t, "wiped").Status.Observed}})
	if err != nil {
		t.Fatal(err)
	}
	bmc.set(func(b *scripted) { b.facts.Power = provider.PowerOn })
	isOn := func(o *v1alpha1.ServerObserved) bool {
		return o.Reachable && o.PowerState == v1alpha1.ObservedOn && o.Hardware != nil
	}
	eventuallySeen(t, "wiped", "On", isOn)
	for _, wipe := range []string{`{"status":null}`, `{"status":{"observed":null}}`, string(older)} {
		patchStatus(t, getServer(t.Context(), t, "wiped"), "admin", wipe)
		eventuallySeen(t, "wiped", "healed after "+wipe, isOn)
	}
	patchStatus(t, getBMC(t.Context(), t, "wiped"), "admin", `{"status":null}`)
	testenv.Eventually(t, "region of the BMC healed", func(ctx context.Context) error {
		if observed := getBMC(ctx, t, "wiped").Status.Observed; observed == nil || !observed.Reachable || len(observed.Systems) != 1 {
			return fmt.Errorf("region: %+v", observed)
		}
		return nil
	})
}

// TestNewerPictureIsNotReverted: a picture that another wrote while ours was being taken stands until the next look.
func TestNewerPictureIsNotReverted(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "raced")
	open(t, r, nil, nil)
	eventuallySeen(t, "raced", "first picture", reachable)
	server := getServer(t.Context(), t, "raced")
	looks := 0
	bmc.set(func(b *scripted) {
		b.facts.Power = provider.PowerOn
		b.during = func() {
			patchStatus(t, server, "another-monitor", `{"status":{"observed":{"health":"Critical"}}}`)
			looks = bmc.looked()
		}
	})
	eventuallySeen(t, "raced", "the truth of the next look", func(o *v1alpha1.ServerObserved) bool {
		return o.PowerState == v1alpha1.ObservedOn && o.Health == "OK"
	})
	if after := bmc.looked(); after <= looks {
		t.Errorf("written by look %d, in which another picture was written", looks)
	}
}

// TestLostLockIsLookedAtAgain: a real 409.
func TestLostLockIsLookedAtAgain(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "locked")
	var armed, lost atomic.Bool
	open(t, r, nil, func(c client.Client) client.Client {
		return racing{Client: c, race: func(ctx context.Context, object client.Object) bool {
			if object.GetName() != "locked" || !armed.CompareAndSwap(true, false) {
				return false
			}
			patchStatus(t, getServer(ctx, t, "locked"), "reconciler", report)
			return true
		}, lost: &lost}
	})
	eventuallySeen(t, "locked", "first picture", reachable)
	armed.Store(true)
	bmc.set(func(b *scripted) { b.facts.Power = provider.PowerOn })
	eventuallySeen(t, "locked", "On", func(o *v1alpha1.ServerObserved) bool { return o.PowerState == v1alpha1.ObservedOn })
	if !lost.Load() {
		t.Error("the race was not lost: no 409")
	}
	if phase := getServer(t.Context(), t, "locked").Status.Phase; phase != v1alpha1.PhaseAvailable {
		t.Errorf("phase %q: the other's write is lost", phase)
	}
}

// racing lets somebody else write between the moment a patch of a status is made and the moment it is sent.
type racing struct {
	client.Client
	race func(context.Context, client.Object) bool
	lost *atomic.Bool
}

func (r racing) Status() client.SubResourceWriter { return racingWriter{r.Client.Status(), r} }

type racingWriter struct {
	client.SubResourceWriter
	racing racing
}

func (w racingWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	raced := w.racing.race(ctx, object)
	err = w.SubResourceWriter.Patch(ctx, object, client.RawPatch(patch.Type(), data), options...)
	if raced {
		w.racing.lost.Store(apierrors.IsConflict(err))
	}
	return err
}

// TestPictureBearsTheIntent: R4.
func TestPictureBearsTheIntent(t *testing.T) {
	r := newRack()
	r.enroll(t, "intent")
	open(t, r, nil, nil)
	eventuallySeen(t, "intent", "first picture", reachable)
	server := getServer(t.Context(), t, "intent")
	opened := server.DeepCopy()
	metav1.SetMetaDataAnnotation(&opened.ObjectMeta, ledger.KeyIntent,
		`{"id":"i1","op":"PowerOff","why":"Released","at":"2026-11-29T12:00:00Z","target":"1"}`)
	if err := admin(t).Patch(t.Context(), opened, client.MergeFrom(server)); err != nil {
		t.Fatal(err)
	}
	eventuallySeen(t, "intent", "intent on the picture", func(o *v1alpha1.ServerObserved) bool { return o.Intent == "i1" })
}

// TestAnythingABMCSaysFits: the schema never refuses a picture.
func TestAnythingABMCSaysFits(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "hostile")
	long := strings.Repeat("\xff é", 4000)
	hardware := &provider.Hardware{Model: long, SKU: long, MemoryBytes: 1 << 62}
	for i := range 300 {
		hardware.NICs = append(hardware.NICs, provider.NIC{Name: long, MAC: fmt.Sprint(i), SpeedMbps: -1})
		hardware.Drives = append(hardware.Drives, provider.Drive{Name: long, CapacityBytes: -1})
	}
	bmc.set(func(b *scripted) {
		b.facts = provider.SystemFacts{
			ID: long, UUID: long, Power: "Asleep", Health: long, Indicator: provider.IndicatorLED(long), AssetTag: long,
			Boot:         provider.BootOverride{Target: provider.BootTarget(long), HTTPURI: long},
			BootProgress: provider.BootProgress(long), Hardware: hardware, Gaps: []string{long, long + "1", ""},
		}
	})
	open(t, r, nil, nil)
	eventuallySeen(t, "hostile", "picture", func(o *v1alpha1.ServerObserved) bool {
		return o.Reachable && o.Hardware != nil && o.Hardware.NICCount == 300 && o.PowerState == v1alpha1.ObservedUnknown
	})
}

// TestNewSecretIsTriedAtOnce: B171, by the watch on metadata that the monitor's rights allow.
func TestNewSecretIsTriedAtOnce(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "secret")
	bmc.set(func(b *scripted) {
		b.err = &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsInvalid, Message: "refused"}
	})
	open(t, r, nil, nil)
	eventuallySeen(t, "secret", "refusal", func(o *v1alpha1.ServerObserved) bool { return o.Reason == provider.ReasonCredentialsInvalid })
	bmc.set(func(b *scripted) { b.err = nil })
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(secretKind)
	secret.Name, secret.Namespace = "secret", namespace
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"password":"new"}}`))
	if err := admin(t).Patch(t.Context(), secret, patch); err != nil {
		t.Fatal(err)
	}
	eventuallySeen(t, "secret", "reachable with the new secret", reachable)
}

// TestRemovedBMCIsForgotten: B059.
func TestRemovedBMCIsForgotten(t *testing.T) {
	r := newRack()
	bmc := r.enroll(t, "gone")
	open(t, r, nil, nil)
	eventuallySeen(t, "gone", "first picture", reachable)
	remove(t, getBMC(t.Context(), t, "gone"))
	testenv.Eventually(t, "forgotten", func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.forgot["gone"] {
			return fmt.Errorf("forgotten: %v", r.forgot)
		}
		return nil
	})
	before := bmc.looked()
	other := r.enroll(t, "still-there")
	testenv.Eventually(t, "ten looks at another", func(context.Context) error {
		if looks := other.looked(); looks < 10 {
			return fmt.Errorf("%d looks", looks)
		}
		return nil
	})
	if after := bmc.looked(); after != before {
		t.Errorf("%d looks after it was gone", after-before)
	}
}

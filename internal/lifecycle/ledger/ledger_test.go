// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// TestRoundTrip: what is rendered reads back the same, and annotations of others do not matter.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := anyServer(rt)
		annotations := want.Render()
		annotations["holdfast.dev/power-off"] = "a consent is no memory"
		got, err := ledger.ParseServer(annotations)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestRoundTripClaim: the same for claims.
func TestRoundTripClaim(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := ledger.Claim{Identity: anyText(rt, "identity"), Bound: anyText(rt, "bound")}
		got, err := ledger.ParseClaim(want.Render())
		if err != nil {
			rt.Fatal(err)
		}
		if got != want {
			rt.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// TestAWriteChangesOnlyWhatItNames: entries that are not named are not in the change.
func TestAWriteChangesOnlyWhatItNames(t *testing.T) {
	got := ledger.Entries{}.Boot(&ledger.Boot{Claim: "c", Stage: ledger.StageBooting, At: at(0)}).PowerOn(nil)
	want := ledger.Entries{ledger.KeyBoot: `{"claim":"c","stage":"Booting","at":"2026-11-29T12:00:00Z"}`, ledger.KeyPowerOn: ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAbsentIsZero: an object without a ledger has an empty one, and no error.
func TestAbsentIsZero(t *testing.T) {
	got, err := ledger.ParseServer(map[string]string{"other.example/identity": "x"})
	if err != nil || got != (ledger.Server{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestUnreadable: each of these is an error that names its entry, never an empty value (P3).
func TestUnreadable(t *testing.T) {
	cases := map[string]struct{ key, value string }{
		"empty text":              {ledger.KeyIdentity, ""},
		"text with a space":       {ledger.KeyOwner, "a b"},
		"text with a newline":     {ledger.KeyObjectUID, "a\n"},
		"no time":                 {ledger.KeyDiscoveredAt, "yesterday"},
		"empty time":              {ledger.KeyDirtySince, ""},
		"zero time":               {ledger.KeyRestarted, "0001-01-01T00:00:00Z"},
		"no JSON":                 {ledger.KeyBoot, "Booted"},
		"null":                    {ledger.KeyBoot, "null"},
		"empty object":            {ledger.KeyBoot, "{}"},
		"unknown field":           {ledger.KeyBoot, `{"claim":"c","stage":"Booted","at":"2026-11-29T12:00:00Z","more":1}`},
		"unknown stage":           {ledger.KeyBoot, `{"claim":"c","stage":"Flying","at":"2026-11-29T12:00:00Z"}`},
		"no claim":                {ledger.KeyBoot, `{"stage":"Booted","at":"2026-11-29T12:00:00Z"}`},
		"no time in it":           {ledger.KeyBoot, `{"claim":"c","stage":"Booted"}`},
		"something after it":      {ledger.KeyReleased, `{"claim":"c","at":"2026-11-29T12:00:00Z"} {}`},
		"an array":                {ledger.KeyReleased, `[]`},
		"unknown asker":           {ledger.KeyPowerOn, `{"by":"ghost","at":"2026-11-29T12:00:00Z"}`},
		"asker without an id":     {ledger.KeyPowerOn, `{"by":"claim","at":"2026-11-29T12:00:00Z"}`},
		"unknown operation":       {ledger.KeyIntent, `{"id":"i","op":"Explode","why":"Spec","at":"2026-11-29T12:00:00Z","target":"t"}`},
		"unknown reason":          {ledger.KeyIntent, `{"id":"i","op":"PowerOff","why":"Fun","at":"2026-11-29T12:00:00Z","target":"t"}`},
		"intent without target":   {ledger.KeyIntent, `{"id":"i","op":"PowerOff","why":"Spec","at":"2026-11-29T12:00:00Z"}`},
		"intent without an id":    {ledger.KeyIntent, `{"op":"PowerOff","why":"Spec","at":"2026-11-29T12:00:00Z","target":"t"}`},
		"wrong type":              {ledger.KeyAssetTag, `{"previous":7}`},
		"far too long":            {ledger.KeyAssetTag, `{"previous":"` + strings.Repeat("x", 9000) + `"}`},
		"a newer version's entry": {"ledger.holdfast.dev/firmware", "x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ledger.ParseServer(map[string]string{ledger.KeyOwner: "us", c.key: c.value})
			var unreadable *ledger.UnreadableError
			if !errors.As(err, &unreadable) || unreadable.Key != c.key || !strings.Contains(err.Error(), c.key) {
				t.Fatalf("error %v, want one that names %s", err, c.key)
			}
			if got != (ledger.Server{}) {
				t.Errorf("an unreadable ledger gave %+v", got)
			}
		})
	}
}

// FuzzParseServer: whatever stands there, reading it either fails with the entry's name or gives what renders and reads the same.
func FuzzParseServer(f *testing.F) {
	for key, value := range full().Render() {
		f.Add(key, value)
	}
	f.Add(ledger.KeyBoot, `{"CLAIM":"c","stage":"Booted","at":"9999-12-31T23:59:59+23:59"}`)
	f.Add(ledger.KeyRestarted, "2026-11-29T12:00:00.000000001+14:00")
	f.Fuzz(func(t *testing.T, key, value string) {
		got, err := ledger.ParseServer(map[string]string{key: value})
		if err != nil {
			var unreadable *ledger.UnreadableError
			if !errors.As(err, &unreadable) || unreadable.Key != key {
				t.Fatalf("error %v does not name %q", err, key)
			}
			return
		}
		again, err := ledger.ParseServer(got.Render())
		if err != nil {
			t.Fatalf("rendered %v, which cannot be read: %v", got.Render(), err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestEveryEntryIsRendered: no field of the ledger is forgotten on its way to the object.
func TestEveryEntryIsRendered(t *testing.T) {
	want := map[string]bool{}
	for _, key := range []string{
		ledger.KeyIdentity, ledger.KeyOwner, ledger.KeyObjectUID, ledger.KeyDiscoveredAt, ledger.KeyPowerOn, ledger.KeyBoot, ledger.KeyRestarted,
		ledger.KeyDirtySince, ledger.KeyOffAt, ledger.KeyReleased, ledger.KeyAssetTag, ledger.KeyRestoreEpoch, ledger.KeyIntent,
	} {
		want[key] = true
	}
	got := map[string]bool{}
	for key := range maps.Keys(full().Render()) {
		got[key] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func at(seconds int) time.Time { return time.Date(2026, 11, 29, 12, 0, seconds, 0, time.UTC) }

func full() ledger.Server {
	return ledger.Server{
		Identity: "id", Owner: "us", ObjectUID: "uid", DiscoveredAt: at(1), PowerOn: &ledger.PowerOn{By: ledger.ByClaim, ID: "c", At: at(2)},
		Boot: &ledger.Boot{Claim: "c", Stage: ledger.StageStarting, At: at(3), Again: true}, Restarted: at(4), DirtySince: at(5), OffAt: at(6),
		Released: &ledger.Released{Claim: "b", At: at(7)}, AssetTag: &ledger.AssetTag{Previous: "shelf 7", Unwritable: true}, RestoreEpoch: "e1",
		Intent: &ledger.Intent{ID: "i", Op: ledger.IntentPowerOff, Why: ledger.WhyReleased, At: at(8), Target: "t", Claim: "c", ClaimUID: "u", Task: "/task/1", Forced: true, Failed: true},
	}
}

func anyText(rt *rapid.T, label string) string {
	return rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[!-~]{1,64}`)).Draw(rt, label)
}

func anyTime(rt *rapid.T, label string) time.Time {
	if rapid.Bool().Draw(rt, label+" absent") {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(0, 4e9).Draw(rt, label), rapid.Int64Range(0, 999_999_999).Draw(rt, label+" ns")).UTC()
}

func sometimes[T any](rt *rapid.T, label string, entry T) *T {
	if rapid.Bool().Draw(rt, label) {
		return &entry
	}
	return nil
}

func anyServer(rt *rapid.T) ledger.Server {
	some := rapid.String()
	name := rapid.StringN(1, 40, 200)
	when := rapid.Map(rapid.Int64Range(1, 4e9), func(s int64) time.Time { return time.Unix(s, 0).UTC() })
	return ledger.Server{
		Identity: anyText(rt, "identity"), Owner: anyText(rt, "owner"), ObjectUID: types.UID(anyText(rt, "uid")), RestoreEpoch: anyText(rt, "epoch"),
		DiscoveredAt: anyTime(rt, "discovered"), Restarted: anyTime(rt, "restarted"), DirtySince: anyTime(rt, "dirty"), OffAt: anyTime(rt, "off"),
		PowerOn: sometimes(rt, "power-on", ledger.PowerOn{
			By: rapid.SampledFrom([]ledger.PowerBy{ledger.ByClaim, ledger.BySpec, ledger.ByMaintenance}).Draw(rt, "by"), ID: name.Draw(rt, "id"), At: when.Draw(rt, "on at"),
		}),
		Boot: sometimes(rt, "boot", ledger.Boot{
			Claim: name.Draw(rt, "claim"), At: when.Draw(rt, "boot at"), Again: rapid.Bool().Draw(rt, "again"),
			Stage: rapid.SampledFrom([]ledger.Stage{ledger.StageBooting, ledger.StageStarting, ledger.StageBooted}).Draw(rt, "stage"),
		}),
		Released: sometimes(rt, "released", ledger.Released{Claim: name.Draw(rt, "released claim"), At: when.Draw(rt, "released at")}),
		AssetTag: sometimes(rt, "asset tag", ledger.AssetTag{Previous: some.Draw(rt, "previous"), Unwritable: rapid.Bool().Draw(rt, "unwritable")}),
		Intent: sometimes(rt, "intent", ledger.Intent{
			ID: name.Draw(rt, "intent id"), Op: ledger.IntentPowerOff, At: when.Draw(rt, "intent at"), Target: name.Draw(rt, "target"),
			Why:   rapid.SampledFrom([]ledger.Why{ledger.WhySpec, ledger.WhyReleased, ledger.WhyConsent, ledger.WhyRestart}).Draw(rt, "why"),
			Claim: some.Draw(rt, "intent claim"), ClaimUID: types.UID(some.Draw(rt, "intent uid")), Task: some.Draw(rt, "task"),
		}),
	}
}

// TestLongestImageFits: the URL is a tenant's; none that the API takes makes a ledger that cannot be read.
func TestLongestImageFits(t *testing.T) {
	for _, filler := range []string{"&", `"`, `\`, "%", "x"} {
		image := "http://a/" + strings.Repeat(filler, v1alpha1.MaxURLLength-len("http://a/"))
		want := ledger.Boot{Claim: strings.Repeat("c", 36), Stage: ledger.StageBooting, At: time.Unix(1, 1).UTC(), Again: true, Media: image}
		got, err := ledger.ParseServer(ledger.Entries{}.Boot(&want))
		if err != nil {
			t.Errorf("full of %s: %v", filler, err)
			continue
		}
		if diff := cmp.Diff(want, *got.Boot); diff != "" {
			t.Error(diff)
		}
	}
}

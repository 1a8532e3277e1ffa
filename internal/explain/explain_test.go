// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

func reportOn(view lifecycle.ServerView) Report {
	r := &reading{now: view.Now}
	report := Report{
		Kind: kindServer, Name: view.Server.Name, Description: servers.Describe(view),
		Facts: r.serverFacts(view), Memory: serverMemory(view.Server.Annotations), Uses: serverUses(view), UsedBy: serverUsers(view),
	}
	fill(report.Gates, values{serverIdentity: lt.Identity, serverName: lt.ServerName, claimIdentity: lt.ClaimID, owner: "elsewhere", stamp: view.Facts().AssetTag, restore: view.Settings.Epoch})
	return report
}

func text(t *testing.T, report Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextOfARunningServer(t *testing.T) {
	want := `Server rack1-u07
  phase        Reserved (metal 7: claimRef, and the claim is live, has the same identity and names this server)
  next step    Settled: booted, and as the claim asks [Reserved.Booted.Settled]
  machine      power On for 1h0m0s, stamped ` + ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) + `
  bound        claim tenant/web remembers this machine
  uses
    BMC                     bmc-u07 (there, cannot go while it is used)
  used by
    ServerClaim             tenant/web (there)
`
	got, _, _ := strings.Cut(text(t, reportOn(lt.View(lt.Running))), "  conditions")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTextOfARunningVM(t *testing.T) {
	want := `  vm           vm-1 ACTIVE, image img-12, power On for 1h0m0s
  port         0: port-0, plugged into vm-1
  floating ip  203.0.113.7, on port port-0
  uses
    Cloud                   fra1 (there, cannot go while it is used)
    SSHCertificateAuthority staff (being deleted)
`
	scene := lt.All(lt.Virtual, lt.Facts(func(o *v1alpha1.ServerObserved) {
		o.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: "f", Address: "203.0.113.7", PortID: "port-0"}
	}), func(s *lt.Scene) {
		s.Dependencies = append(s.Dependencies, lifecycle.Dependency{Kind: kindAuthority, Name: "staff", Deleting: true})
	})
	_, got, _ := strings.Cut(text(t, reportOn(lt.View(scene))), "Running.Settled]\n")
	got, _, _ = strings.Cut(got, "  conditions")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What a VM that is gone, errored or several once was is told: nothing of it can be looked up at the cloud any more.
func TestVMsInTroubleInWords(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	for want, seen := range map[string]*v1alpha1.ObservedInstance{
		"none is known": nil,
		"a is gone: the cloud says that it does not exist; it was launched 2026-11-29T12:00:00Z": {ID: "a", LaunchedAt: &at},
		`a ERROR, fault "No valid host was found", never launched`:                               {ID: "a", Exists: true, State: "ERROR", Fault: "No valid host was found"},
		"a REBUILD (rebuilding), 192.0.2.7 192.0.2.8": {
			ID: "a", Exists: true, State: "REBUILD", TaskState: "rebuilding", LaunchedAt: &at, Addresses: []string{"192.0.2.7", "192.0.2.8"},
		},
	} {
		if got := strings.Join(vm(seen), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Each hold is shown with what is missing, what Holdfast will not do, and ways out that can be typed as they stand.
func TestHoldsAreShownWithTheirWaysOut(t *testing.T) {
	for _, row := range []struct {
		reason string
		scene  lt.Override
		wants  []string
	}{
		{v1alpha1.ReasonFoundRunning, lt.On, []string{"holdfast.dev/power-off=" + lt.Identity, "foundRunning"}},
		{v1alpha1.ReasonClaimMissing, lt.All(lt.Running, lt.ClaimGone), []string{"restore the claim", "web (not there)"}},
		{v1alpha1.ReasonForeignOwner, lt.Ledger(func(l *ledger.Server) { l.Owner = "elsewhere" }), []string{"holdfast.dev/take-over=elsewhere"}},
		{v1alpha1.ReasonRestoredSnapshot, lt.Settings(func(s *lifecycle.Settings) { s.Epoch = "e1" }), []string{"holdfast.dev/resume=" + lt.Identity + "/e1", "holdfast resume"}},
		{v1alpha1.ReasonStampMismatch, lt.All(lt.Running, lt.Stamped("claim-db")), []string{"holdfast.dev/power-off=" + ledger.Stamp(lt.Identity, lt.ClusterID, "claim-db")}},
		{v1alpha1.ReasonLost, lt.All(lt.Virtual, lt.VM(func(i *v1alpha1.ObservedInstance) { i.Exists = false })), []string{"vm-1 is gone", "delete the"}},
		{v1alpha1.ReasonLedgerUnreadable, lt.Garbled(ledger.KeyBoot, "{"), []string{"break-glass", `boot           "{"`}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got := text(t, reportOn(lt.View(row.scene)))
			for _, want := range append(row.wants, "stalled      "+row.reason+": ", "missing", "will not", "ways out") {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in:\n%s", want, got)
				}
			}
			if strings.Contains(got, "<identity") || strings.Contains(got, "<old owner>") || strings.Contains(got, "<stamp") || strings.Contains(got, "<name") {
				t.Errorf("a placeholder is left in:\n%s", got)
			}
		})
	}
}

// P10: so is that of a claim that was restored, and of which nothing tells whether it had a machine. The consent names the object that is there.
func TestARestoredClaimIsShownWithItsWaysOut(t *testing.T) {
	c := &v1alpha1.ServerClaim{}
	c.Namespace, c.Name, c.UID = "team", "web", "uid-2"
	c.Finalizers, c.Annotations = []string{v1alpha1.FinalizerClaim}, ledger.Claim{Identity: "uid-1"}.Render()
	d := claim.Decide(claim.View{Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Settings: lifecycle.DefaultSettings("here"), Live: true, Claim: c})
	report := Report{Kind: kindClaim, Name: "team/web", Description: describeClaim(d)}
	fill(report.Gates, values{claimIdentity: "uid-1", claimUID: "uid-2"})
	got := text(t, report)
	for _, want := range []string{v1alpha1.ReasonClaimRestored + ": ", "restore the newer copy of the claim", v1alpha1.AnnotationChooseAnew + "=uid-2`", "will not", "delete the claim"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// Whatever the ledger remembers is told: an entry without words would be a memory that nobody can see.
func TestEveryEntryOfTheLedgerHasWords(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	full := ledger.Server{
		Identity: "i", Owner: "o", ObjectUID: "u", DiscoveredAt: at, Restarted: at, DirtySince: at, OffAt: at, RestoreEpoch: "e",
		PowerOn: &ledger.PowerOn{By: ledger.BySpec, At: at}, Boot: &ledger.Boot{Claim: "c", Stage: ledger.StageBooted, At: at},
		Released: &ledger.Released{Claim: "c", At: at}, AssetTag: &ledger.AssetTag{Previous: "INV-1"},
		Intent:        &ledger.Intent{ID: "1", Op: ledger.IntentPowerOff, Why: ledger.WhyRestart, At: at, Target: "t"},
		ProvisionedAt: &ledger.Provisioned{ID: "v", At: at}, ProviderID: "v", Project: "p", CreateAttempts: &ledger.CreateAttempts{Hash: "h", Count: 2, At: at},
		Image: &ledger.Image{Selector: "name:debian-12", ID: "i"}, Network: &ledger.Network{Hash: "h", FloatingIP: "name:public"},
	}
	for i, value := 0, reflect.ValueOf(full); i < value.NumField(); i++ {
		if value.Field(i).IsZero() {
			t.Errorf("%s is not set here: add it, and its words", value.Type().Field(i).Name)
		}
	}
	annotations := full.Render()
	told := map[string]string{}
	for _, line := range serverMemory(annotations) {
		told[v1alpha1.LedgerPrefix+line.Name] = line.Text
	}
	for key := range annotations {
		if told[key] == "" {
			t.Errorf("%s has no words", key)
		}
	}
	if len(told) != len(annotations) {
		t.Errorf("told %v of %v", told, annotations)
	}
}

// A machine that was found running has nobody who asked for it.
func TestFoundRunningInWords(t *testing.T) {
	found := ledger.Server{PowerOn: &ledger.PowerOn{By: ledger.ByUnknown, At: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}}
	lines := serverMemory(found.Render())
	if len(lines) != 1 || !strings.Contains(lines[0].Text, "was found running, 2026-11-29T12:00:00Z") || strings.Contains(lines[0].Text, "asked for it") {
		t.Errorf("told %v", lines)
	}
}

func TestClaimsMemoryInWords(t *testing.T) {
	want := []Line{{"identity", "c1"}, {"bound", "may have booted on the machine m1"}}
	if diff := cmp.Diff(want, claimMemory(ledger.Claim{Identity: "c1", Bound: "m1"}.Render())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

func dependency(change func(*lifecycle.Dependency)) lt.Override {
	return func(s *lt.Scene) {
		d := lifecycle.Dependency{Kind: "ServerClass", Name: "small", Guarded: true}
		change(&d)
		s.Dependencies = append(s.Dependencies, d)
	}
}

var (
	unbound      = lt.Claim(func(c *v1alpha1.ServerClaim) { delete(c.Annotations, ledger.KeyBound) })
	classMissing = dependency(func(d *lifecycle.Dependency) { d.Missing = true })
	noProject    = lt.Ledger(func(l *ledger.Server) { l.Project = "" })
	// unlatchedLaunch is a VM that was seen launched and then went, while nobody was there to write it down.
	unlatchedLaunch = lt.All(lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil }), lt.VM(func(vm *v1alpha1.ObservedInstance) {
		*vm = v1alpha1.ObservedInstance{ID: vm.ID, LaunchedAt: vm.LaunchedAt}
	}))
	retryConsent = lt.Annotated(v1alpha1.AnnotationRetry, lt.Identity)
	retryOpen    = lt.AnnouncedVM(ledger.IntentRetry, ledger.WhyCreate, 1)
)

func userData(u lifecycle.UserData) lt.Override {
	return func(s *lt.Scene) {
		s.UserData = u
		if s.Claim != nil {
			s.Claim.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "my-data"}
			return
		}
		lt.OpenStack(func(o *v1alpha1.OpenStackServer) {
			o.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "vm-data"}
		})(s)
	}
}

// attempts are retries that the budget was used for, under the spec as it stands, the last of them some minutes ago.
func attempts(count, minutes int) lt.Override {
	return func(s *lt.Scene) {
		if s.Server.Spec.OpenStack == nil {
			return
		}
		s.Ledger.CreateAttempts = &ledger.CreateAttempts{Hash: virtual.HashOf(*s.Server.Spec.OpenStack), Count: count, At: lt.Before(minutes)}
	}
}

var editedFlavor = lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Flavor.Name = "m1.large" })

func creatingCases() []decided {
	return []decided{
		{"Creating.Project", "where a lost reply must be looked for is written before the first request (B187)", given(lt.Unmade, noProject), patch, lt.Sets(ledger.KeyProject)},
		{"Creating.Create", "finds what was made, or makes it (B187, B189)", given(lt.Unmade), act, lt.And(lt.Does(lifecycle.OpCreateInstance), lt.Live, lt.Rule("virtual 8"), expects(func(e lifecycle.VirtualEffect) bool {
			return e.Spec.Flavor.Name == "m1.small" && e.Spec.Image.Name == lt.ImageName && len(e.Spec.Ports) == 1 && e.Spec.Claim == "" && e.Spec.UserData == nil && e.Instance.ID == ""
		}))},
		{"Creating.Create", "for its claim, whose restart is carried out with it", given(lt.Serving, lt.Unmade, lt.RestartAsked(5)), act, lt.And(lt.Sets(ledger.KeyRestarted), expects(func(e lifecycle.VirtualEffect) bool { return e.Spec.Claim == lt.ClaimID }))},
		{"Creating.Create", "adopts the VM that a person names", given(lt.Unmade, lt.Annotated(v1alpha1.AnnotationAdopt, "vm-7")), act, lt.And(lt.Removes(v1alpha1.AnnotationAdopt), expects(func(e lifecycle.VirtualEffect) bool { return e.Spec.Adopt == "vm-7" }))},
		{"Creating.Create", "a VM that is seen and not remembered is found by the same call (B190)", given(lt.Unlaunched("BUILD"), lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" })), act, nil},
		{"Creating.Create", "a stale picture of an earlier VM is no reason to spend budget", given(lt.Broken, lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" })), act, nil},
		{"Creating.Picture.Unreachable", "a wiped status changes nothing but that it waits for a look (B001)", given(lt.Unmade, lt.Unseen), wait, lt.Reason(v1alpha1.ReasonNotObserved)},
		{"Creating.Picture.Unreachable", "the cloud does not answer: goes on by itself (B082)", given(lt.Unmade, lt.Unreachable), wait, lt.Reason(v1alpha1.ReasonProviderUnreachable)},
		{"Creating.Picture.Unknown", "the VM remembered is in no picture: not listed is not gone (B184)", given(lt.Unlaunched("BUILD"), noPicture), wait, lt.Reason(v1alpha1.ReasonNotObserved)},
		{"Creating.Picture.Unknown", "a picture of another VM tells nothing of this one", given(lt.Unlaunched("BUILD"), lt.Ledger(func(l *ledger.Server) { l.ProviderID = "vm-2" })), wait, nil},
		{"Creating.Building", "the cloud is at it", given(lt.Unlaunched("BUILD")), wait, lt.And(lt.Reason(v1alpha1.ReasonCreating), at("Creating"))},
		{"Creating.Vanished", "404 by its id, and never launched: made anew", given(lt.Unlaunched("BUILD"), lt.Gone), patch, lt.Changes(nil, []string{ledger.KeyProviderID, ledger.KeyImage})},
		{"Creating.BoundElsewhere", "not while another live claim is bound to it", given(lt.Unmade, lt.OtherBound), hold, lt.Live},
		{"Creating.Dependency.Missing", "its class is not there", given(lt.Unmade, classMissing), hold, lt.And(lt.Reason(v1alpha1.ReasonDependencyMissing), lt.Live)},
		{"Creating.Dependency.Deleting", "what goes takes no new server", given(lt.Unmade, dependency(func(d *lifecycle.Dependency) { d.Deleting = true })), hold, lt.Reason(v1alpha1.ReasonDependencyDeleting)},
		{"Creating.Dependency.AwaitGuard", "guarded before its first use", given(lt.Unmade, dependency(func(d *lifecycle.Dependency) { d.Guarded = false })), wait, nil},
		{"Creating.Building", "what is made already needs them no more", given(lt.Unlaunched("BUILD"), classMissing), wait, nil},
		{"Creating.AwaitBound", "the claim remembers before anything is made for it (I8)", given(lt.Serving, unbound, lt.Unmade), wait, lt.Reason(v1alpha1.ReasonAwaitingBound)},
		{"Creating.PowerNotWanted", "a claim that asks for Off", given(lt.Serving, lt.Unmade, lt.ClaimPower(v1alpha1.PowerOff)), settled, lt.Reason(v1alpha1.ReasonPowerNotWanted)},
		{"Creating.PowerNotWanted", "what an earlier request made, and nobody remembers, launches by itself", given(lt.Unlaunched("BUILD"), lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOff })), settled, lt.Reason(v1alpha1.ReasonCreating)},
		{"Creating.PowerNotWanted", "or never", given(lt.Broken, lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOff })), settled, lt.Reason(v1alpha1.ReasonPowerNotWanted)},
		{"Creating.UserData", "the claim's secret is not there", given(lt.Serving, lt.Unmade, userData(lifecycle.UserDataMissing)), wait, lt.Reason(v1alpha1.ReasonUserDataMissing)},
		{"Creating.UserData", "the tenant does not let it be read (B247)", given(lt.Serving, lt.Unmade, userData(lifecycle.UserDataDenied)), wait, lt.Reason(v1alpha1.ReasonUserDataDenied)},
		{"Creating.UserData", "a standalone server's own", given(lt.Unmade, userData(lifecycle.UserDataDenied)), wait, nil},
		{"Creating.Create", "only a live view looks at user data", given(lt.Serving, lt.Unmade, userData(lifecycle.UserDataUnknown)), act, nil},
		{"Creating.Create", "the Cloud object is not there", given(lt.Unmade, func(s *lt.Scene) { s.Cloud = nil }), hold, lt.And(lt.Reason(v1alpha1.ReasonDependencyMissing), lt.Live)},
		{"Creating.Create.Withdraw", "an intent of another time is not carried on", given(lt.Unmade, lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 9)), patch, lt.Changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})},
	}
}

func retryingCases() []decided {
	return []decided{
		{"Retrying.Announce", "counted and announced in one patch, naming the VM (B192)", given(lt.Broken), patch, lt.And(lt.Sets(ledger.KeyCreateAttempts, ledger.KeyIntent), lt.Rule("virtual 6"), counts(1))},
		{"Retrying.Announce", "the second", given(lt.Broken, attempts(1, 60)), patch, counts(2)},
		{"Retrying.Announce", "an edit of the spec arms the budget anew", given(lt.Broken, attempts(3, 60), editedFlavor), patch, counts(1)},
		{"Retrying.Announce", "so does a person", given(lt.Broken, attempts(3, 60), retryConsent), patch, lt.And(counts(1), lt.Removes(v1alpha1.AnnotationRetry))},
		{"Retrying.Announce", "an announcement for another VM is none", given(lt.Broken, retryOpen, lt.Ledger(func(l *ledger.Server) { l.Intent.Target = "vm-0" })), patch, counts(1)},
		{"Retrying.Backoff", "longer each time", given(lt.Broken, attempts(2, 0)), wait, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After != 20*time.Second {
				t.Errorf("waits %s, want 20s", d.Step.After)
			}
		}},
		{"Retrying.Delete", "only as announced, and only if it never launched (I2, I7)", given(lt.Broken, attempts(1, 1), retryOpen), act, lt.And(lt.Does(lifecycle.OpDeleteFailed), lt.Live, carries, expects(func(e lifecycle.VirtualEffect) bool {
			return e.Expect.NeverLaunched && e.Instance.ID == lt.VMID
		}))},
		{"Retrying.Going", "on its way out", given(lt.Broken, retryOpen, lt.NovaState("ERROR", "deleting")), wait, lt.Reason(v1alpha1.ReasonRetrying)},
		{"Retrying.Gone", "404 by its id: forgotten, and made anew", given(lt.Broken, retryOpen, lt.Gone), patch, lt.Changes(nil, []string{ledger.KeyIntent, ledger.KeyProviderID})},
		{"Retrying.Recovered", "the picture changed its mind (R3)", given(lt.Unlaunched("BUILD"), retryOpen), patch, lt.Changes(nil, []string{ledger.KeyIntent})},
		{"Running.Remember", "it launched after all: latched before anything else (I2)", given(lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil }), retryOpen), patch, lt.Sets(ledger.KeyProvisionedAt)},
		{"Retrying.Picture.Unreachable", "nothing is deleted blindly", given(lt.Broken, retryOpen, lt.Unreachable), wait, nil},
		{"Retrying.Picture.Unknown", "not listed is not gone", given(lt.Broken, retryOpen, noPicture), wait, nil},
		{"Retrying.BoundElsewhere", "another live claim is bound", given(lt.Broken, lt.OtherBound), hold, lt.Live},
		{"Failed.CreateFailed", "the budget is used up: parked without a timer", given(lt.Broken, attempts(3, 60)), hold, lt.And(lt.Reason(v1alpha1.ReasonCreateFailed), lt.Rule("virtual 7"))},
		{"Failed.BoundElsewhere", "another live claim is bound", given(lt.Broken, attempts(3, 60), lt.OtherBound), hold, nil},
	}
}

func counts(want int) lt.Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		_, led := lt.Written(t, d)
		if led.CreateAttempts == nil || led.CreateAttempts.Count != want || led.Intent == nil || led.Intent.Target != lt.VMID {
			t.Errorf("attempts %+v, intent %+v; want %d, for the VM", led.CreateAttempts, led.Intent, want)
		}
	}
}

func lostCases() []decided {
	return []decided{
		{"Lost.Lost", "404 by its id after a launch: never made anew (B087, B184)", given(lt.Gone), hold, lt.And(lt.Reason(v1alpha1.ReasonLost), lt.Rule("virtual 9"))},
		{"Lost.Lost", "also where it went before its launch was latched: Nova's launched_at is the second memory", given(unlatchedLaunch), hold, lt.Rule("virtual 9")},
		{"Lost.Lost", "under a claim too", given(lt.Serving, lt.Gone), hold, nil},
		{"Lost.Lost.Withdraw", "what was announced has lost its object", given(lt.Serving, lt.Gone, lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 1)), patch, lt.Changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"Errored.Errored", "ERROR after a launch is parked, whatever asks (B202)", given(lt.Errored), hold, lt.And(lt.Reason(v1alpha1.ReasonErrored), lt.Rule("virtual 11"))},
		{"Errored.Errored", "Nova's launched_at alone is memory enough (I2)", given(lt.Serving, lt.Errored, attempts(0, 0), noAttempts), hold, nil},
		{"Errored.Remember", "the latch was lost: Nova remembers", given(lt.Errored, lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil })), patch, lt.Sets(ledger.KeyProvisionedAt)},
	}
}

var noAttempts = lt.Ledger(func(l *ledger.Server) { l.CreateAttempts = nil })

// TestAVMThatWasLaunchedIsNoCreateFailure (I2): whichever of the memories of a launch is left, the predicate that lets a VM be deleted
// does not hold.
func TestAVMThatWasLaunchedIsNoCreateFailure(t *testing.T) {
	if !virtual.ProviderCreateFailure(lt.View(given(lt.Broken)).Server) {
		t.Fatal("a VM that never launched is no create failure")
	}
	launched := metav1.NewTime(lt.Before(5))
	for name, memory := range map[string]lt.Override{
		"latch":       lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = &ledger.Provisioned{ID: lt.VMID, At: lt.Before(5)} }),
		"launched_at": lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.LaunchedAt = &launched }),
		"ACTIVE":      lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.State = "ACTIVE" }),
		"SHUTOFF":     lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.State = "SHUTOFF" }),
		"new word":    lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.State = "TELEPORTING" }),
		"other VM":    lt.Ledger(func(l *ledger.Server) { l.ProviderID = "vm-2" }),
		"unreadable":  lt.Garbled(ledger.KeyIntent, "{"),
		"other owner": oldStamp,
		"other stamp": otherVM,
		"gone":        lt.Gone,
		"not seen":    noPicture,
	} {
		if virtual.ProviderCreateFailure(lt.View(given(lt.Broken, memory)).Server) {
			t.Errorf("%s: still a create failure", name)
		}
	}
	if virtual.ProviderCreateFailure(nil) {
		t.Error("no server is a create failure")
	}
}

// TestAFlappingVMSpendsNoMoreThanTheBudget (B192): ERROR and BUILD in turn, with every deletion that follows carried out.
func TestAFlappingVMSpendsNoMoreThanTheBudget(t *testing.T) {
	scene := lt.New(given(lt.Broken))
	v := scene.View()
	var deleted []string
	for pass := range 200 {
		v.Now = v.Now.Add(time.Hour)
		v.Server.ResourceVersion += "0"
		vm := v.Server.Status.Observed.Instance
		if pass%3 == 1 {
			vm.State, vm.Errored = "BUILD", false
		} else {
			vm.State, vm.Errored = "ERROR", true
		}
		d := virtual.Decide(v)
		if d.Step.Patch != nil {
			d.Step.Patch.Apply(v.Server)
		}
		if d.Step.Kind == lifecycle.StepAct && d.Step.Effect.Op == lifecycle.OpDeleteFailed && !slices.Contains(deleted, d.Step.Effect.Intent) {
			deleted = append(deleted, d.Step.Effect.Intent)
		}
	}
	if len(deleted) == 0 || len(deleted) > v.Settings.CreateAttempts {
		t.Errorf("%d deletions were announced and asked for, budget %d", len(deleted), v.Settings.CreateAttempts)
	}
}

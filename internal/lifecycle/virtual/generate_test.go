// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
)

// anyScene draws a scene: one that a case shows with a few things changed, or one put together from whatever there is.
func anyScene(rt *rapid.T) *lt.Scene {
	base, most := lt.Override(lt.Virtual), 12
	if rapid.IntRange(0, 4).Draw(rt, "near") > 0 {
		base, most = knownScenes[rapid.IntRange(0, len(knownScenes)-1).Draw(rt, "case")], 3
	}
	overrides := []lt.Override{base}
	for range rapid.IntRange(0, most).Draw(rt, "changes") {
		overrides = append(overrides, rapid.SampledFrom(twists).Draw(rt, "change"))
	}
	return lt.New(overrides...)
}

// knownScenes are those of the cases.
var knownScenes = func() []lt.Override {
	var out []lt.Override
	for _, c := range cases() {
		out = append(out, c.Given)
	}
	return out
}()

func claimChange(change func(*v1alpha1.ServerClaim)) lt.Override {
	return func(s *lt.Scene) {
		if s.Claim != nil {
			change(s.Claim)
		}
	}
}

func intentChange(change func(*ledger.Intent)) lt.Override {
	return func(s *lt.Scene) {
		if s.Ledger.Intent != nil {
			change(s.Ledger.Intent)
		}
	}
}

// twists are things that may be different.
var twists = slices.Concat(claimTwists, ledgerTwists, factTwists, specTwists, otherTwists)

var claimTwists = []lt.Override{
	lt.Serving, lt.Claimed, lt.RefCleared, lt.ClaimGone, lt.OtherBound, lt.Retained,
	claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Before(1)); c.DeletionTimestamp = &t }),
	claimChange(func(c *v1alpha1.ServerClaim) { delete(c.Annotations, ledger.KeyBound) }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity] = "another" }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity+"-unknown"] = "x" }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerKeep }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.ServerName = "other" }),
	claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Before(5)); c.Spec.RestartedAt = &t }),
	claimChange(func(c *v1alpha1.ServerClaim) {
		c.Annotations[v1alpha1.AnnotationRebuildApproved] = "name:debian-13"
	}),
}

var ledgerTwists = []lt.Override{
	fresh, moved, foreign, attempts(3, 60), attempts(1, 0), noAttempts, keptIP,
	lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" }), lt.Ledger(func(l *ledger.Server) { l.ProviderID = "vm-2" }),
	lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil }), lt.Ledger(func(l *ledger.Server) { l.Image = nil }),
	lt.Ledger(func(l *ledger.Server) { l.Image = &ledger.Image{Selector: "name:old", ID: "img-old"} }),
	lt.Ledger(func(l *ledger.Server) { l.Restarted = time.Time{} }), lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now }),
	lt.Ledger(func(l *ledger.Server) { l.Identity = "another" }), lt.Ledger(func(l *ledger.Server) { l.Owner = "" }),
	lt.Ledger(func(l *ledger.Server) { l.RestoreEpoch = "e1" }), wasReleased,
	noProject, lt.Ledger(func(l *ledger.Server) { l.Project = "project-2" }),
	lt.Garbled(ledger.KeyImage, "{"),
	lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1), lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyClaimPower, 1), releaseOpen,
	lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyMaintenance, 1), lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 1), retryOpen, rebuildOpen,
	intentChange(func(i *ledger.Intent) { i.ImageID = "img-13" }), intentChange(func(i *ledger.Intent) { i.Target = "vm-0" }),
	intentChange(func(i *ledger.Intent) { i.Claim, i.ClaimUID = "claim-db", "uid-db" }),
	lt.Ledger(func(l *ledger.Server) { l.Intent = nil }),
}

var factTwists = []lt.Override{
	lt.On, lt.Off, lt.Power(v1alpha1.ObservedUnknown), lt.Power("Suspended"), lt.Unseen, lt.Unreachable, noPicture, lt.Pictured, lt.SeenSince(0), lt.SeenSince(2),
	lt.Unmade, lt.Broken, lt.Unlaunched("BUILD"), lt.Errored, lt.Gone, lt.Stopped, pausedVM,
	lt.NovaState("REBUILD", "rebuilding"), lt.NovaState("REBOOT", "rebooting"), lt.NovaState("ACTIVE", ""), lt.NovaState("ERROR", "deleting"), lt.NovaState("UNHEARD", ""),
	elsewhereAt, lt.Facts(func(o *v1alpha1.ServerObserved) { o.ProjectID = "" }),
	oldStamp, thirdStamp, otherVM, otherClaim, unstamped, twoVMs, runs13, attached,
	lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.ImageID = "" }), lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.ID = "vm-2" }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports = nil }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports = []v1alpha1.ObservedPort{{ID: "p", Index: 9}} }),
}

var specTwists = []lt.Override{
	specOff, neverOff, paused, edited, onChange, web, publicIP, editedFlavor,
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerKeep }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.OpenStack = nil }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.ClassRef = &v1alpha1.LocalObjectReference{Name: "small"} }),
	lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image = v1alpha1.ResourceSelector{ID: "img-13"} }),
	lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Networks = nil }),
}

var otherTwists = []lt.Override{
	lt.Deleting, notOurs, abandon, takeOver, retryConsent, afterEpoch, classMissing,
	lt.InMaintenance(v1alpha1.PowerOn), lt.InMaintenance(v1alpha1.PowerOff), lt.InMaintenance(v1alpha1.PowerKeep),
	func(s *lt.Scene) { lt.InMaintenance(v1alpha1.PowerOff)(s); s.Maintenance = nil },
	func(s *lt.Scene) { s.Twins = []string{"vm-copy"} }, func(s *lt.Scene) { s.Cloud = nil }, func(s *lt.Scene) { s.Dependencies = nil },
	func(s *lt.Scene) { s.UserData = lifecycle.UserDataMissing }, func(s *lt.Scene) { s.UserData = lifecycle.UserDataDenied },
	lt.Settings(func(s *lifecycle.Settings) { s.TakeOver = "cluster-0" }), lt.Settings(func(s *lifecycle.Settings) { *s = lifecycle.Settings{ClusterID: lt.ClusterID} }),
	resumed, lt.Annotated(v1alpha1.AnnotationAdopt, "vm-7"), lt.Annotated(v1alpha1.AnnotationBreakGlass, "because"),
}

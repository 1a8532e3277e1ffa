// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
)

var (
	edited   = lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image = v1alpha1.ResourceSelector{Name: "debian-13"} })
	onChange = lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.RebuildPolicy = v1alpha1.RebuildOnImageChange })
	approved = lt.Claim(func(c *v1alpha1.ServerClaim) {
		c.Annotations[v1alpha1.AnnotationRebuildApproved] = "name:debian-13"
	})
	rebuildOpen = lt.AnnouncedVM(ledger.IntentRebuild, ledger.WhyImage, 1)
	asked       = lt.Ledger(func(l *ledger.Server) { l.Intent.ImageID = "img-13" })
	runs13      = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.ImageID = "img-13" })
)

// rebuild is an edited image that may be built.
func rebuild(overrides ...lt.Override) lt.Override {
	return given(append([]lt.Override{edited, onChange}, overrides...)...)
}

func rebuildingCases() []decided {
	underClaim := given(lt.Serving, edited, onChange, approved)
	return []decided{
		{"Rebuilding.Announce", "announced with the VM and the image", rebuild(), patch, lt.And(lt.Sets(ledger.KeyIntent), lt.Rule("virtual 10"), func(t *testing.T, d lifecycle.Decision) {
			if _, led := lt.Written(t, d); led.Intent.Image != "name:debian-13" || led.Intent.Target != lt.VMID {
				t.Errorf("intent %+v", led.Intent)
			}
		})},
		{"Rebuilding.Announce", "under a live claim with its owner's consent to this very image", underClaim, patch, nil},
		{"Rebuilding.Announce", "a VM that is broken, for a spec that was edited since", rebuild(lt.Errored), patch, nil},
		{"Rebuilding.Announce", "in place of a stop, which may still be on the wire", rebuild(lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1)), patch, lt.Changes([]string{ledger.KeyIntent, ledger.KeyOffAt}, nil)},
		{"Rebuilding.Rest", "a VM runs when it is rebuilt: not before no stop of ours can be on the wire", rebuild(rebuildOpen, lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now })), wait, nil},
		{"Rebuilding.Rebuild", "relies on the image that it was built from", rebuild(rebuildOpen), act, lt.And(lt.Does(lifecycle.OpRebuild), carries, lt.Live, records, expects(func(e lifecycle.VirtualEffect) bool {
			return e.Image.Name == "debian-13" && e.Expect.ImageID == lt.ImageID && e.Instance.ID == lt.VMID
		}))},
		{"Rebuilding.AwaitRebuilt", "asked for once", rebuild(rebuildOpen, asked, lt.Pictured), wait, lt.Reason(v1alpha1.ReasonRebuilding)},
		{"Rebuilding.UnderWay", "the cloud is at it; the image is the new one already", rebuild(rebuildOpen, asked, lt.Pictured, runs13, lt.NovaState("REBUILD", "rebuilding")), wait, nil},
		{"Rebuilding.AwaitPicture", "believed on a picture taken since (R4)", rebuild(rebuildOpen, asked, runs13), wait, nil},
		{"Rebuilding.Done", "recorded with what closes the intent", rebuild(rebuildOpen, asked, lt.Pictured, runs13), patch, lt.And(lt.Changes([]string{ledger.KeyImage}, []string{ledger.KeyIntent}), built("name:debian-13", "img-13"))},
		{"Rebuilding.Done", "the answer was lost: what runs tells", rebuild(rebuildOpen, lt.Pictured, runs13), patch, built("name:debian-13", "img-13")},
		{"Rebuilding.Done", "it failed: closed too, and parked from then on", rebuild(rebuildOpen, asked, lt.Pictured, runs13, lt.Errored), patch, lt.And(lt.Reason(v1alpha1.ReasonErrored), built("name:debian-13", "img-13"))},
		{"Errored.Errored", "a rebuild that failed is not asked for again", rebuild(lt.Errored, runs13, lt.Ledger(func(l *ledger.Server) { l.Image = &ledger.Image{Selector: "name:debian-13", ID: "img-13"} })), hold, nil},
		{"Rebuilding.Done", "the spec was edited once more and the answer lost: nothing is guessed (I9)", rebuild(rebuildOpen, lt.Pictured, runs13, lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image.Name = "debian-14" })), patch, lt.Changes(nil, []string{ledger.KeyImage, ledger.KeyIntent})},
		{"Rebuilding.Unwanted", "set back before it was asked for (R3)", given(onChange, edited, rebuildOpen, lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image.Name = lt.ImageName })), patch, lt.Changes(nil, []string{ledger.KeyIntent})},
		{"Rebuilding.Unwanted", "another image by now: announced anew", rebuild(rebuildOpen, lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image.Name = "debian-14" })), patch, lt.Changes(nil, []string{ledger.KeyIntent})},
		{"Rebuilding.Unwanted", "the consent was taken back", given(lt.Serving, edited, onChange, rebuildOpen), patch, nil},
		{"Rebuilding.Unwanted", "announced for another VM", rebuild(rebuildOpen, lt.Ledger(func(l *ledger.Server) { l.Intent.Target = "vm-0" })), patch, nil},
		{"Rebuilding.Forbidden", "powerOff: Never", rebuild(neverOff), hold, lt.Reason(v1alpha1.ReasonPowerOffForbidden)},
		{"Rebuilding.Remember", "memory first", rebuild(lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil })), patch, lt.Sets(ledger.KeyProvisionedAt)},
		{"Rebuilding.BoundElsewhere", "another live claim is bound", rebuild(lt.OtherBound), hold, lt.Live},
		{"Rebuilding.Picture.Unreachable", "not blind", rebuild(lt.Unreachable), wait, nil},
		{"Rebuilding.Picture.Unknown", "a picture of this VM", rebuild(rebuildOpen, noPicture), wait, nil},
		{"Running.Settled", "a name that means another image by now is no edit", given(onChange, runs13), settled, nil},
		{"Running.Image.Forbidden", "rebuildPolicy: Never", given(edited), hold, lt.Reason(v1alpha1.ReasonRebuildForbidden)},
		{"Reserved.Image.Forbidden", "rebuildPolicy: Never, under a claim", given(lt.Serving, edited, approved), hold, nil},
		{"Reserved.Image.Approval", "the claim's owner has not consented", given(lt.Serving, edited, onChange), hold, lt.Reason(v1alpha1.ReasonRebuildApproval)},
		{"Reserved.Image.Approval", "to another image is no consent", given(lt.Serving, edited, onChange, lt.Claim(func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationRebuildApproved] = "name:debian-11" })), hold, nil},
		{"Running.Image.Foreign", "somebody else rebuilt it: not rebuilt on top", rebuild(runs13), hold, lt.Reason(v1alpha1.ReasonRebuildForbidden)},
		{"Reserved.Image.Foreign", "somebody else rebuilt it, under a claim", given(lt.Serving, edited, onChange, approved, runs13), hold, nil},
		{"Running.Remember", "the id of what runs names it", rebuild(runs13, lt.OpenStack(func(o *v1alpha1.OpenStackServer) { o.Image = v1alpha1.ResourceSelector{ID: "img-13"} })), patch, built("id:img-13", "img-13")},
		{"Running.Remember", "a forgotten image is adopted as it runs, never rebuilt", rebuild(lt.Ledger(func(l *ledger.Server) { l.Image = nil })), patch, built("name:debian-13", lt.ImageID)},
	}
}

func built(selector, id string) lt.Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := lt.Written(t, d); led.Image == nil || led.Image.Selector != selector || led.Image.ID != id {
			t.Errorf("image %+v, want %s %s", led.Image, selector, id)
		}
	}
}

var (
	wasReleased = lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(5)} })
	releaseOpen = lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyReleased, 2)
	// leaving is a VM that is retained, and whose claim is being deleted.
	leaving = lt.All(lt.Serving, lt.Retained, lt.ClaimDeleting)
)

func releasingCases() []decided {
	return []decided{
		{"Releasing.AwaitDeletion", "policy Delete: the claim's controller deletes the server", given(lt.Serving, lt.ClaimDeleting), wait, lt.And(lt.Reason(v1alpha1.ReasonReleasing), lt.Rule("virtual 5a"))},
		{"Releasing.Announce", "always announced, whatever the last picture says", given(leaving, lt.Stopped), patch, lt.Sets(ledger.KeyIntent)},
		{"Releasing.Announce", "a VM that is seen and was forgotten is remembered with it", given(leaving, lt.Ledger(func(l *ledger.Server) { l.ProviderID, l.ProvisionedAt = "", nil })), patch, lt.Sets(ledger.KeyIntent, ledger.KeyProviderID)},
		{"Releasing.PowerOff.Stop", "stopped", given(leaving, releaseOpen), act, lt.And(lt.Does(lifecycle.OpStop), carries)},
		{"Releasing.PowerOff.Stop", "the claim was let go by force, and its release is remembered", given(leaving, releaseOpen, lt.ClaimGone), act, nil},
		{"Releasing.PowerOff.Stopping", "on its way", given(leaving, releaseOpen, lt.NovaState("ACTIVE", "powering-off")), wait, nil},
		{"Releasing.PowerOff.Forbidden", "powerOff: Never (B024)", given(leaving, releaseOpen, neverOff), hold, lt.Reason(v1alpha1.ReasonPowerOffForbidden)},
		{"Releasing.AwaitPicture", "believed on a picture taken since (R4)", given(leaving, releaseOpen, lt.Stopped), wait, nil},
		{"Releasing.Settle", "Off is to stay", given(leaving, releaseOpen, lt.Stopped, lt.Pictured, lt.SeenSince(0)), wait, nil},
		{"Releasing.Unstamp", "then nobody's claim is on it", given(leaving, releaseOpen, lt.Stopped, lt.Pictured), act, lt.And(lt.Does(lifecycle.OpStampInstance), expects(func(e lifecycle.VirtualEffect) bool { return e.Claim == "" && *e.Expect.Claim == lt.ClaimID }))},
		{"Releasing.Finish", "the cloud itself confirms", given(leaving, releaseOpen, lt.Stopped, lt.Pictured, unstamped), act, lt.And(lt.Does(lifecycle.OpConfirmStopped), lt.Changes([]string{ledger.KeyReleased, ledger.KeyOffAt}, []string{ledger.KeyIntent}))},
		{"Releasing.Picture.Unreachable", "an unreachable cloud holds the claim", given(leaving, releaseOpen, lt.Unreachable), wait, lt.Reason(v1alpha1.ReasonReleaseUnconfirmed)},
		{"Releasing.Picture.Unknown", "so does a VM that nobody sees", given(leaving, releaseOpen, noPicture), wait, lt.Reason(v1alpha1.ReasonReleaseUnconfirmed)},
		{"Releasing.NothingMade", "nothing was ever made", given(leaving, lt.Unmade), patch, lt.Sets(ledger.KeyReleased)},
		{"Releasing.VMGone", "the VM is gone by its id", given(leaving, releaseOpen, lt.Gone), patch, lt.Changes([]string{ledger.KeyReleased, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"Releasing.BoundElsewhere", "another live claim is bound", given(leaving, lt.OtherBound), hold, lt.Live},
		{"Released.Settled", "kept for a person", given(leaving, wasReleased, lt.Stopped), settled, lt.And(lt.Rule("virtual 5"), at("Released"))},
		{"Reserved.ClaimMissing.Withdraw", "a claim that is not found is no release, announced or not, of another UID", given(leaving, releaseOpen, lt.ClaimGone, lt.Ledger(func(l *ledger.Server) { l.Intent.ClaimUID = "other" })), patch, nil},
	}
}

var unstamped = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Claim = "" })

func maintenanceCases() []decided {
	stop := lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyMaintenance, 1)
	off, on := lt.InMaintenance(v1alpha1.PowerOff), lt.InMaintenance(v1alpha1.PowerOn)
	return []decided{
		{"Maintenance.Missing", "a maintenance that is not there is not over (P10)", given(off, func(s *lt.Scene) { s.Maintenance = nil }), hold, lt.And(lt.Reason(v1alpha1.ReasonMaintenanceMissing), lt.Live)},
		{"Maintenance.Ending", "ending", given(off, func(s *lt.Scene) { t := metav1.NewTime(lt.Now); s.Maintenance.DeletionTimestamp = &t }), settled, nil},
		{"Maintenance.Keep", "its power stays, and nothing is rebuilt (I4, B019)", given(lt.InMaintenance(v1alpha1.PowerKeep), edited, onChange), settled, lt.Reason(v1alpha1.ReasonMaintenance)},
		{"Maintenance.NoVM", "nothing is made in maintenance", given(on, lt.Unmade), settled, nil},
		{"Maintenance.NoVM", "nor deleted to be made again", given(on, lt.Broken), settled, nil},
		{"Maintenance.Remember", "memory has no effect", given(off, lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil })), patch, lt.Sets(ledger.KeyProvisionedAt)},
		{"Maintenance.PowerOff.Announce", "announced", given(off), patch, lt.Sets(ledger.KeyIntent)},
		{"Maintenance.PowerOff.Stop", "enforced under a claim too", given(lt.Serving, off, stop), act, lt.And(lt.Does(lifecycle.OpStop), carries)},
		{"Maintenance.PowerOff.Stop", "an announced release stands in for it", given(leaving, off, releaseOpen), act, nil},
		{"Maintenance.PowerOff.Stopping", "on its way", given(off, stop, lt.NovaState("ACTIVE", "powering-off")), wait, nil},
		{"Maintenance.PowerOff.Forbidden", "powerOff: Never", given(off, neverOff), hold, nil},
		{"Maintenance.PowerOff.BoundElsewhere", "another live claim is bound", given(off, lt.OtherBound), hold, lt.Live},
		{"Maintenance.Off.AwaitPicture", "believed on a picture taken since", given(off, lt.Stopped, stop), wait, nil},
		{"Maintenance.Off.RecordOff", "closed", given(off, lt.Stopped, stop, lt.Pictured), patch, nil},
		{"Maintenance.On.Start", "On", given(on, lt.Stopped), act, lt.Does(lifecycle.OpStart)},
		{"Maintenance.On.Rest", "not before our last stop cannot meet it", given(on, lt.Stopped, lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now })), wait, nil},
		{"Maintenance.Changing", "the cloud is at it", given(on, lt.NovaState("ACTIVE", "migrating")), wait, nil},
		{"Maintenance.Settled", "as it asks", given(on), settled, nil},
		{"Maintenance.Settled", "the memory of a release outlives a maintenance", given(leaving, on, releaseOpen), settled, nil},
		{"Maintenance.Settled", "so does that of a rebuild that was asked for", rebuild(on, rebuildOpen, asked), settled, nil},
		{"Maintenance.Settled.Withdraw", "what else was announced is withdrawn", given(lt.Serving, on, lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 1)), patch, nil},
		{"Maintenance.Picture.Unreachable", "not blind", given(off, lt.Unreachable), wait, nil},
		{"Maintenance.Picture.Unknown", "not blind", given(off, noPicture), wait, nil},
	}
}

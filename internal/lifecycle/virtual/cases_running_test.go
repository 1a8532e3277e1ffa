// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	specOff = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOff })
	web     = lt.OpenStack(func(o *v1alpha1.OpenStackServer) {
		if len(o.Networks) == 0 {
			return
		}
		o.Networks[0].SecurityGroups = &[]v1alpha1.ResourceSelector{{Name: "web"}}
		o.Networks[0].AllowedAddressPairs = &[]v1alpha1.AddressPair{{IPAddress: "10.0.0.9"}}
	})
	publicIP = lt.OpenStack(func(o *v1alpha1.OpenStackServer) {
		o.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
	})
	attached = lt.Facts(func(o *v1alpha1.ServerObserved) {
		o.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: "fip-1", PortID: "port-0"}
	})
	// webKept is a network that was brought to web and shows it.
	webKept = lt.All(web, func(s *lt.Scene) {
		s.Ledger.Network = &ledger.Network{Hash: virtual.NetworkHash(*s.Server.Spec.OpenStack), Groups: [][]string{{"sg-web"}}}
		o := s.Server.Status.Observed
		o.Ports[0].SecurityGroups, o.Ports[0].AllowedAddressPairs = []string{"sg-web"}, []string{"10.0.0.9"}
	})
	publicKept = lt.All(publicIP, attached, keptIP)
	keptIP     = lt.Ledger(func(l *ledger.Server) { l.Network = &ledger.Network{FloatingIP: "name:public"} })
)

func runningCases() []decided {
	return []decided{
		{"Running.Settled", "as its spec says: silent (P8)", given(), settled, lt.Rule("virtual 13")},
		{"Reserved.Settled", "as its claim asks: silent", given(lt.Serving), settled, lt.Rule("virtual 12")},
		{"Running.Settled", "a state that nobody here knows is no failure, and no reason to act (B081)", given(lt.NovaState("SHELVED_OFFLOADED", ""), lt.Facts(func(o *v1alpha1.ServerObserved) {
			o.PowerState = v1alpha1.ObservedUnknown
		})), settled, lt.Rule("virtual 13")},
		{"Running.Picture.Unreachable", "the cloud does not answer", given(lt.Unreachable), wait, lt.Reason(v1alpha1.ReasonProviderUnreachable)},
		{"Reserved.Picture.Unreachable", "the cloud does not answer", given(lt.Serving, lt.Unreachable), wait, nil},
		{"Running.Picture.Unknown", "a VM that is in no listing is neither gone nor made again (B184)", given(noPicture), wait, lt.Reason(v1alpha1.ReasonNotObserved)},
		{"Reserved.Picture.Unknown", "nor is a claim's", given(lt.Serving, noPicture), wait, nil},
		{"Running.Remember", "the first launch that is seen is latched (I2)", given(lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil })), patch, lt.Sets(ledger.KeyProvisionedAt)},
		{"Reserved.Remember", "all that was forgotten, in one patch (B003)", given(lt.Serving, lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt, l.ProviderID, l.Image = nil, "", nil })), patch,
			lt.Sets(ledger.KeyProvisionedAt, ledger.KeyProviderID, ledger.KeyImage)},
		{"Reserved.Remember", "the record of the creation was lost: it told from when on restarts count", given(lt.Serving, lt.Ledger(func(l *ledger.Server) { l.ProviderID, l.Restarted = "", time.Time{} })), patch,
			lt.Sets(ledger.KeyProviderID, ledger.KeyRestarted)},
		{"Running.Remember", "the project that it was seen in", given(noProject), patch, lt.Sets(ledger.KeyProject)},
		{"Running.Settled", "not one in which it was not seen", given(noProject, lt.Facts(func(o *v1alpha1.ServerObserved) { o.ProjectID = "" })), settled, nil},
		{"Lost.Lost", "nor one in which it is not", given(noProject, lt.Gone), hold, nil},
		{"Running.Remember", "each memory of the VM's id restores the other", given(noPicture, lt.Ledger(func(l *ledger.Server) { l.ProviderID = "" })), patch, lt.Sets(ledger.KeyProviderID)},
		{"Running.BoundElsewhere", "another live claim is bound: hands off", given(specOff, lt.OtherBound), hold, lt.And(lt.Reason(v1alpha1.ReasonBoundElsewhere), lt.Live)},
		{"Reserved.BoundElsewhere", "another live claim is bound, under a claim", given(lt.Serving, lt.OtherBound), hold, nil},
		{"Reserved.Stamp", "a VM that does not say whose it is gets its claim written on", given(lt.Serving, lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Claim = "" })), act, lt.And(lt.Does(lifecycle.OpStampInstance), expects(func(e lifecycle.VirtualEffect) bool {
			return e.Claim == lt.ClaimID && *e.Expect.Claim == "" && e.OldOwner == ""
		}))},
		{"Running.Stamp", "its claimRef was cleared by a person: nobody's claim", given(otherClaim), act, expects(func(e lifecycle.VirtualEffect) bool { return e.Claim == "" && *e.Expect.Claim == "claim-db" })},
		{"Running.Changing", "the cloud is at it", given(lt.NovaState("ACTIVE", "migrating")), wait, nil},
		{"Reserved.Changing", "the cloud is at it", given(lt.Serving, lt.NovaState("REBUILD", "rebuilding")), wait, nil},
		{"Running.Settled.UnusedConsent", "a consent that lets nothing go does not lie about", given(retryConsent), patch, lt.Removes(v1alpha1.AnnotationRetry)},
		{"Running.Settled.Withdraw", "an intent that nothing asks for any more (R3)", given(lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1)), patch, lt.Changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"Reserved.ClaimMissing", "a restore brings servers back before claims (P10)", given(lt.Serving, lt.ClaimGone), hold, lt.And(lt.Reason(v1alpha1.ReasonClaimMissing), lt.Live, lt.Rule("virtual 5b"))},
		{"Reserved.ClaimMismatch", "a claim of the name, made from Git, is another claim", given(lt.Serving, lt.Claim(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity] = "new" })), hold, lt.And(lt.Reason(v1alpha1.ReasonClaimMismatch), lt.Live)},
		{"Reserved.Settled", "credentials and the Cloud's spec are no part of what a VM is (B045)", given(lt.Serving, func(s *lt.Scene) { s.Cloud.Spec.CloudName = "other" }), settled, nil},
	}
}

// pausedVM is a VM in a state that is neither On nor Off.
var pausedVM = lt.All(lt.Power(v1alpha1.ObservedUnknown), lt.NovaState("PAUSED", ""))

func powerCases() []decided {
	stopSpec := lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1)
	stopClaim := lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyClaimPower, 1)
	return []decided{
		{"Running.PowerOff.Announce", "announced before it is stopped (P6)", given(specOff), patch, lt.And(lt.Sets(ledger.KeyIntent), lt.Reason(v1alpha1.ReasonPoweringOff))},
		{"Reserved.PowerOff.Announce", "as its claim asks", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff)), patch, lt.Sets(ledger.KeyIntent)},
		{"Running.PowerOff.Stop", "carried out as announced", given(specOff, stopSpec), act, lt.And(lt.Does(lifecycle.OpStop), carries, lt.Live, expects(func(e lifecycle.VirtualEffect) bool { return e.Expect.Power == provider.PowerOn }))},
		{"Reserved.PowerOff.Stop", "carried out as announced", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), stopClaim), act, lt.And(lt.Does(lifecycle.OpStop), carries)},
		{"Reserved.PowerOff.Announce", "an announcement under another claim is none (R1)", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), stopClaim, lt.Ledger(func(l *ledger.Server) { l.Intent.ClaimUID = "other" })), patch, nil},
		{"Running.PowerOff.Stopping", "on its way", given(specOff, stopSpec, lt.NovaState("ACTIVE", "powering-off")), wait, nil},
		{"Reserved.PowerOff.Stopping", "neither On nor Off", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), stopClaim, pausedVM), wait, nil},
		{"Running.PowerOff.Forbidden", "powerOff: Never (B024)", given(specOff, neverOff), hold, lt.Reason(v1alpha1.ReasonPowerOffForbidden)},
		{"Reserved.PowerOff.Forbidden", "powerOff: Never, under a claim", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), neverOff), hold, nil},
		{"Running.Off.AwaitPicture", "Off is believed on a picture taken since (R4)", given(specOff, lt.Stopped, stopSpec), wait, nil},
		{"Reserved.Off.AwaitPicture", "Off is believed on a picture taken since (R4)", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), lt.Stopped, stopClaim), wait, nil},
		{"Running.Off.RecordOff", "closed by what it brought about", given(specOff, lt.Stopped, stopSpec, lt.Pictured), patch, lt.Changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"Reserved.Off.RecordOff", "closed by what it brought about", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), lt.Stopped, stopClaim, lt.Pictured), patch, nil},
		{"Running.Settled", "Off, as asked", given(specOff, lt.Stopped), settled, nil},
		{"Running.On.Start", "On is a VM's default", given(lt.Stopped), act, lt.And(lt.Does(lifecycle.OpStart), expects(func(e lifecycle.VirtualEffect) bool { return e.Expect.Power == provider.PowerOff }))},
		{"Reserved.On.Start", "a tenant that powers itself off is started", given(lt.Serving, lt.Stopped), act, lt.Does(lifecycle.OpStart)},
		{"Reserved.Settled", "a claim that keeps power", given(lt.Serving, lt.Stopped, lt.ClaimPower(v1alpha1.PowerKeep)), settled, nil},
		{"Running.Settled", "made for a claim that has gone: it stays as it is", given(lt.Serving, lt.RefCleared, lt.Stopped, lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Claim = "" })), settled, nil},
		{"Running.On.Rest", "a stop of ours may still be on the wire", given(lt.Stopped, lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now })), wait, nil},
		{"Reserved.On.Rest", "a stop of ours may still be on the wire", given(lt.Serving, lt.Stopped, lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now })), wait, nil},
		{"Reserved.On.AwaitBound", "a claim that forgot remembers first", given(lt.Serving, unbound, lt.Stopped), wait, lt.Reason(v1alpha1.ReasonAwaitingBound)},
	}
}

func restartCases() []decided {
	asked := lt.RestartAsked(5)
	announced := lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 1)
	keep := lt.ClaimPower(v1alpha1.PowerKeep)
	restarting := lt.Ledger(func(l *ledger.Server) {
		l.PowerOn, l.OffAt = &ledger.PowerOn{By: ledger.ByClaim, ID: lt.ClaimID, At: lt.Before(10), Restart: true}, lt.Before(9)
	})
	restedFor := func(minutes int) lt.Override {
		return lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Before(minutes) })
	}
	startedNow := lt.Ledger(func(l *ledger.Server) { l.PowerOn.At = lt.Now })
	return []decided{
		{"Reserved.Restart.PowerOff.Announce", "announced before it is stopped (P6), and that it is to be On again", given(lt.Serving, asked), patch, lt.Changes([]string{ledger.KeyIntent, ledger.KeyPowerOn}, nil)},
		{"Reserved.Restart.PowerOff.Announce", "one that is to be Off after it is not", given(lt.Serving, asked, lt.ClaimPower(v1alpha1.PowerOff)), patch, lt.Changes([]string{ledger.KeyIntent}, nil)},
		{"Reserved.Restart.PowerOff.Stop", "carried out as announced", given(lt.Serving, asked, announced), act, lt.And(lt.Does(lifecycle.OpStop), carries, lt.Live, expects(func(e lifecycle.VirtualEffect) bool { return e.Expect.Power == provider.PowerOn }))},
		{"Reserved.Restart.ComingUp", "asked for while it is powering on: whether it is older than that On is told by when it is On", given(lt.Serving, asked, lt.NovaState("SHUTOFF", "powering-on"), lt.Power(v1alpha1.ObservedPoweringOn)), wait, nil},
		{"Reserved.Restart.PowerOff.Announce", "unless its claim asks for Off", given(lt.Serving, asked, lt.ClaimPower(v1alpha1.PowerOff), lt.NovaState("SHUTOFF", "powering-on"), lt.Power(v1alpha1.ObservedPoweringOn)), patch, lt.Changes([]string{ledger.KeyIntent}, nil)},
		{"Reserved.Restart.PowerOff.Stopping", "on its way", given(lt.Serving, asked, announced, lt.NovaState("ACTIVE", "powering-off")), wait, nil},
		{"Reserved.Restart.AwaitPicture", "Off is believed on a picture taken since (R4)", given(lt.Serving, asked, announced, lt.Stopped), wait, nil},
		{"Reserved.Restart.Record", "once: recorded with what closes the intent, and only then started", given(lt.Serving, asked, announced, lt.Stopped, lt.Pictured), patch, lt.Changes([]string{ledger.KeyRestarted, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"Reserved.Restart.Record", "Off already", given(lt.Serving, asked, lt.Stopped, keep), patch, lt.Changes([]string{ledger.KeyRestarted}, nil)},
		{"Reserved.On.Rest", "the stop may still be on the wire", given(lt.Serving, keep, lt.Stopped, restarting, restedFor(0)), wait, nil},
		{"Reserved.On.Remember", "then when it is started is remembered: it is looked at more often from now on", given(lt.Serving, keep, lt.Stopped, restarting), patch, lt.Changes([]string{ledger.KeyPowerOn}, nil)},
		{"Reserved.On.Start", "though its power is kept: it was stopped for the restart only", given(lt.Serving, keep, lt.Stopped, restarting, startedNow), act, lt.Does(lifecycle.OpStart)},
		{"Reserved.On.Start", "whenever Off was first seen: a status may be wiped", given(lt.Serving, keep, lt.Stopped, restarting, startedNow, lt.SeenSince(0)), act, lt.Does(lifecycle.OpStart)},
		{"Reserved.Restarted", "On after it, by the cloud's own word: what it does by itself from now on is kept", given(lt.Serving, keep, restarting), act, lt.And(lt.Does(lifecycle.OpStart), lt.Changes(nil, []string{ledger.KeyPowerOn}), expects(func(e lifecycle.VirtualEffect) bool { return e.Expect.Power == provider.PowerOn }))},
		{"Reserved.Restarted", "its claim asks for Off by now", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), lt.Stopped, restarting), patch, lt.Changes(nil, []string{ledger.KeyPowerOn})},
		{"Reserved.Restarted", "also where it is On: the cloud is not asked whether it is", given(lt.Serving, lt.ClaimPower(v1alpha1.PowerOff), restarting), patch, lt.Changes(nil, []string{ledger.KeyPowerOn})},
		{"Reserved.RestartOver", "On, and a stop that was withdrawn may still be on the wire", given(lt.Serving, keep, restarting, restedFor(0)), wait, nil},
		{"Reserved.Settled", "it was stopped for another claim's restart", given(lt.Serving, keep, lt.Stopped, restarting, lt.Ledger(func(l *ledger.Server) { l.PowerOn.ID = "claim-db" })), settled, nil},
		{"Reserved.Restart.PowerOff.Stop", "On anew under the announcement, by the cloud or by a status that was wiped: it was not restarted yet", given(lt.Serving, asked, announced, lt.SeenSince(0)), act, nil},
		{"Reserved.Restart.Skip", "started after it was asked for", given(lt.Serving, asked, lt.SeenSince(2)), patch, lt.Sets(ledger.KeyRestarted)},
		{"Reserved.Restart.Skip", "an absent record never means an older one", given(lt.Serving, asked, lt.Ledger(func(l *ledger.Server) { l.Restarted = time.Time{} })), patch, lt.Sets(ledger.KeyRestarted)},
		{"Reserved.Restart.PowerOff.Forbidden", "powerOff: Never", given(lt.Serving, asked, neverOff), hold, lt.Reason(v1alpha1.ReasonPowerOffForbidden)},
		{"Reserved.Settled", "an older one was carried out", given(lt.Serving, lt.RestartAsked(90)), settled, nil},
	}
}

func networkCases() []decided {
	return []decided{
		{"Running.Network.UpdatePorts", "an edit of what may be edited", given(web), act, lt.And(lt.Does(lifecycle.OpUpdatePorts), lt.Reason(v1alpha1.ReasonNetworkUpdating), expects(func(e lifecycle.VirtualEffect) bool {
			return len(e.Spec.Ports) == 1 && e.Spec.Ports[0].SecurityGroups[0].Name == "web" && e.Spec.Ports[0].AddressPairs[0].IP == "10.0.0.9"
		}), records)},
		{"Reserved.Network.UpdatePorts", "a group was taken away at the cloud", given(lt.Serving, webKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports[0].SecurityGroups = nil })), act, recordsNothing},
		{"Running.Network.UpdatePorts", "an address pair was added at the cloud", given(webKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports[0].AllowedAddressPairs = []string{"10.0.0.9", "10.0.0.10"} })), act, nil},
		{"Running.Settled", "a network that says what is wanted costs the cloud nothing", given(webKept), settled, nil},
		{"Running.Network.PortMissing", "a port of ours was deleted by somebody else: told, and named (B007)", given(lt.OpenStack(func(o *v1alpha1.OpenStackServer) {
			o.Networks = append(o.Networks, v1alpha1.NetworkAttachment{Network: v1alpha1.ResourceSelector{Name: "storage"}})
		})), hold, lt.Reason(v1alpha1.ReasonPortMissing)},
		{"Reserved.Network.PortMissing", "under a claim", given(lt.Serving, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports[0].Index = 1 })), hold, nil},
		{"Running.Settled", "no picture of ports is no evidence (P10)", given(lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports = nil })), settled, nil},
		{"Running.Network.AttachFloatingIP", "asked for", given(publicIP), act, lt.And(lt.Does(lifecycle.OpAttachFloatingIP), records, expects(func(e lifecycle.VirtualEffect) bool { return e.Network.Name == "public" }))},
		{"Reserved.Network.AttachFloatingIP", "taken away at the cloud: attached again, nothing new to remember", given(lt.Serving, publicKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.FloatingIP.PortID = "" })), act, recordsNothing},
		{"Running.Network.AttachFloatingIP", "seen nowhere: found again, or allocated once (B198)", given(publicKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.FloatingIP = nil })), act, recordsNothing},
		{"Running.Network.AttachFloatingIP", "no picture of ports: judged by the floating IP alone", given(publicKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports, o.FloatingIP.PortID = nil, "" })), act, nil},
		{"Running.Settled", "as asked", given(publicKept), settled, nil},
		{"Running.Network.ReleaseFloatingIP", "not asked for any more", given(keptIP, attached), act, lt.Does(lifecycle.OpReleaseFloatingIP)},
		{"Reserved.Network.ReleaseFloatingIP", "asked for from another network: released first", given(lt.Serving, publicIP, attached, lt.Ledger(func(l *ledger.Server) { l.Network = &ledger.Network{FloatingIP: "name:old"} })), act, nil},
		{"Running.Settled", "one that is not remembered is not taken away (I9, B042)", given(attached), settled, nil},
	}
}

func records(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if d.Step.Record == nil {
		t.Errorf("%s records nothing", d.Step.Clause)
	}
}

func recordsNothing(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if d.Step.Record != nil {
		t.Errorf("%s records %+v", d.Step.Clause, d.Step.Record)
	}
}

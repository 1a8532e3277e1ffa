// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Remedy is the runbook's line about one reason for which an object is held.
type Remedy struct {
	// Missing says what is missing before Holdfast goes on.
	Missing string
	// WillNot says what Holdfast does not do meanwhile.
	WillNot string
	// WaysOut are what a person can do, each sufficient.
	WaysOut []string
}

// consent writes an annotation as a person types it.
func consent(object, annotation, value string) string {
	return "annotate the " + object + " with `" + annotation + "=" + value + "`"
}

// ResumeConsent is what `resume` names: the server, and the restore after which a person has looked at it. A snapshot that is taken while a
// consent stands brings it back into force, and the next restore has another name.
func ResumeConsent(identity, epoch string) string { return identity + "/" + epoch }

const identity = "<identity of the server>"

// remedies are all reasons for which anything is held: a test proves that no hold has a reason without a remedy.
var remedies = func() map[string]Remedy {
	all := maps.Clone(commonRemedies)
	maps.Copy(all, virtualRemedies)
	return all
}()

// commonRemedies are of machines, of claims, and of what machines and VMs have in common.
var commonRemedies = map[string]Remedy{
	v1alpha1.ReasonPaused: {
		Missing: "a person set `spec.paused`", WillNot: "write anything but status, or ask anything of the machine",
		WaysOut: []string{"set `spec.paused` to false"},
	},
	v1alpha1.ReasonLedgerUnreadable: {
		Missing: "an entry of the object's ledger cannot be read; the message names it", WillNot: "take the entry for empty",
		WaysOut: []string{"correct or remove the entry, with `" + v1alpha1.AnnotationBreakGlass + "=<reason>` in the same request", "delete the Server if no claim and no maintenance has it, and enroll it anew"},
	},
	v1alpha1.ReasonForeignOwner: {
		Missing: "the ledger belongs to another cluster", WillNot: "touch the machine, or change its memory",
		WaysOut: []string{"fence the old cluster, then " + consent("Server", v1alpha1.AnnotationTakeOver, "<old owner>"), "for a whole disaster recovery, start the manager with `--take-over=<old owner>`"},
	},
	v1alpha1.ReasonDuplicateIdentity: {
		Missing: "two objects speak for one machine, or one claim", WillNot: "act for either of them",
		WaysOut: []string{"delete one of the two objects"},
	},
	v1alpha1.ReasonStampMismatch: {
		Missing: "the machine bears a stamp that the ledger does not account for", WillNot: "power off, boot or clean it",
		WaysOut: []string{"restore the newer objects", "sure that nobody uses the machine, " + consent("Server", v1alpha1.AnnotationPowerOff, "<stamp that it bears>") + ": it is powered off and stamped anew"},
	},
	v1alpha1.ReasonRestoredSnapshot: {
		Missing: "the cluster was restored from a snapshot, and nobody has looked at this machine since", WillNot: "act on the machine",
		WaysOut: []string{consent("Server", v1alpha1.AnnotationResume, ResumeConsent(identity, "<name of the restore>")), "for many servers at once, `holdfast resume`; restarts that were asked for are not carried out by it: tenants ask again"},
	},
	v1alpha1.ReasonFoundRunning: {
		Missing: "the machine was found On and nothing in its memory explains it", WillNot: "power it off, or give it to a claim; where no claim has booted it, not once it is Off either: a power cut gives nothing away",
		WaysOut: []string{"sure that nobody uses it, " + consent("Server", v1alpha1.AnnotationPowerOff, identity) + ": it is powered off if it is On, and free", "set `spec.foundRunning` to PowerOff"},
	},
	v1alpha1.ReasonPowerOffForbidden: {
		Missing: "the machine should be Off and `spec.powerOff` is Never", WillNot: "power it off, whatever asks",
		WaysOut: []string{"switch it off by hand", "set `spec.powerOff` to Allowed"},
	},
	v1alpha1.ReasonBootNotConfirmed: {
		Missing: "the machine may have booted for its claim and gone off again", WillNot: "boot it from the network a second time",
		WaysOut: []string{"it is installed: " + consent("Server", v1alpha1.AnnotationBooted, "<identity of the claim>"), "it is not: switch it off and " + consent("Server", v1alpha1.AnnotationBootAgain, "<identity of the claim>")},
	},
	v1alpha1.ReasonClaimMissing: {
		Missing: "the claim that has the server is not there", WillNot: "take that for a release: what runs keeps running",
		WaysOut: []string{"restore the claim", "clear the Server's `spec.claimRef`: the machine is released"},
	},
	v1alpha1.ReasonClaimMismatch: {
		Missing: "the claim that is there is not the one that has the server, or names another server", WillNot: "act for either",
		WaysOut: []string{"restore the right claim", "clear the Server's `spec.claimRef`: the machine is released"},
	},
	v1alpha1.ReasonBoundElsewhere: {
		Missing: "another live claim is bound to this machine and may be running on it", WillNot: "power off, boot or clean it, or give it to anybody else",
		WaysOut: []string{"delete the claim that is bound to it: the machine is released"},
	},
	v1alpha1.ReasonServerMissing: {
		Missing: "the server that the claim is bound to is not there", WillNot: "choose another one: the claim's workload is on that machine",
		WaysOut: []string{"restore or enroll the server", "delete the claim"},
	},
	v1alpha1.ReasonServerReplaced: {
		Missing: "the server of that name is another machine than the one the claim is bound to", WillNot: "take it for the claim's",
		WaysOut: []string{"restore the server", "delete the claim"},
	},
	v1alpha1.ReasonServerTaken: {
		Missing: "the server that the claim is bound to is another claim's", WillNot: "choose another one, or take it back",
		WaysOut: []string{"release the other claim", "delete this claim"},
	},
	v1alpha1.ReasonAlreadyReleased: {
		Missing: "the server was released from this claim already", WillNot: "boot it for the claim again",
		WaysOut: []string{"delete the claim, and create a new one"},
	},
	v1alpha1.ReasonClaimRestored: {
		Missing: "the claim was restored from a copy that does not say whether it had a machine, and no server bears it: one may run for it that nobody remembers",
		WillNot: "choose a machine for it, or bind one that it had chosen: it could be its second",
		WaysOut: []string{
			"restore the newer copy of the claim, or the Server that it had", "it never had a machine: " + consent("ServerClaim", v1alpha1.AnnotationChooseAnew, "<UID of the claim object>"),
			"delete the claim, and create a new one",
		},
	},
	v1alpha1.ReasonMaintenanceMissing: {
		Missing: "the maintenance that has the server is not there", WillNot: "take that for its end",
		WaysOut: []string{"restore the ServerMaintenance", "clear the Server's `spec.maintenanceRef`"},
	},
	v1alpha1.ReasonSystemReplaced: {
		Missing: "the machine at the BMC is not the one that the Server remembers", WillNot: "act on it",
		WaysOut: []string{"delete the Server and enroll the new machine", "put the old machine back"},
	},
	v1alpha1.ReasonAmbiguousSystem: {
		Missing: "the Server does not say which of several systems it is, or nothing tells the machine from others", WillNot: "guess",
		WaysOut: []string{"delete the Server and enroll it anew with `systemUUID` or `systemID`"},
	},
	v1alpha1.ReasonSystemNotFound: {
		Missing: "the BMC answers and has no such system", WillNot: "act on another system behind it",
		WaysOut: []string{"correct the BMC's endpoint", "delete the Server and enroll it anew"},
	},
	v1alpha1.ReasonReleaseUnconfirmed: {
		Missing: "the machine cannot be confirmed to be Off", WillNot: "give it to another claim",
		WaysOut: []string{"make the BMC reachable", "let the claim go: " + consent("ServerClaim", v1alpha1.AnnotationForceRelease, "<name of the server>"), "give the machine up: delete the Server and " + consent("Server", v1alpha1.AnnotationAbandon, "<name of the server>")},
	},
	v1alpha1.ReasonDependencyMissing: {
		Missing: "the BMC object that the Server names is not there", WillNot: "act on the machine",
		WaysOut: []string{"create or restore the BMC", "delete the Server"},
	},
	v1alpha1.ReasonDependencyDeleting: {
		Missing: "the BMC object is being deleted and takes no new server", WillNot: "begin with the machine",
		WaysOut: []string{"create the BMC anew once it has gone", "delete the Server"},
	},
	v1alpha1.ReasonBootMethodUnsupported: {
		Missing: "the machine cannot boot by the method that its claim asks for: it has no virtual drive, or its firmware offers no such boot target", WillNot: "boot it by another method instead",
		WaysOut: []string{"delete the claim, and create one with a method that the machine has, or for another machine", "enable what is missing at the BMC (some want a licence for virtual media): it is tried again by itself"},
	},
	v1alpha1.ReasonMediaRefused: {
		Missing: "the BMC refuses to insert the claim's image", WillNot: "boot the machine without it, or by another method",
		WaysOut: []string{"make the URL one that this BMC takes and reaches (many refuse a query, or https without a certificate they trust): it is tried again by itself", "delete the claim, and create one with another image"},
	},
	v1alpha1.ReasonDuplicateBMC: {
		Missing: "two BMC objects speak of one management controller", WillNot: "make a Server for either, or act on a system behind it that is two Servers",
		WaysOut: []string{"delete all BMC objects but one; the one whose Servers are claimed is the one to keep", "correct `spec.endpoint` of the one that is wrong"},
	},
	v1alpha1.ReasonTaskFailed: {
		Missing: "the machine should be Off: its BMC took the cut of power as a task, and the task failed", WillNot: "take the machine for Off; the cut is asked for again, once an effect deadline",
		WaysOut: []string{"see in the BMC's own log why it failed, and clear what stands in the way (an update under way, a BMC that needs a restart): it goes on by itself", "switch the machine off by hand"},
	},
	v1alpha1.ReasonUserDataMissing: {
		Missing: "the secret with the user data is not there", WillNot: "boot the machine, or make the VM, without it",
		WaysOut: []string{"create the secret: in the claim's namespace, or in the operator's for a VM that no claim has"},
	},
	v1alpha1.ReasonUserDataDenied: {
		Missing: "the operator is not allowed to read the user data", WillNot: "boot the machine, or make the VM, without it",
		WaysOut: []string{"a claim's: label the secret `" + v1alpha1.LabelUserData + "=true` and bind the operator to the ClusterRole `holdfast-userdata-reader` in the claim's namespace", "that of a VM that no claim has: let the operator's Role in its own namespace get secrets"},
	},
	v1alpha1.ReasonCleaning: {
		Missing: "the machine must be cleaned, by a policy that this version does not know", WillNot: "give it to another claim",
		WaysOut: []string{"clean it, then set `spec.cleaning` to None"},
	},
}

// RemedyOf is the runbook's line about a reason; false where nothing is held for that reason.
func RemedyOf(reason string) (Remedy, bool) {
	r, ok := remedies[reason]
	return r, ok
}

// WaysOut are what a person can do about a hold with this reason; nil where nothing is held for that reason.
func WaysOut(reason string) []string { return slices.Clone(remedies[reason].WaysOut) }

// HoldReasons are all reasons that have a remedy, sorted.
func HoldReasons() []string { return slices.Sorted(maps.Keys(remedies)) }

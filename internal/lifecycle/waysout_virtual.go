// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/holdfast-dev/holdfast/api/v1alpha1"

// virtualRemedies are of virtual servers.
var virtualRemedies = map[string]Remedy{
	v1alpha1.ReasonFoundExisting: {
		Missing: "the cloud has a VM of this cluster that bears the Server's name under another identity: an earlier Server of that name left it behind, or its memory was lost", WillNot: "make another VM of that name, or take that one for its own",
		WaysOut: []string{"it is this server's: " + consent("Server", v1alpha1.AnnotationAdopt, "<id of the VM>"), "it is not: delete or rename that VM at the cloud"},
	},
	v1alpha1.ReasonDuplicateVM: {
		Missing: "several VMs bear this server's identity; the message names them", WillNot: "guess which one is meant, or touch any of them",
		WaysOut: []string{"delete all but one at the cloud, or take the tags `holdfast:<identity>` from them"},
	},
	v1alpha1.ReasonCreateFailed: {
		Missing: "the VM was never launched, and was made again as often as is allowed; the message tells the cloud's reason", WillNot: "try again by itself: a spec that cannot work would be tried for ever",
		WaysOut: []string{"edit `spec.openstack`: the budget is armed anew", "once the cloud is repaired, " + consent("Server", v1alpha1.AnnotationRetry, identity), "delete the Server, or the claim that it was made for"},
	},
	v1alpha1.ReasonLost: {
		Missing: "the cloud answers 404 for the VM, which ran once", WillNot: "make another one in its place: what it carried is gone, and somebody must know",
		WaysOut: []string{"restore the VM at the cloud under its id", "delete the claim, or a Server that no claim has, and create it anew"},
	},
	v1alpha1.ReasonCloudReplaced: {
		Missing: "the Cloud's credentials, or its address, lead to another project than the one that the server is in", WillNot: "take the VM for gone because another project has none of that id, make one there, or let a Server go whose VM may still run",
		WaysOut: []string{"give the Cloud credentials of that project again: it goes on by itself", "for the other project, create another Cloud, and Servers of their own", "give up what is there: delete the Server and " + consent("Server", v1alpha1.AnnotationAbandon, "<name of the server>")},
	},
	v1alpha1.ReasonErrored: {
		Missing: "the cloud calls the VM broken, and it was launched once", WillNot: "delete, rebuild or restart it: it may still carry data",
		WaysOut: []string{"repair it at the cloud (a hard reboot, `openstack server set --state active`, a migration): it goes on by itself", "delete the claim or the Server"},
	},
	v1alpha1.ReasonRebuildForbidden: {
		Missing: "`spec.openstack.image` names another image than the VM was built from, and the rebuild policy is Never, or somebody else has rebuilt the VM since", WillNot: "make the disk of the VM anew",
		WaysOut: []string{"set `spec.openstack.image` back, or to the id of the image that runs", "set `spec.openstack.rebuildPolicy` to OnImageChange: the disk is made anew"},
	},
	v1alpha1.ReasonRebuildApproval: {
		Missing: "`spec.openstack.image` was edited, and the claim's owner has not consented", WillNot: "make the disk of a VM anew that a claim has",
		WaysOut: []string{consent("ServerClaim", v1alpha1.AnnotationRebuildApproved, "<image, as id:…, name:… or tags:…>"), "set `spec.openstack.image` back"},
	},
	v1alpha1.ReasonPortMissing: {
		Missing: "a port of the VM was deleted at the cloud by somebody else", WillNot: "plug another port into a VM that runs: its address and its guest's configuration would change",
		WaysOut: []string{"plug a port in by hand, described and tagged as the others are", "delete the claim or the Server, and create it anew"},
	},
	v1alpha1.ReasonResourceMissing: {
		Missing: "the cloud has no such image, flavor, network, security group, key pair, zone or server group; the message names it", WillNot: "use another one instead",
		WaysOut: []string{"create it at the cloud, or let the project see it: it is tried again by itself", "edit `spec.openstack` where it may be edited, else delete the Server and create it anew"},
	},
	v1alpha1.ReasonResourceAmbiguous: {
		Missing: "several resources of the cloud fit; the message names them", WillNot: "choose one of them",
		WaysOut: []string{"name the resource by its id", "rename or remove the others at the cloud: it is tried again by itself"},
	},
	v1alpha1.ReasonQuotaExceeded: {
		Missing: "the project's quota is used up; the message says of what", WillNot: "make room by itself",
		WaysOut: []string{"raise the quota, or free something: it is tried again by itself"},
	},
	v1alpha1.ReasonUserDataInvalid: {
		Missing: "the user data cannot be combined with what the VM needs, or is larger than a cloud takes", WillNot: "make the VM without it, or with a part of it",
		WaysOut: []string{"correct the secret with the user data; `holdfast userdata render` shows what a VM would get"},
	},
	v1alpha1.ReasonCloudTooOld: {
		Missing: "the cloud's compute API is older than 2.52: a listing by tag would silently list everything", WillNot: "tell VMs apart there",
		WaysOut: []string{"upgrade the cloud", "delete the Cloud and its Servers"},
	},
}

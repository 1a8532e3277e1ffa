// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// LedgerPrefix starts every annotation of the ledger (P3). Admission policy lets only the operator change these.
const LedgerPrefix = "ledger.holdfast.dev/"

// VerbPrefix starts every annotation by which a person speaks to Holdfast: consents and breaking the glass.
const VerbPrefix = "holdfast.dev/"

// Consents: annotations on the object that holds. Each names what it consents to, and is removed by the patch that closes what it allowed.
const (
	AnnotationPowerOff            = VerbPrefix + "power-off"            // value: the server's identity, or the stamp that disagrees
	AnnotationTakeOver            = VerbPrefix + "take-over"            // value: the old owner
	AnnotationResume              = VerbPrefix + "resume"               // value: the server's identity, a slash, and the name given to --after-restore
	AnnotationBootAgain           = VerbPrefix + "boot-again"           // value: the claim's identity
	AnnotationBooted              = VerbPrefix + "booted"               // value: the claim's identity
	AnnotationForceRelease        = VerbPrefix + "force-release"        // on a claim; value: the server's name
	AnnotationAbandon             = VerbPrefix + "abandon"              // value: the server's name
	AnnotationMaintenanceApproved = VerbPrefix + "maintenance-approved" // on a claim; value: names of maintenances, comma-separated
	AnnotationAdopt               = VerbPrefix + "adopt"                // value: the VM's id
	AnnotationRetry               = VerbPrefix + "retry"                // value: the server's identity
	AnnotationRebuildApproved     = VerbPrefix + "rebuild-approved"     // on a claim; value: the image, as ImageText gives it
	AnnotationEnrollAnew          = VerbPrefix + "enroll-anew"          // on a BMC; value: the BMC object's UID
	AnnotationChooseAnew          = VerbPrefix + "choose-anew"          // on a claim; value: the claim object's UID
	AnnotationBreakGlass          = VerbPrefix + "break-glass"          // value: why
)

// LabelUserData marks, with the value "true", a secret that its tenant offers as user data (B247).
const LabelUserData = "holdfast.dev/user-data"

// KeyUserData is the key of a secret that holds user data.
const KeyUserData = "user-data"

// KeyClouds is the key of a secret that holds a clouds.yaml file.
const KeyClouds = "clouds.yaml"

// LabelBMC is set by the BMC controller on the Servers it makes.
const LabelBMC = "holdfast.dev/bmc" // value: the BMC's name

// Finalizers, one for each promise that something is seen to an end.
const (
	FinalizerServer      = "holdfast.dev/server"
	FinalizerClaim       = "holdfast.dev/claim"
	FinalizerMaintenance = "holdfast.dev/maintenance"
	FinalizerInUse       = "holdfast.dev/in-use" // on a dependency, set before its first use
)

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types. Ready, Reconciling and Stalled follow kstatus and are derived together from gates (P9); the others are
// domain conditions of positive polarity.
const (
	ConditionReady       = "Ready"
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"

	ConditionProviderReachable = "ProviderReachable" // Server, BMC
	ConditionDiscovered        = "Discovered"        // Server, BMC
	ConditionDependenciesReady = "DependenciesReady" // Server
	ConditionPowerAsDesired    = "PowerAsDesired"    // Server
	ConditionClaimed           = "Claimed"           // Server
	ConditionInMaintenance     = "InMaintenance"     // Server
	ConditionBound             = "Bound"             // ServerClaim
	ConditionBooted            = "Booted"            // ServerClaim
	ConditionActive            = "Active"            // ServerMaintenance
	ConditionProvisioned       = "Provisioned"       // Server, virtual: the VM was launched
	ConditionNetworkReady      = "NetworkReady"      // Server, virtual: ports and floating IP are as the spec says
)

// Reasons of holds: what is missing before Holdfast goes on, each with a way out that a person can take (docs/runbook.md).
const (
	ReasonPaused             = "Paused"
	ReasonLedgerUnreadable   = "LedgerUnreadable"
	ReasonForeignOwner       = "ForeignOwner"
	ReasonDuplicateIdentity  = "DuplicateIdentity"
	ReasonStampMismatch      = "StampMismatch"
	ReasonRestoredSnapshot   = "RestoredSnapshot"
	ReasonFoundRunning       = "FoundRunning"
	ReasonPowerOffForbidden  = "PowerOffForbidden"
	ReasonBootNotConfirmed   = "BootNotConfirmed"
	ReasonClaimMissing       = "ClaimMissing"
	ReasonClaimMismatch      = "ClaimMismatch"
	ReasonBoundElsewhere     = "BoundElsewhere"
	ReasonServerMissing      = "ServerMissing"
	ReasonServerReplaced     = "ServerReplaced"
	ReasonServerTaken        = "ServerTaken"
	ReasonAlreadyReleased    = "AlreadyReleased"
	ReasonClaimRestored      = "ClaimRestored"
	ReasonMaintenanceMissing = "MaintenanceMissing"
	ReasonSystemReplaced     = "SystemReplaced"
	ReasonAmbiguousSystem    = "AmbiguousSystem"
	ReasonReleaseUnconfirmed = "ReleaseUnconfirmed"

	// Of virtual servers.
	ReasonFoundExisting    = "FoundExisting"    // a VM of ours bears this Server's name under another identity
	ReasonDuplicateVM      = "DuplicateVM"      // several VMs bear this identity
	ReasonCreateFailed     = "CreateFailed"     // never launched, and the budget of retries is spent
	ReasonLost             = "Lost"             // launched once, and a GET by id says 404
	ReasonErrored          = "Errored"          // the cloud calls the launched VM broken
	ReasonRebuildForbidden = "RebuildForbidden" // the image was edited, and rebuildPolicy is Never
	ReasonRebuildApproval  = "RebuildApproval"  // the claim's owner has not approved the rebuild
	ReasonPortMissing      = "PortMissing"      // a port of the VM was deleted at the cloud
	ReasonCloudReplaced    = "CloudReplaced"    // the Cloud leads to another project than the one the server is in
)

// Reasons of waiting and of being done.
const (
	ReasonSettled               = "Settled"               // nothing to do until something changes
	ReasonInitializing          = "Initializing"          // memory is being written
	ReasonDiscovering           = "Discovering"           // no complete picture yet
	ReasonProviderUnreachable   = "ProviderUnreachable"   // see ProviderReachable for the error's reason
	ReasonReachable             = "Reachable"             // the last look succeeded
	ReasonNotObserved           = "NotObserved"           // nothing was looked at yet
	ReasonSystemNotFound        = "SystemNotFound"        // the BMC has no such system
	ReasonPoweringOn            = "PoweringOn"            // power-on asked for, not seen yet
	ReasonPoweringOff           = "PoweringOff"           // power-off under way
	ReasonPowerKept             = "PowerKept"             // nobody asks for a power state
	ReasonPowerNotWanted        = "PowerNotWanted"        // the machine is booted, or the VM made, when power is asked for
	ReasonAwaitingBound         = "AwaitingBound"         // waits for the claim to write what it got
	ReasonUserDataMissing       = "UserDataMissing"       // the secret does not exist
	ReasonUserDataDenied        = "UserDataDenied"        // the tenant did not allow it to be read, or did not label it
	ReasonBooting               = "Booting"               // network boot under way
	ReasonBooted                = "Booted"                // the machine booted for this claim
	ReasonReleasing             = "Releasing"             // being released
	ReasonReleased              = "Released"              // release finished; ends when claimRef is cleared
	ReasonCleaning              = "Cleaning"              // cleaning policy under way
	ReasonMaintenance           = "Maintenance"           // a maintenance has the server
	ReasonDependencyMissing     = "DependencyMissing"     // the BMC object does not exist
	ReasonDependencyDeleting    = "DependencyDeleting"    // the BMC object is being deleted: no new users
	ReasonInUse                 = "InUse"                 // deletion waits for the users named
	ReasonDeleting              = "Deleting"              // deletion under way
	ReasonBootMethodUnsupported = "BootMethodUnsupported" // the machine cannot boot as its claim asks: no such boot target, no drive
	ReasonMediaRefused          = "MediaRefused"          // the BMC refuses the image
	ReasonTaskFailed            = "TaskFailed"            // the BMC took a power-off as a task, and the task failed
	ReasonTaskGone              = "TaskGone"              // the BMC took a power-off as a task, knows it no more, and the machine is not Off
	ReasonEffectFailed          = "EffectFailed"          // the provider refused an acting call; the message names its reason
	ReasonStampUnsupported      = "StampUnsupported"      // this machine cannot keep a stamp
	ReasonBound                 = "Bound"                 // server and claim name each other
	ReasonNotClaimed            = "NotClaimed"            // no claim
	ReasonBinding               = "Binding"               // a server is chosen, not yet bound
	ReasonNoMatch               = "NoMatch"               // no server fits; the message counts why
	ReasonNoSuchServer          = "NoSuchServer"          // serverRef names no server
	ReasonServerNotAvailable    = "ServerNotAvailable"    // serverRef names a server that cannot be bound now
	ReasonAwaitingApproval      = "AwaitingApproval"      // the claim's owner has not approved this maintenance
	ReasonQueued                = "Queued"                // another maintenance has the server
	ReasonActive                = "Active"                // the maintenance has the server
	ReasonNotInMaintenance      = "NotInMaintenance"      // no maintenance
	ReasonServerGone            = "ServerGone"            // the server of a maintenance does not exist
	ReasonEndpointInvalid       = "EndpointInvalid"       // malformed endpoint
	ReasonCredentialsMissing    = "CredentialsMissing"    // no such secret, or a key is missing
	ReasonCredentialsInvalid    = "CredentialsInvalid"    // refused by the BMC
	ReasonTLSVerifyFailed       = "TLSVerifyFailed"       // not trusted, expired, or not as pinned
	ReasonNoSystems             = "NoSystems"             // no system behind this BMC can be reset: no host
	ReasonDuplicateBMC          = "DuplicateBMC"          // another BMC object speaks of the same management controller
	ReasonConflictingSystem     = "ConflictingSystem"     // another object already manages this machine
	ReasonCreating              = "Creating"              // the VM is being made
	ReasonRetrying              = "Retrying"              // a VM that never launched is deleted and made again
	ReasonRebuilding            = "Rebuilding"            // the VM's disk is being made anew
	ReasonRunning               = "Running"               // the VM is as the spec says
	ReasonNetworkUpdating       = "NetworkUpdating"       // ports or floating IP are being brought to the spec
	ReasonResourceMissing       = "ResourceMissing"       // the cloud has no such image, flavor, network, group or key
	ReasonResourceAmbiguous     = "ResourceAmbiguous"     // several resources of the cloud fit; the message names them
	ReasonQuotaExceeded         = "QuotaExceeded"         // the project's quota is used up
	ReasonUserDataInvalid       = "UserDataInvalid"       // the user data cannot be combined, or is too large
	ReasonCloudTooOld           = "CloudTooOld"           // the cloud's compute API is older than 2.52
	ReasonClassMissing          = "ClassMissing"          // the claim's ServerClass does not exist
	ReasonClassDeleting         = "ClassDeleting"         // the claim's ServerClass is being deleted: it makes nothing new
	ReasonAuthorityInvalid      = "AuthorityInvalid"      // a key or principal of the SSH certificate authority is none that sshd would take
)

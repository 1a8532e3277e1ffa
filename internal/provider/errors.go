// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"time"
)

// Class is what an error means for the one who called: whether to wait, to give up or to look again (P12).
type Class string

const (
	// Transient errors pass by themselves: a broken connection, a 5xx, a deadline. The outcome of a write that ended so is unknown.
	Transient Class = "Transient"
	// Busy means the provider asked for patience: it did not act, and may be asked again after Error.After.
	Busy Class = "Busy"
	// Denied means the credentials or the TLS identity were refused. Repeating without a change is harmful (account lock-out): a provider sends
	// credentials that were refused no second time before a growing pause of its own is over, however often it is asked.
	Denied Class = "Denied"
	// NotFound means the provider said, for the very thing asked for, that it does not exist.
	NotFound Class = "NotFound"
	// Mismatch means the state named in Expect did not hold. Nothing was done.
	Mismatch Class = "Mismatch"
	// Terminal means no repetition will help until the spec or the machine changes; Error.Reason says what.
	Terminal Class = "Terminal"
)

// Error is the one error type that leaves a provider. Find it with errors.As; Message holds fixed texts and facts,
// never credentials, tokens, raw bodies or URLs with user information.
type Error struct {
	Class   Class
	Reason  string        // CamelCase, one of the Reason constants of this package
	Message string        // one line for a person, under 256 characters
	After   time.Duration // Busy only: how long the provider asked to wait, 0 if it did not say
	Tried   bool          // of a power-off: the request itself was made, at a provider that had just told the machine's state
	Err     error         // cause, for errors.Is; never printed
}

// Error implements error. The cause is deliberately left out: it may hold what must not be shown.
func (e *Error) Error() string { return fmt.Sprintf("%s (%s): %s", e.Class, e.Reason, e.Message) }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of err: "" for nil, Transient for an error that never passed a provider's edge.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Transient
}

// Reasons of provider errors: a closed set, shared by conditions and observed facts.
const (
	ReasonUnreachable        = "Unreachable"        // no connection, or it broke
	ReasonTimeout            = "Timeout"            // no answer within the deadline
	ReasonServerError        = "ServerError"        // 5xx
	ReasonBusy               = "Busy"               // 503 with or without Retry-After, "not now"
	ReasonRateLimited        = "RateLimited"        // 429
	ReasonCredentialsInvalid = "CredentialsInvalid" // 401 twice in a row, or a 403 that keeps everything from them
	ReasonCredentialsMissing = "CredentialsMissing" // no secret, or one without the needed keys
	ReasonTLSVerifyFailed    = "TLSVerifyFailed"    // certificate not trusted, expired, or fingerprint not as pinned
	ReasonEndpointInvalid    = "EndpointInvalid"    // malformed endpoint
	ReasonNotRedfish         = "NotRedfish"         // an answer that is no Redfish service's
	ReasonProtocolError      = "ProtocolError"      // an answer that cannot be understood
	ReasonSystemNotFound     = "SystemNotFound"     // no system of that UUID or Id at this BMC
	ReasonAmbiguousSystem    = "AmbiguousSystem"    // several systems and none named
	ReasonStateMismatch      = "StateMismatch"      // Expect did not hold
	ReasonResetTypeMissing   = "ResetTypeMissing"   // the system allows no reset type that does what was asked
	ReasonBootTargetMissing  = "BootTargetMissing"  // the system allows no boot target that does what was asked
	ReasonStampUnsupported   = "StampUnsupported"   // the asset tag cannot be written, or not at full length
	ReasonMediaMissing       = "MediaMissing"       // the system has no drive for virtual media
	ReasonMediaRefused       = "MediaRefused"       // no drive of the system takes the image
	ReasonIndicatorMissing   = "IndicatorMissing"   // the system has no indicator
	ReasonRefused            = "Refused"            // a 4xx that names no better reason

	// Of clouds.
	ReasonCloudTooOld       = "CloudTooOld"       // compute microversion 2.52 is not offered
	ReasonInstanceNotFound  = "InstanceNotFound"  // 404 for the VM by id
	ReasonDuplicateVM       = "DuplicateVM"       // several VMs bear one identity
	ReasonFoundExisting     = "FoundExisting"     // a VM of ours bears the name under another identity
	ReasonResourceMissing   = "ResourceMissing"   // no such image, flavor, network, security group, key pair, zone or server group
	ReasonResourceAmbiguous = "ResourceAmbiguous" // several resources fit; the message names them
	ReasonQuotaExceeded     = "QuotaExceeded"     // the project's quota is used up
	ReasonUserDataTooLarge  = "UserDataTooLarge"  // more than 65,535 bytes as base64
	ReasonUserDataInvalid   = "UserDataInvalid"   // the user data cannot be combined with what Holdfast adds
	ReasonForbidden         = "Forbidden"         // the credentials are good, and the cloud's policy, or the BMC's account or licence, keeps this request from them: 403
	ReasonNotOpenStack      = "NotOpenStack"      // an answer that is no OpenStack service's, or a service that is not in the catalog
)

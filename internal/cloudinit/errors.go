// SPDX-License-Identifier: Apache-2.0

package cloudinit

import "fmt"

// Reason says what keeps user data from being rendered. The set is closed.
type Reason string

const (
	// ReasonTooLarge: more than MaxEncoded characters of base64, compressed where the guest would decompress (B213).
	ReasonTooLarge Reason = "TooLarge"
	// ReasonFormUnknown: neither cloud-init's nor Ignition's, so that an authority cannot be added.
	ReasonFormUnknown Reason = "FormUnknown"
	// ReasonMalformed: begins as a form that is known, and is none: cut compression, an Ignition config that does not validate.
	ReasonMalformed Reason = "Malformed"
	// ReasonIgnitionUnsupported: a version of Ignition's config that cannot merge another, or is newer than we know (B218).
	ReasonIgnitionUnsupported Reason = "IgnitionUnsupported"
	// ReasonPathTaken: the user's Ignition config has something of its own where our files must be.
	ReasonPathTaken Reason = "PathTaken"
	// ReasonAuthorityInvalid: a key, login or principal that sshd would not understand, or not as it is meant.
	ReasonAuthorityInvalid Reason = "AuthorityInvalid"
	// ReasonPrincipalsMixed: of the authorities of one server some have principals and some have none.
	ReasonPrincipalsMixed Reason = "PrincipalsMixed"
)

// Error is the one error that leaves this package: always terminal, for no repetition helps until the user data or the authorities
// change. Find it with errors.As. Message is one line for a person and holds no user data, so that it may stand in a condition.
type Error struct {
	Reason  Reason
	Message string
	Err     error // cause, for errors.Is; it may quote user data and is never printed
}

// Error implements error. The cause is left out: it may quote what must not be shown.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Message }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

func errorf(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// because adds the cause to e.
func (e *Error) because(err error) *Error {
	e.Err = err
	return e
}

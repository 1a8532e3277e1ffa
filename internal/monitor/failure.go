// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// failure is what a failed look means for the region and for the pace.
type failure struct {
	outcome string // for the metric: the error's class
	reason  string
	message string
	after   time.Duration
	// wide: the BMC as a whole did not serve us; asking for the next system behind it would only take as long.
	wide bool
	// definite: no flicker, reported at once. Credentials and configuration do not heal by themselves.
	definite bool
	// locking: repeating it may lock an account.
	locking bool
	// absent: the BMC answered, and said that it has no such system, or several.
	absent bool
	// own: our own trouble. Nothing follows about the machine, so nothing is reported.
	own bool
}

// outcomeOwn is the outcome of trouble of our own.
const outcomeOwn = "Own"

var wideReasons = map[string]bool{
	provider.ReasonUnreachable:        true,
	provider.ReasonTimeout:            true,
	provider.ReasonBusy:               true,
	provider.ReasonRateLimited:        true,
	provider.ReasonCredentialsInvalid: true,
	provider.ReasonCredentialsMissing: true,
	provider.ReasonTLSVerifyFailed:    true,
	provider.ReasonEndpointInvalid:    true,
	provider.ReasonNotRedfish:         true,
	provider.ReasonNotOpenStack:       true,
	provider.ReasonCloudTooOld:        true,
}

// harmless are refusals that lock no account: no credentials reached the BMC, or the cloud took them and keeps one request from them.
var harmless = map[string]bool{
	provider.ReasonForbidden:          true,
	provider.ReasonCredentialsMissing: true,
	provider.ReasonTLSVerifyFailed:    true,
}

// failureOf classes an error of an Observer. Errors that passed no provider's edge are Transient (P12).
func failureOf(err error) failure {
	var known *provider.Error
	if !errors.As(err, &known) {
		reason, message := provider.ReasonUnreachable, "the BMC could not be read"
		if errors.Is(err, context.DeadlineExceeded) {
			reason, message = provider.ReasonTimeout, "the BMC did not answer within the deadline"
		}
		return failure{outcome: string(provider.Transient), reason: reason, message: message, wide: true}
	}
	f := failure{
		outcome: string(known.Class),
		reason:  known.Reason,
		message: known.Message,
		after:   known.After,
		wide:    wideReasons[known.Reason] || (known.Class == provider.Denied && known.Reason != provider.ReasonForbidden),
	}
	if f.reason == "" {
		f.reason = string(known.Class)
	}
	f.locking = known.Class == provider.Denied && !harmless[known.Reason]
	f.definite = f.wide && (known.Class == provider.Denied || known.Class == provider.Terminal)
	f.absent = !f.wide && (known.Class == provider.NotFound || known.Class == provider.Terminal)
	return f
}

// ownFailure is trouble on this side of the wire.
func ownFailure() failure { return failure{outcome: outcomeOwn, reason: outcomeOwn, own: true} }

// strikes are the failures in a row of one BMC or one server.
type strikes struct {
	count  int
	reason string
	same   int // of them, the last ones with one reason
}

// add counts a failure.
func (s *strikes) add(f failure) {
	s.count++
	if s.reason != f.reason {
		s.reason, s.same = f.reason, 0
	}
	s.same++
}

// standing is how the region speaks of what failed now.
type standing string

const (
	standingUnknown standing = "unknown" // never looked at, or wiped
	standingGood    standing = "good"    // reachable and read
	standingBad     standing = "bad"     // its failure is told
)

// confirmed says whether a failure is to be told (hysteresis). What never was good needs no second proof; what was good, and
// a failure that takes another's place, need as many in a row as asked for, so that neither flickers.
func (s *strikes) confirmed(f failure, now standing, needed int) bool {
	switch {
	case f.own:
		return false
	case f.definite, now == standingUnknown:
		return true
	case now == standingGood:
		return s.count >= needed
	}
	return s.same >= needed
}

// SPDX-License-Identifier: Apache-2.0

package status

import "time"

// Outcome says what a commit did.
type Outcome string

// The outcomes of Session.Commit. They are also the values of the metric label "outcome".
const (
	// Unchanged: the object, as it was read, says all of this already; nothing was sent.
	Unchanged Outcome = "Unchanged"
	// Written: the status was persisted.
	Written Outcome = "Written"
	// Gone: the object no longer exists. Not an error: there is nothing to report on. The API server's
	// answer is the same when the CRD has no status subresource, see package statustest.
	Gone Outcome = "Gone"
	// LostRace: the object changed after it was read, so the status was dropped: it describes an object
	// that is no more. Not an error, and not retried: the next pass computes a new answer from new data.
	LostRace Outcome = "LostRace"
	// PutOff: the object is on its way as before, and how may be told a moment later, see Patience. Nothing was sent.
	PutOff Outcome = "PutOff"
	// Failed: the status could not be written; Commit returned the error.
	Failed Outcome = "Failed"
)

// LostRaceRequeue is how soon to come back after a status write lost its race. The usual cause is a cache
// some milliseconds behind the object; a second is enough for it to catch up and short for a person.
const LostRaceRequeue = time.Second

// Requeue returns when the next pass is due, given the cadence a reconciler would choose (zero: only on
// a change). After LostRace it is LostRaceRequeue at the latest: the write that won may have been to the
// status only, which most predicates filter, so that nothing else would bring the object back. After PutOff it
// is PutOffRequeue at the latest. After Gone it is zero.
func (o Outcome) Requeue(cadence time.Duration) time.Duration {
	switch {
	case o == Gone:
		return 0
	case o == LostRace && (cadence <= 0 || cadence > LostRaceRequeue):
		return LostRaceRequeue
	case o == PutOff && (cadence <= 0 || cadence > PutOffRequeue):
		return PutOffRequeue
	default:
		return cadence
	}
}

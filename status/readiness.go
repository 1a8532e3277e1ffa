// SPDX-License-Identifier: Apache-2.0

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Level ranks what gates contribute to Readiness; the highest wins.
type Level int

// The levels, from the lowest to the highest.
const (
	// LevelSilent: nobody contributed. It is reported as not established (Ready=Unknown), never as ready:
	// a pass that returned early must not publish success.
	LevelSilent Level = iota
	// LevelConverged: nothing is pending and nothing is wrong. kstatus: Current.
	LevelConverged
	// LevelProgressing: clears by itself. kstatus: InProgress.
	LevelProgressing
	// LevelStalled: needs a person. kstatus: Failed.
	LevelStalled
)

// String returns the level's name.
func (l Level) String() string {
	switch l {
	case LevelSilent:
		return "Silent"
	case LevelConverged:
		return "Converged"
	case LevelProgressing:
		return "Progressing"
	case LevelStalled:
		return "Stalled"
	default:
		return "Invalid"
	}
}

// Readiness collects what gates say about an object and derives Ready, Reconciling and Stalled from it.
//
// Gates contribute, they do not set. The worst level wins, in whatever order the gates spoke; within one
// level the first contributor wins, so that the precedence of gates is the visible order of the calls.
//
// A Session has one; code that decides without a session may fill one of its own and assign it to the
// session's. The zero Readiness is ready for use and silent.
type Readiness struct {
	level   Level
	verdict Value
}

// Converged contributes that nothing is pending: Ready=True, unless a gate objects. Without it an object
// is never Ready.
func (r *Readiness) Converged(reason, message string) {
	r.contribute(LevelConverged, metav1.ConditionTrue, reason, message)
}

// Progressing contributes a gate that is known not to be open yet and will open by itself: Ready=False.
func (r *Readiness) Progressing(reason, message string) {
	r.contribute(LevelProgressing, metav1.ConditionFalse, reason, message)
}

// Unknown contributes a gate of which nothing is established yet (nothing observed since the start, the
// observation too old): like Progressing, but Ready=Unknown.
func (r *Readiness) Unknown(reason, message string) {
	r.contribute(LevelProgressing, metav1.ConditionUnknown, reason, message)
}

// Stalled contributes a gate that stays shut until a person changes something: Ready=False. The message
// should say what the person can do.
func (r *Readiness) Stalled(reason, message string) {
	r.contribute(LevelStalled, metav1.ConditionFalse, reason, message)
}

// Level returns the worst level contributed so far.
func (r *Readiness) Level() Level { return r.level }

func (r *Readiness) contribute(level Level, ready metav1.ConditionStatus, reason, message string) {
	if level <= r.level {
		return
	}
	r.level = level
	r.verdict = Value{Status: ready, Reason: reason, Message: message}
}

// Values derives the three conditions together; nothing else does. Reconciling and Stalled are returned
// also when False, because `kubectl wait --for=condition=Stalled=false` needs them there, and are never
// both True, because kstatus would read that as InProgress.
func (r *Readiness) Values() (ready, reconciling, stalled Value) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	verdict := r.verdict.valid()
	switch r.level {
	case LevelStalled:
		return verdict,
			Value{no, "Stalled", "waits for a change by a person, see Stalled"},
			Value{yes, verdict.Reason, verdict.Message}
	case LevelConverged:
		return verdict,
			Value{no, "Converged", "nothing is pending"},
			Value{no, "Converged", "nothing is in the way"}
	case LevelSilent:
		verdict.Message = "the last pass reported nothing"
	}
	return verdict,
		Value{yes, verdict.Reason, verdict.Message},
		Value{no, "Progressing", "goes on by itself, see Reconciling"}
}

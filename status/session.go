// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

// Session is one pass's report on one object: opened by Begin right after the read, committed once, last.
// Between the two the reconciler may also assign other fields of the object's status; they are part of
// the commit. Changes to spec and metadata are not: they have writes of their own, see MetadataWritten.
//
// A Session is for one goroutine.
type Session struct {
	// Readiness collects what the gates say; Ready, Reconciling and Stalled are derived from it at Commit.
	Readiness

	client   Client
	recorder events.EventRecorder
	metrics  *Metrics
	clock    clock.PassiveClock
	regions  []string
	patience *Patience

	object     Object
	kindName   string
	generation int64
	version    string
	snapshot   *snapshot
	persisted  []metav1.Condition

	// reported is what this pass said of each condition, to be said again by MetadataWritten.
	reported  []report
	callbacks []func()
	committed bool
	misuse    error
}

// report is one condition set, or removed.
type report struct {
	conditionType string
	value         Value
	removed       bool
}

// Option adjusts a session.
type Option func(*Session)

// WithRegions names the fields of status, by their JSON names ("observed"), that belong to another
// writer. They are never in the session's patch, whatever happened to them in the local object, and are
// neither copied nor compared.
func WithRegions(fields ...string) Option {
	return func(s *Session) { s.regions = fields }
}

// WithMetrics reports conditions and outcomes to the metrics. Nil means none.
func WithMetrics(metrics *Metrics) Option {
	return func(s *Session) { s.metrics = metrics }
}

// WithClock replaces the clock that lastTransitionTime is read from. Nil keeps the real one.
func WithClock(clock clock.PassiveClock) Option {
	return func(s *Session) {
		if clock != nil {
			s.clock = clock
		}
	}
}

// Begin opens the session of one pass. Call it once, right after the object was read and before anything
// is written to its status. The recorder (from a manager's GetEventRecorder) may be nil: no events then.
//
// It takes a snapshot of the status, then stamps the generation: in this order, so that a pass whose only
// news is the generation still writes.
func Begin(client Client, recorder events.EventRecorder, object Object, options ...Option) *Session {
	s := &Session{
		client:     client,
		recorder:   recorder,
		clock:      clock.RealClock{},
		object:     object,
		generation: object.GetGeneration(),
		version:    object.GetResourceVersion(),
	}
	for _, option := range options {
		option(s)
	}
	s.snapshot, s.misuse = take(targetOf(object), s.regions)
	s.persisted = slices.Clone(*object.StatusConditions())
	object.SetObservedGeneration(s.generation)
	return s
}

// Set writes a condition in place, keeping the order of the list. It is pinned to the generation that was
// read; its lastTransitionTime moves only when the status does. An empty or malformed reason becomes
// ReasonUnspecified, an overlong message is cut.
//
// Ready, Reconciling and Stalled are derived from the gates: setting one makes the commit fail.
func (s *Session) Set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	s.SetValue(conditionType, Value{Status: status, Reason: reason, Message: message})
}

// SetValue is Set with the condition's value in one piece.
func (s *Session) SetValue(conditionType string, value Value) {
	if s.derived(conditionType) {
		return
	}
	s.reported = append(s.reported, report{conditionType: conditionType, value: value})
	s.put(conditionType, value)
}

// Remove drops a condition that is no longer reported. It is the only way a condition goes.
func (s *Session) Remove(conditionType string) {
	if s.derived(conditionType) {
		return
	}
	s.reported = append(s.reported, report{conditionType: conditionType, removed: true})
	s.drop(conditionType)
}

// AfterPersist registers a callback that runs at the end of Commit when, and only when, the API server
// holds this status: outcome Written or Unchanged. It is the place for records in memory of what the
// object says ("announced", "counted"), which must not run ahead of the object.
func (s *Session) AfterPersist(callback func()) {
	s.callbacks = append(s.callbacks, callback)
}

// MetadataWritten tells the session that the reconciler wrote the object's metadata (a finalizer, an
// annotation) inside the session, through the same object. The commit is then locked on the version that
// write gave, and everything reported so far is reported again, because clients decode the API server's
// answer, with the status as stored, over the local object. Other status fields assigned before the write
// are lost in this way: assign them after it.
func (s *Session) MetadataWritten() {
	s.version = s.object.GetResourceVersion()
	if a, ok := s.object.(adapter); ok {
		s.fail(a.load())
	}
	s.object.SetObservedGeneration(s.generation)
	for _, r := range s.reported {
		if r.removed {
			s.drop(r.conditionType)
		} else {
			s.put(r.conditionType, r.value)
		}
	}
}

// derive writes the conditions derived from the gates.
func (s *Session) derive() {
	ready, reconciling, stalled := s.Values()
	s.put(ReadyCondition, ready)
	s.put(ReconcilingCondition, reconciling)
	s.put(StalledCondition, stalled)
}

func (s *Session) put(conditionType string, value Value) {
	value = value.valid()
	conditions := s.object.StatusConditions()
	existing := find(*conditions, conditionType)
	condition := metav1.Condition{
		Type:               conditionType,
		Status:             value.Status,
		ObservedGeneration: s.generation,
		LastTransitionTime: s.transition(conditionType, existing, value.Status),
		Reason:             value.Reason,
		Message:            value.Message,
	}
	if existing == nil {
		*conditions = append(*conditions, condition)
		return
	}
	*existing = condition
}

// transition returns when the condition took its status. The persisted condition is asked first: a value
// that is changed and changed back within one pass never left.
func (s *Session) transition(conditionType string, current *metav1.Condition, status metav1.ConditionStatus) metav1.Time {
	for _, known := range []*metav1.Condition{find(s.persisted, conditionType), current} {
		if known != nil && known.Status == status && !known.LastTransitionTime.IsZero() {
			return known.LastTransitionTime
		}
	}
	// To the second, as it is stored: what is compared is what is read back.
	return metav1.NewTime(s.clock.Now()).Rfc3339Copy()
}

func (s *Session) drop(conditionType string) {
	conditions := s.object.StatusConditions()
	*conditions = slices.DeleteFunc(*conditions, func(c metav1.Condition) bool { return c.Type == conditionType })
}

// derived reports whether the condition is one of the three only Readiness writes, and remembers the
// misuse until Commit.
func (s *Session) derived(conditionType string) bool {
	switch conditionType {
	case ReadyCondition, ReconcilingCondition, StalledCondition:
		s.fail(fmt.Errorf("condition %s is derived from readiness and cannot be set or removed", conditionType))
		return true
	}
	return false
}

// fail remembers an error of use for Commit to return.
func (s *Session) fail(err error) { s.misuse = errors.Join(s.misuse, err) }

// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Commit ends the session: it derives Ready, Reconciling and Stalled, publishes the condition metrics,
// and writes the status by one merge patch with optimistic lock, or sends nothing when nothing changed.
// After a write it records one Event if Ready changed in status or reason; then the AfterPersist
// callbacks run. See Outcome for how it can end; there is no retry.
//
// The error is nil but for the outcome Failed: the API server refused, could not be reached, or the
// session was misused.
func (s *Session) Commit(ctx context.Context) (Outcome, error) {
	outcome, err := s.commit(ctx)
	if s.metrics != nil {
		s.metrics.countCommit(s.kind(), outcome)
	}
	if err != nil {
		return outcome, fmt.Errorf("status of %s %s: %w", s.kind(), client.ObjectKeyFromObject(s.object), err)
	}
	return outcome, nil
}

func (s *Session) commit(ctx context.Context) (Outcome, error) {
	if s.committed {
		return Failed, errors.New("the session was committed before")
	}
	s.committed = true
	if s.misuse != nil {
		return Failed, s.misuse
	}
	s.derive()
	if a, ok := s.object.(adapter); ok {
		a.store()
	}
	// Before anything may be suppressed: a metric is a level, not an event. A restarted process publishes
	// the conditions of an object of which there is nothing new to write.
	if s.metrics != nil {
		s.metrics.publish(s.kind(), client.ObjectKeyFromObject(s.object), *s.object.StatusConditions())
	}
	outcome, err := s.persist(ctx)
	if outcome == Written || outcome == Unchanged {
		for _, callback := range s.callbacks {
			callback()
		}
	}
	return outcome, err
}

// persist sends the patch, if there is one.
func (s *Session) persist(ctx context.Context) (Outcome, error) {
	target, key := targetOf(s.object), client.ObjectKeyFromObject(s.object)
	patch, err := s.snapshot.patch(target, s.version)
	switch {
	case err != nil:
		return Failed, err
	case patch == nil:
		s.patience.nothingNew(key, s.clock.Now())
		return Unchanged, nil
	case s.patience != nil && s.canWait() && s.patience.putsOff(key, s.clock.Now()):
		return PutOff, nil
	}
	err = s.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	switch {
	case err == nil:
		s.patience.Forget(key)
		s.written()
		return Written, nil
	case gone(err):
		s.patience.Forget(key)
		if s.metrics != nil {
			s.metrics.Forget(s.kind(), key)
		}
		return Gone, nil
	case apierrors.IsConflict(err):
		log.FromContext(ctx).Info("status write lost a race, the next pass reports anew",
			"object", key, "resourceVersion", s.version)
		return LostRace, nil
	default:
		return Failed, err
	}
}

// written follows a successful write: the object now holds the API server's answer.
func (s *Session) written() {
	if a, ok := s.object.(adapter); ok {
		// What was persisted was valid when it was sent; should an admission plugin have made it
		// unreadable, the conditions stay as sent.
		_ = a.load()
	}
	if s.recorder != nil {
		recordTransition(s.recorder, targetOf(s.object), s.persisted, *s.object.StatusConditions())
	}
}

// gone reports whether the API server said that the object does not exist. A 404 without a word about an
// object (a path that nothing serves, a proxy's page) is no such statement and stays an error.
func gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// kind returns the object's kind for messages and metric labels.
func (s *Session) kind() string {
	if s.kindName == "" {
		s.kindName = fmt.Sprintf("%T", s.object)
		if gvk, err := s.client.GroupVersionKindFor(targetOf(s.object)); err == nil {
			s.kindName = gvk.Kind
		}
	}
	return s.kindName
}

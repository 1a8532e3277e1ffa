// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// EventAction is the action of the Events a session records.
const EventAction = "Reconcile"

// Limits of an Event of events.k8s.io, in bytes; a longer one is refused and lost.
const (
	maxEventReason = 128
	maxEventNote   = 1024
)

// recordTransition records one Event if Ready changed in status or reason. It is called after the write,
// with what was persisted: a pass may report several values and only the last one ever existed for others.
func recordTransition(recorder events.EventRecorder, regarding runtime.Object, before, after []metav1.Condition) {
	is, was := find(after, ReadyCondition), find(before, ReadyCondition)
	if is == nil || (was != nil && was.Status == is.Status && was.Reason == is.Reason) {
		return
	}
	recorder.Eventf(regarding, nil, severity(after), truncate(is.Reason, maxEventReason), EventAction,
		"%s", truncate(is.Message, maxEventNote))
}

// severity is read off Stalled, not off Ready: an object on its way is no reason for a warning, and
// warnings that everything emits are read by nobody. Without a Stalled that says no, it is a warning.
func severity(conditions []metav1.Condition) string {
	if stalled := find(conditions, StalledCondition); stalled != nil && stalled.Status == metav1.ConditionFalse {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}

// SPDX-License-Identifier: Apache-2.0

package pass

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/status"
)

// Report puts conditions and gates into a status session. A decision without an objection is converged.
func Report(session *status.Session, conditions []lifecycle.Condition, gates []lifecycle.Gate) {
	for _, condition := range conditions {
		session.Set(condition.Type, metav1.ConditionStatus(condition.Status), condition.Reason, condition.Message)
	}
	for _, gate := range gates {
		contribute(session, gate)
	}
	session.Converged(v1alpha1.ReasonSettled, "nothing to do until something changes")
}

func contribute(session *status.Session, gate lifecycle.Gate) {
	switch {
	case gate.Level == lifecycle.Stalled:
		session.Stalled(gate.Reason, gate.Message)
	case gate.Level == lifecycle.Progressing && gate.Unknown:
		session.Unknown(gate.Reason, gate.Message)
	case gate.Level == lifecycle.Progressing:
		session.Progressing(gate.Reason, gate.Message)
	default:
		session.Converged(gate.Reason, gate.Message)
	}
}

// Tell tells the Event of a step whose patch was written: what a person consented to, or Holdfast left behind.
func Tell(recorder events.EventRecorder, object client.Object, step lifecycle.Step) {
	if step.Event != "" {
		recorder.Eventf(object, nil, corev1.EventTypeNormal, step.Event, "Reconcile", "%s", step.Message)
	}
}

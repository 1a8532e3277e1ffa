// SPDX-License-Identifier: Apache-2.0

// Package status writes the status of Kubernetes objects the way their readers need it: kubectl wait,
// kstatus (Flux, Argo CD, Helm, cli-utils), Prometheus and people. It works with every operator built on
// controller-runtime and knows no kind of its own.
//
// A reconciler opens one Session a pass, right after it read the object, reports into it, and commits it
// once, last:
//
//	session := status.Begin(r.Client, r.Recorder, widget)
//	session.Set("Scheduled", metav1.ConditionTrue, "NodeFound", "placed on node-7")
//	if widget.Spec.Size > quota {
//		session.Stalled("QuotaExceeded", "the size is above the quota; lower it or raise the quota")
//	}
//	session.Converged("Succeeded", "the widget runs")
//	outcome, err := session.Commit(ctx)
//	return ctrl.Result{RequeueAfter: outcome.Requeue(10 * time.Minute)}, err
//
// What a session guarantees:
//
//   - Nothing is sent when nothing changed, and finding that out costs microseconds: the status is compared
//     before any JSON is built.
//   - What is sent is one merge patch of status with optimistic lock. A write that lost a race is an
//     outcome, LostRace, that brings the next pass soon; it is neither an error nor a retry of an answer
//     computed from old data.
//   - observedGeneration is always the generation that was read, on the status and on each condition.
//   - Ready, Reconciling and Stalled are derived together from what the gates contributed. The worst
//     contribution wins, whoever spoke last, so kstatus never reads Current for a broken object nor
//     InProgress for one that waits for a person. A pass in which nobody spoke is not Ready.
//   - Fields that belong to another writer (WithRegions) are never in the patch.
//   - One Event for each change of Ready that was persisted, and none for values that never were.
//
// Objects take part through two methods, see Object; unstructured ones through FromUnstructured. Package
// statustest checks a kind, its CRD and its behaviour on an API server against what this package needs.
package status

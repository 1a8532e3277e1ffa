// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

const quota = 100

// WidgetReconciler is a whole controller that reports with a session.
type WidgetReconciler struct {
	Client   client.Client
	Recorder events.EventRecorder // mgr.GetEventRecorder("widget-controller")
	Metrics  *status.Metrics
}

func (r *WidgetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w := &widget.Widget{}
	if err := r.Client.Get(ctx, request.NamespacedName, w); err != nil {
		if apierrors.IsNotFound(err) {
			r.Metrics.Forget("Widget", request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	session := status.Begin(r.Client, r.Recorder, w,
		status.WithRegions("observed"), status.WithMetrics(r.Metrics))
	checkQuota(session, w)
	checkParts(session, w)
	session.Converged("AllParts", "all parts are there")
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(10 * time.Minute)}, err
}

// checkQuota is a gate that only a person can open.
func checkQuota(session *status.Session, w *widget.Widget) {
	if w.Spec.Parts > quota {
		session.Stalled("QuotaExceeded",
			fmt.Sprintf("%d parts are above the quota of %d; ask for fewer", w.Spec.Parts, quota))
	}
}

// checkParts is a gate that opens by itself, and a condition of the widget's own.
func checkParts(session *status.Session, w *widget.Widget) {
	if w.Status.Observed == nil {
		session.Set("Counted", metav1.ConditionUnknown, "NotCounted", "nobody has counted yet")
		session.Unknown("NotCounted", "nobody has counted yet")
		return
	}
	found := len(w.Status.Observed.Parts)
	session.Set("Counted", metav1.ConditionTrue, "Counted", fmt.Sprintf("%d parts found", found))
	if found < int(w.Spec.Parts) {
		session.Progressing("PartsMissing", fmt.Sprintf("%d of %d parts are there", found, w.Spec.Parts))
	}
}

func Example() {
	w := &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "engine", Generation: 1},
		Spec:       widget.WidgetSpec{Parts: 200},
		Status:     widget.WidgetStatus{Observed: &widget.WidgetObserved{}},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(w).WithStatusSubresource(w).Build()
	recorder := events.NewFakeRecorder(10)
	reconciler := &WidgetReconciler{Client: c, Recorder: recorder}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(w)}
	for range 3 { // the second and third pass send nothing
		if _, err := reconciler.Reconcile(context.Background(), request); err != nil {
			fmt.Println(err)
		}
	}
	if err := c.Get(context.Background(), request.NamespacedName, w); err != nil {
		fmt.Println(err)
	}
	for _, condition := range w.Status.Conditions {
		fmt.Println(condition.Type, condition.Status, condition.Reason)
	}
	fmt.Println(len(recorder.Events), "event:", <-recorder.Events)
	// Output:
	// Counted True Counted
	// Ready False QuotaExceeded
	// Reconciling False Stalled
	// Stalled True QuotaExceeded
	// 1 event: Warning QuotaExceeded 200 parts are above the quota of 100; ask for fewer
}

// The worst contribution decides, not the last; among equals, the first.
func ExampleReadiness() {
	var r status.Readiness
	r.Progressing("Booting", "the machine boots")
	r.Stalled("BadCredentials", "the BMC refuses the password; correct the secret")
	r.Stalled("BadCertificate", "the BMC's certificate has expired")
	r.Progressing("Cabling", "waits for a link")
	r.Converged("Succeeded", "all is well")
	ready, reconciling, stalled := r.Values()
	fmt.Println("Ready", ready.Status, ready.Reason)
	fmt.Println("Reconciling", reconciling.Status)
	fmt.Println("Stalled", stalled.Status, stalled.Reason)
	// Output:
	// Ready False BadCredentials
	// Reconciling False
	// Stalled True BadCredentials
}

// An object that depends on another repeats what that one says, with something to say when it says nothing.
func ExampleValueOf() {
	issuer := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "NoAccount"}}
	fallback := status.Value{Status: metav1.ConditionUnknown, Reason: "IssuerSilent", Message: "the issuer has reported nothing"}
	fmt.Println(status.ValueOf(issuer, "Ready", fallback))
	fmt.Println(status.ValueOf(nil, "Ready", fallback))
	// Output:
	// {False NoAccount the issuer has reported nothing}
	// {Unknown IssuerSilent the issuer has reported nothing}
}

// A kind without Go type is used in the same way.
func ExampleFromUnstructured() {
	c := &server{} // a client.Client
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gadget",
		"metadata": map[string]any{"name": "g", "resourceVersion": "7", "generation": int64(1)},
	}}
	object, err := status.FromUnstructured(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	session := status.Begin(c, nil, object)
	session.Set("Scheduled", metav1.ConditionTrue, "NodeFound", "placed on node-7")
	session.Converged("Succeeded", "it runs")
	outcome, err := session.Commit(context.Background())
	fmt.Println(outcome, err)
	// Output: Written <nil>
}

// Records in memory of what the object says must not run ahead of the object.
func ExampleSession_AfterPersist() {
	announced := map[string]bool{}
	for _, c := range []*server{{err: errConflict}, {}} { // the first write loses its race
		session := status.Begin(c, nil, newWidget())
		session.AfterPersist(func() { announced["w"] = true })
		session.Converged("Succeeded", "it runs")
		outcome, _ := session.Commit(context.Background())
		fmt.Println(outcome, announced["w"], outcome.Requeue(time.Hour))
	}
	// Output:
	// LostRace false 1s
	// Written true 1h0m0s
}

// The metrics are registered once, under a prefix of the operator's choice.
func ExampleNewMetrics() {
	registry := prometheus.NewRegistry() // sigs.k8s.io/controller-runtime/pkg/metrics.Registry
	metrics := status.NewMetrics(status.PerObject("Widget"), status.PerKind("Part"))
	prometheus.WrapRegistererWithPrefix("example_", registry).MustRegister(metrics)

	session := status.Begin(&server{}, nil, newWidget(), status.WithMetrics(metrics))
	session.Progressing("Waiting", "comes by itself")
	if _, err := session.Commit(context.Background()); err != nil {
		fmt.Println(err)
	}
	families, _ := registry.Gather()
	for _, family := range families {
		fmt.Println(family.GetName(), len(family.GetMetric()))
	}
	// Output:
	// example_status_commits_total 1
	// example_status_condition 3
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/status"
)

// A claim gets its server by three writes, each decided on a live view of what it rests on (P4, P10), and on nothing else: what only a
// reader would be told, what the server itself decides, is not read for them. Of a thousand claims it was half of all requests.
func TestABindingReadsWhatItRestsOnAndNoMore(t *testing.T) {
	waiting := tenant("waiting")
	waiting.Annotations, waiting.Finalizers = nil, nil
	r, live := recorded(t, lifecycletest.View().Server, waiting)
	for pass, want := range [][]string{
		nil, // the first write rests on the claim alone
		{"get *v1alpha1.ServerClaim", "list *v1alpha1.ServerList"},
		{"get *v1alpha1.ServerClaim", "get *v1alpha1.Server", "list *v1alpha1.ServerList"},
	} {
		*live = nil
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: claim.NameOf(waiting)}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *live); diff != "" {
			t.Errorf("live reads of pass %d (-want +got):\n%s", pass+1, diff)
		}
	}
	server := &v1alpha1.Server{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Name: lifecycletest.ServerName}, server); err != nil {
		t.Fatal(err)
	}
	if ref := server.Spec.ClaimRef; ref == nil || ref.Name != waiting.Name {
		t.Errorf("after three passes the server has %v", ref)
	}
}

// The tenant is told, also where the report is of a live view, what holds the server that it has.
func TestTheHoldOfItsServerIsToldOfAClaim(t *testing.T) {
	bound := tenant("bound")
	bound.Spec.ServerName = lifecycletest.ServerName
	server := lifecycletest.View(lifecycletest.Spec(func(s *v1alpha1.ServerSpec) { s.Paused = true })).Server
	server.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: bound.Namespace, Name: bound.Name, Identity: string(bound.UID), UID: string(bound.UID)}
	r, _ := recorded(t, server, bound)
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: claim.NameOf(bound)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Get(t.Context(), claim.NameOf(bound), bound); err != nil {
		t.Fatal(err)
	}
	for _, condition := range bound.Status.Conditions {
		if condition.Type == v1alpha1.ConditionStalled && condition.Reason == v1alpha1.ReasonPaused {
			return
		}
	}
	t.Errorf("conditions: %v", bound.Status.Conditions)
}

// recorded is a reconciler over objects, and what it reads of them live.
func recorded(t *testing.T, objects ...client.Object) (*Reconciler, *[]string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.Server{}, &v1alpha1.ServerClaim{})
	for _, object := range objects {
		object.SetResourceVersion("")
		builder.WithObjects(object)
	}
	if err := index.Setup(t.Context(), indexer{builder}); err != nil {
		t.Fatal(err)
	}
	cache := builder.Build()
	var reads []string
	api := interceptor.NewClient(cache, interceptor.Funcs{
		Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			reads = append(reads, fmt.Sprintf("get %T", into))
			return from.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, from client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			reads = append(reads, fmt.Sprintf("list %T", into))
			return from.List(ctx, into, options...)
		},
	})
	conflicts, err := NewConflicts(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	settings := lifecycle.DefaultSettings(lifecycletest.ClusterID)
	servers := &view.Servers{Cache: cache, API: api, Settings: settings}
	return &Reconciler{
		Client: cache, Reader: &view.Claims{Cache: cache, API: api, Servers: servers, Settings: settings},
		Recorder: events.NewFakeRecorder(100), Metrics: status.NewMetrics(), Clock: clock.RealClock{}, Conflicts: conflicts,
	}, &reads
}

type indexer struct{ builder *fake.ClientBuilder }

// IndexField implements client.FieldIndexer.
func (i indexer) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	i.builder.WithIndex(object, field, extract)
	return nil
}

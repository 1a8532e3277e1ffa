// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// A guard whose write lost a race is put on by a pass soon after. What won the race, a label or a secret's content, wakes nobody here.
func TestAGuardThatLostARaceIsTriedAgain(t *testing.T) {
	guarded := []string{v1alpha1.FinalizerInUse}
	for _, c := range []struct {
		name string
		bmc  []string // finalizers
	}{{"on the BMC", nil}, {"on its credentials", guarded}} {
		t.Run(c.name, func(t *testing.T) {
			bmc := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: c.bmc}}
			bmc.Spec.CredentialsSecretRef.Name = "login"
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "login"}}
			r := &Reconciler{Client: losing(t, bmc, secret), Namespace: "ours"}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(bmc)})
			if err != nil || result.RequeueAfter <= 0 {
				t.Errorf("got %v, %v: want another pass soon, and no error", result, err)
			}
		})
	}
}

// losing is a client whose every patch meets a newer object.
func losing(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	patch := func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
		return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), nil)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Patch: patch}).Build()
}

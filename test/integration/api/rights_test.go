// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

const operatorNamespace = "holdfast-system"

// Each role lets its holder do its work, and nothing beside it (B248).
func TestRights(t *testing.T) {
	awaitPolicies(t) // by then the authorizer knows the bindings
	tests := []struct {
		who       user
		verb      string
		group     string
		resource  string
		sub       string
		namespace string
		name      string
		allowed   bool
	}{
		{operator, "patch", "holdfast.dev", "servers", "", "", "", true},
		{operator, "create", "holdfast.dev", "servers", "", "", "", true},
		{operator, "patch", "holdfast.dev", "serverclaims", "status", "team-a", "", true},
		{operator, "create", "events.k8s.io", "events", "", "team-a", "", true},
		{operator, "get", "", "namespaces", "", "kube-system", "kube-system", true},
		{operator, "get", "", "namespaces", "", "team-a", "team-a", false},
		{operator, "watch", "", "secrets", "", operatorNamespace, "", true},
		{operator, "patch", "", "secrets", "", operatorNamespace, "", true},
		{operator, "update", "", "secrets", "", operatorNamespace, "", false},
		{operator, "get", "", "secrets", "", "team-a", "", false},
		{operator, "list", "", "secrets", "", "", "", false},
		{operator, "update", "coordination.k8s.io", "leases", "", operatorNamespace, "", true},
		{operator, "update", "coordination.k8s.io", "leases", "", "kube-system", "", false},
		{operator, "delete", "holdfast.dev", "servers", "", "", "", true}, // of which holdfast-deletion leaves a class's alone
		{operator, "delete", "holdfast.dev", "serverclaims", "", "team-a", "", false},
		{operator, "delete", "holdfast.dev", "clouds", "", "", "", false},
		{operator, "patch", "holdfast.dev", "clouds", "status", "", "", true},
		{operator, "patch", "holdfast.dev", "serverclasses", "", "", "", true},
		{operator, "create", "holdfast.dev", "serverclasses", "", "", "", false},
		{operator, "watch", "holdfast.dev", "sshcertificateauthorities", "", "", "", true},
		{operator, "create", "holdfast.dev", "serverclaims", "", "team-a", "", false},
		{operator, "break-glass", "holdfast.dev", "servers", "", "", "", false},
		{tenant, "create", "holdfast.dev", "serverclaims", "", tenantNamespace, "", true},
		{tenant, "delete", "holdfast.dev", "serverclaims", "", tenantNamespace, "", true},
		{tenant, "create", "holdfast.dev", "serverclaims", "", "team-a", "", false},
		{tenant, "restore", "holdfast.dev", "serverclaims", "", tenantNamespace, "", false},
		{tenant, "break-glass", "holdfast.dev", "serverclaims", "", tenantNamespace, "", false},
		{tenant, "patch", "holdfast.dev", "serverclaims", "status", tenantNamespace, "", false},
		{tenant, "get", "holdfast.dev", "servers", "", "", "", false},
		{tenant, "get", "holdfast.dev", "clouds", "", "", "", false},
		{tenant, "list", "holdfast.dev", "serverclasses", "", "", "", true},
		{tenant, "patch", "holdfast.dev", "serverclasses", "", "", "", false},
		{viewer, "list", "holdfast.dev", "servers", "", "", "", true},
		{viewer, "patch", "holdfast.dev", "servers", "", "", "", false},
		{viewer, "get", "", "secrets", "", operatorNamespace, "", false},
		{platformTeam, "restore", "holdfast.dev", "servers", "", "", "", true},
		{platformTeam, "break-glass", "holdfast.dev", "serverclaims", "", "team-a", "", true},
		{platformTeam, "create", "holdfast.dev", "bmcs", "", "", "", true},
		{platformTeam, "create", "holdfast.dev", "clouds", "", "", "", true},
		{platformTeam, "delete", "holdfast.dev", "sshcertificateauthorities", "", "", "", true},
		{platformTeam, "patch", "holdfast.dev", "servers", "status", "", "", false},
	}
	for _, test := range tests {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: test.who.name, Groups: test.who.groups,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: test.verb, Group: test.group, Resource: test.resource, Subresource: test.sub, Namespace: test.namespace, Name: test.name,
			},
		}}
		if err := as(t, admin).Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != test.allowed {
			t.Errorf("%s may %s %s/%s %s in %q: %t, want %t", test.who.name, test.verb, test.resource, test.sub, test.name, test.namespace,
				review.Status.Allowed, test.allowed)
		}
	}
}

// B247: user data is read where its tenant allowed it, by the command that the gate UserDataDenied prints.
func TestUserDataIsReadWhereTheTenantAllowsIt(t *testing.T) {
	namespace := unique("team-userdata")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "my-user-data", Labels: map[string]string{v1alpha1.LabelUserData: "true"}},
	}
	for _, object := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, secret} {
		if err := as(t, admin).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	read := func() error { return as(t, operator).Get(t.Context(), client.ObjectKeyFromObject(secret), secret) }
	if err := read(); !apierrors.IsForbidden(err) {
		t.Errorf("before: %v, want forbidden", err)
	}
	mustKubectl(t, admin, "", "create", "rolebinding", "holdfast-userdata", "--namespace", namespace,
		"--clusterrole", "holdfast-userdata-reader", "--serviceaccount", "holdfast-system:holdfast")
	testenv.Eventually(t, "the operator reads the secret", func(context.Context) error { return read() })
	if err := as(t, operator).List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("list: %v, want forbidden", err)
	}
}

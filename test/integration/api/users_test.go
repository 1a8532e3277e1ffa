// SPDX-License-Identifier: Apache-2.0

package api

import (
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/config"
)

// user is somebody who talks to the API server. Without a name it is a cluster admin, member of system:masters.
type user struct {
	name   string
	groups []string
}

const (
	reconcilerUser  = "hf-reconciler"
	monitorUser     = "hf-monitor"
	tenantNamespace = "default"
)

var (
	admin        = user{}
	operator     = user{config.OperatorUsername, config.ServiceAccountGroups()}
	tenant       = user{"tenant", []string{"system:authenticated"}}
	viewer       = user{"viewer", []string{"system:authenticated"}}
	platformTeam = user{"platform", []string{"system:authenticated"}}
	// editor may write every object of the group, but has neither restore nor break-glass.
	editor = user{"editor", []string{"system:authenticated"}}
	// reconciler and monitor are the operator under two identities.
	reconciler = user{reconcilerUser, []string{"system:authenticated"}}
	monitor    = user{monitorUser, []string{"system:authenticated"}}
	// The garbage collector has its rights by the API server's own bootstrap policy.
	collector = user{
		"system:serviceaccount:kube-system:generic-garbage-collector",
		[]string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}
)

func as(t *testing.T, who user) client.Client {
	t.Helper()
	restConfig := env.Config
	if who.name != "" {
		restConfig = env.Impersonate(who.name, who.groups...)
	}
	c, err := client.New(restConfig, client.Options{})
	if err != nil {
		t.Fatalf("client of %s: %v", who.name, err)
	}
	return c
}

var rights sync.Once

// giveRights binds the roles as a platform team would.
func giveRights(t *testing.T) {
	t.Helper()
	rights.Do(func() {
		anything := &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "edit-everything"},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"holdfast.dev"}, Resources: []string{"*"},
				Verbs: []string{"get", "list", "create", "update", "patch", "delete"},
			}},
		}
		for _, object := range []client.Object{
			anything,
			roleBinding(tenant, "holdfast-tenant"),
			clusterRoleBinding(tenant, "holdfast-class-viewer"),
			clusterRoleBinding(viewer, "holdfast-viewer"),
			clusterRoleBinding(platformTeam, "holdfast-admin"),
			clusterRoleBinding(editor, anything.Name),
			clusterRoleBinding(monitor, "holdfast"),
			clusterRoleBinding(reconciler, "holdfast"), // the last: who awaits it has awaited the others
		} {
			if err := as(t, admin).Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
		}
	})
}

func roleBinding(who user, role string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: who.name},
		RoleRef:    clusterRole(role), Subjects: subjects(who),
	}
}

func clusterRoleBinding(who user, role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: who.name},
		RoleRef:    clusterRole(role), Subjects: subjects(who),
	}
}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func subjects(who user) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: who.name}}
}

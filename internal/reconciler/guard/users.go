// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// User is an object that uses another one.
type User struct {
	Kind string
	Name string // namespace/name for a claim
	// Deleting says that it is asked to go.
	Deleting bool
}

// String names the user for a person.
func (u User) String() string { return strings.ToLower(u.Kind) + " " + u.Name }

// OfBMC are the servers behind a BMC.
func OfBMC(ctx context.Context, from client.Reader, name string) ([]User, error) {
	return all(ctx, from,
		selected{"Server", &v1alpha1.ServerList{}, index.ServerBMC, name},
	)
}

// OfCloud are the servers in a cloud, and the classes that make some there.
func OfCloud(ctx context.Context, from client.Reader, name string) ([]User, error) {
	users, err := all(ctx, from, selected{"Server", &v1alpha1.ServerList{}, index.ServerCloud, name})
	if err != nil {
		return nil, err
	}
	classes, err := those(ctx, from, "ServerClass", &v1alpha1.ServerClassList{}, func(c *v1alpha1.ServerClass) bool {
		return c.Spec.OpenStack.CloudRef.Name == name
	})
	return append(users, classes...), err
}

// OfClass are the servers that a class made, and the claims that name it.
func OfClass(ctx context.Context, from client.Reader, name string) ([]User, error) {
	return all(ctx, from,
		selected{"Server", &v1alpha1.ServerList{}, index.ServerClass, name},
		selected{"ServerClaim", &v1alpha1.ServerClaimList{}, index.ClaimClass, name},
	)
}

// OfAuthority are the servers that trust an SSH certificate authority, and the classes that make such.
func OfAuthority(ctx context.Context, from client.Reader, name string) ([]User, error) {
	users, err := those(ctx, from, "Server", &v1alpha1.ServerList{}, func(s *v1alpha1.Server) bool { return trusts(s.Spec.OpenStack, name) })
	if err != nil {
		return nil, err
	}
	classes, err := those(ctx, from, "ServerClass", &v1alpha1.ServerClassList{}, func(c *v1alpha1.ServerClass) bool {
		return trusts(&c.Spec.OpenStack, name)
	})
	return append(users, classes...), err
}

func trusts(openstack *v1alpha1.OpenStackServer, authority string) bool {
	return openstack != nil && slices.Contains(openstack.SSHCertificateAuthorityRefs, v1alpha1.LocalObjectReference{Name: authority})
}

// selected is one list by a field that the API server can select.
type selected struct {
	kind  string
	list  client.ObjectList
	field string
	value string
}

func all(ctx context.Context, from client.Reader, lists ...selected) ([]User, error) {
	var users []User
	for _, s := range lists {
		if err := from.List(ctx, s.list, client.MatchingFields{s.field: s.value}); err != nil {
			return nil, fmt.Errorf("list each %s with %s=%s: %w", s.kind, s.field, s.value, err)
		}
		found, err := usersIn(s.kind, s.list, func(runtime.Object) bool { return true })
		if err != nil {
			return nil, err
		}
		users = append(users, found...)
	}
	return users, nil
}

// those lists a kind whole and keeps what uses: for fields that no API server selects. Deletions are rare.
func those[T client.Object](ctx context.Context, from client.Reader, kind string, list client.ObjectList, uses func(T) bool) ([]User, error) {
	if err := from.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list each %s: %w", kind, err)
	}
	return usersIn(kind, list, func(object runtime.Object) bool {
		typed, is := object.(T)
		return is && uses(typed)
	})
}

// usersIn are the users in a list, sorted.
func usersIn(kind string, list client.ObjectList, uses func(runtime.Object) bool) ([]User, error) {
	var users []User
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if !uses(item) {
			return nil
		}
		object, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		name := object.GetName()
		if namespace := object.GetNamespace(); namespace != "" {
			name = namespace + "/" + name
		}
		users = append(users, User{Kind: kind, Name: name, Deleting: !object.GetDeletionTimestamp().IsZero()})
		return nil
	})
	slices.SortFunc(users, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	if err != nil {
		return nil, fmt.Errorf("read a list of %s: %w", kind, err)
	}
	return users, nil
}

// Dependency reads how an object stands that another one needs. One that is not there is Missing, and no error (P10 is decided on, not
// here).
func Dependency(ctx context.Context, from client.Reader, into client.Object, kind, name string) (lifecycle.Dependency, error) {
	told := lifecycle.Dependency{Kind: kind, Name: name}
	err := from.Get(ctx, client.ObjectKey{Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		told.Missing = true
	case err != nil:
		return told, fmt.Errorf("read %s %s: %w", kind, name, err)
	default:
		told.Deleting, told.Guarded = !into.GetDeletionTimestamp().IsZero(), On(into)
	}
	return told, nil
}

// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
)

// UserData is a secret that the tenant offers as user data.
func (k *Kit) UserData(name, content string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: name, Labels: map[string]string{v1alpha1.LabelUserData: "true"}},
		StringData: map[string]string{"user-data": content},
	}
}

// LetUserDataBeRead gives the operator the right that a tenant gives it in its own namespace.
func (k *Kit) LetUserDataBeRead() {
	k.T.Helper()
	k.Create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "holdfast-userdata"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "holdfast-userdata-reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: config.OperatorUsername}},
	})
}

// Nudge wakes an object by a word that means nothing: for what no watch tells and a timer of a minute finds otherwise.
func (k *Kit) Nudge(object client.Object) {
	k.T.Helper()
	k.Annotate(object, v1alpha1.VerbPrefix+"nudge", unique("nudge"))
}

// Events of an object, or of one of its name that is gone.
func (k *Kit) Events(object client.Object) []eventsv1.Event {
	k.T.Helper()
	var list eventsv1.EventList
	if err := k.Admin.List(k.T.Context(), &list); err != nil {
		k.T.Fatal(err)
	}
	var found []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.Name == object.GetName() && event.Regarding.Namespace == object.GetNamespace() {
			found = append(found, event)
		}
	}
	return found
}

// UntilEvent waits for an event of an object with a reason and a note that contains a text.
func (k *Kit) UntilEvent(object client.Object, reason, note string) {
	k.T.Helper()
	k.Until(fmt.Sprintf("event %s of %s", reason, object.GetName()), func(context.Context) error {
		var seen []string
		for _, event := range k.Events(object) {
			if event.Reason == reason && strings.Contains(event.Note, note) {
				return nil
			}
			seen = append(seen, event.Reason)
		}
		return fmt.Errorf("there are %v", seen)
	})
}

// UntilServer waits until the Server of that name exists.
func (k *Kit) UntilServer(name string) *v1alpha1.Server {
	k.T.Helper()
	server := k.Server(name)
	k.Until("server "+name, func(ctx context.Context) error {
		return k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server)
	})
	return server
}

// UntilEventAny waits for an event of any of the objects.
func (k *Kit) UntilEventAny(reason string, objects ...client.Object) {
	k.T.Helper()
	k.Until("event "+reason, func(context.Context) error {
		for _, object := range objects {
			for _, event := range k.Events(object) {
				if event.Reason == reason {
					return nil
				}
			}
		}
		return errors.New("none")
	})
}

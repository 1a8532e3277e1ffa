// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// subscribe follows BMCs, Clouds, Servers and secrets. Events plan looks and never carry facts: a look reads the object anew. It returns
// when all that exists is planned.
func (m *Monitor) subscribe(ctx context.Context) (unsubscribe func(), err error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	type subscription struct {
		object  client.Object
		handler toolscache.ResourceEventHandler
	}
	wanted := []subscription{{&v1alpha1.BMC{}, m.bmcEvents()}, {&v1alpha1.Server{}, m.serverEvents()}, {secret, m.secretEvents()}}
	if m.observeClouds != nil {
		wanted = append(wanted, subscription{&v1alpha1.Cloud{}, m.cloudEvents()})
	}
	var removals []func() error
	unsubscribe = func() {
		for _, remove := range removals {
			if err := remove(); err != nil {
				m.log.Error(err, "Cannot unsubscribe")
			}
		}
	}
	for _, one := range wanted {
		remove, err := m.follow(ctx, one.object, one.handler)
		if err != nil {
			unsubscribe()
			return func() {}, fmt.Errorf("monitor: follow %T: %w", one.object, err)
		}
		removals = append(removals, remove)
	}
	return unsubscribe, nil
}

func (m *Monitor) follow(ctx context.Context, object client.Object, handler toolscache.ResourceEventHandler) (func() error, error) {
	informer, err := m.informers.GetInformer(ctx, object)
	if err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	remove := func() error { return informer.RemoveEventHandler(registration) }
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil, errors.Join(ctx.Err(), remove())
	}
	return remove, nil
}

func arrived(initial bool) arrival {
	if initial {
		return listed
	}
	return created
}

// deleted returns the object of a deletion, which may have been missed and found out by a listing.
func deleted[T client.Object](object any) (T, bool) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	typed, ok := object.(T)
	return typed, ok
}

func (m *Monitor) bmcEvents() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if bmc, ok := object.(*v1alpha1.BMC); ok {
				m.fleet.addBMC(bmc, arrived(initial), m.now())
			}
		},
		UpdateFunc: func(old, object any) {
			before, _ := old.(*v1alpha1.BMC)
			if after, ok := object.(*v1alpha1.BMC); ok {
				m.fleet.updateBMC(before, after, m.now())
			}
		},
		DeleteFunc: func(object any) {
			if bmc, ok := deleted[*v1alpha1.BMC](object); ok {
				m.fleet.removeBMC(bmc, m.now())
			}
		},
	}
}

func (m *Monitor) cloudEvents() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if cloud, ok := object.(*v1alpha1.Cloud); ok {
				m.clouds.add(cloud, arrived(initial), m.now())
			}
		},
		UpdateFunc: func(old, object any) {
			before, _ := old.(*v1alpha1.Cloud)
			if after, ok := object.(*v1alpha1.Cloud); ok {
				m.clouds.update(before, after, m.now())
			}
		},
		DeleteFunc: func(object any) {
			if cloud, ok := deleted[*v1alpha1.Cloud](object); ok {
				m.clouds.remove(cloud, m.now())
			}
		},
	}
}

func (m *Monitor) serverEvents() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if server, ok := object.(*v1alpha1.Server); ok {
				m.fleet.addServer(server, m.hurry(server), arrived(initial), m.now())
				m.clouds.addServer(server, m.hurry(server), arrived(initial), m.now())
			}
		},
		UpdateFunc: func(old, object any) {
			before, _ := old.(*v1alpha1.Server)
			if after, ok := object.(*v1alpha1.Server); ok {
				m.fleet.updateServer(before, after, m.hurry(after), m.now())
				m.clouds.updateServer(before, after, m.hurry(after), m.now())
			}
		},
		DeleteFunc: func(object any) {
			if server, ok := deleted[*v1alpha1.Server](object); ok {
				m.fleet.removeServer(server)
				m.clouds.removeServer(server)
			}
		},
	}
}

// hurry asks whether a server is unsettled; what is not looked at never is.
func (m *Monitor) hurry(server *v1alpha1.Server) bool {
	looked := server.Spec.Redfish != nil || (server.Spec.OpenStack != nil && m.observeClouds != nil)
	return looked && m.unsettled(server)
}

func (m *Monitor) secretEvents() toolscache.ResourceEventHandler {
	changed := func(object any) {
		if secret, ok := deleted[*metav1.PartialObjectMetadata](object); ok && secret.Namespace == m.namespace {
			m.fleet.secretChanged(secret.Name, m.now())
			m.clouds.secretChanged(secret.Name, contentChanged, m.now())
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if arrived(initial) == created {
				changed(object)
			}
		},
		UpdateFunc: func(old, object any) {
			before, _ := old.(*metav1.PartialObjectMetadata)
			after, ok := object.(*metav1.PartialObjectMetadata)
			switch {
			case !ok || before.ResourceVersion == after.ResourceVersion: // a repetition
			case after.Namespace == m.namespace && onlyFinalizersMoved(before, after):
				m.fleet.secretTouched(after.Name, m.now())
				m.clouds.secretChanged(after.Name, guardChanged, m.now())
			default: // the metadata shows a change of the content by its version alone
				changed(after)
			}
		},
		DeleteFunc: changed,
	}
}

// onlyFinalizersMoved is what the guard of a used secret looks like from here. The content may have changed with them, but not in
// any way that a person or a tool of theirs would go.
func onlyFinalizersMoved(before, after *metav1.PartialObjectMetadata) bool {
	return before.UID == after.UID &&
		!slices.Equal(before.Finalizers, after.Finalizers) &&
		maps.Equal(before.Labels, after.Labels) && maps.Equal(before.Annotations, after.Annotations)
}

// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Everything is all servers and all claims that are known, for a claim that has to choose. What it returns is shared: nobody changes it.
type Everything interface {
	Servers(ctx context.Context) ([]*v1alpha1.Server, error)
	Claims(ctx context.Context) ([]*v1alpha1.ServerClaim, error)
}

// Stores are the very objects that a cache holds, in no order. A list of the same makes a copy of each object's fields: a thousand claims
// that choose among a thousand servers copied gigabytes, and what was assessed of one server kept the copies of all.
type Stores struct{ servers, claims toolscache.Store }

// NewStores finds the stores behind a manager's informers, which need not run yet. They are filled when the informers have synced, which
// every controller that watches the two kinds waits for; a store shows a change before anybody is woken by it.
func NewStores(ctx context.Context, informers cache.Informers) (*Stores, error) {
	servers, err := storeOf(ctx, informers, &v1alpha1.Server{})
	if err != nil {
		return nil, err
	}
	claims, err := storeOf(ctx, informers, &v1alpha1.ServerClaim{})
	if err != nil {
		return nil, err
	}
	return &Stores{servers: servers, claims: claims}, nil
}

func storeOf(ctx context.Context, informers cache.Informers, object client.Object) (toolscache.Store, error) {
	informer, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("find the informer of %T: %w", object, err)
	}
	shared, ok := informer.(interface{ GetStore() toolscache.Store })
	if !ok {
		return nil, fmt.Errorf("the informer of %T (%T) shows no store", object, informer)
	}
	return shared.GetStore(), nil
}

// Servers implements Everything.
func (s *Stores) Servers(context.Context) ([]*v1alpha1.Server, error) {
	return stored[*v1alpha1.Server](s.servers)
}

// Claims implements Everything.
func (s *Stores) Claims(context.Context) ([]*v1alpha1.ServerClaim, error) {
	return stored[*v1alpha1.ServerClaim](s.claims)
}

func stored[T any](store toolscache.Store) ([]T, error) {
	held := store.List()
	objects := make([]T, len(held))
	for i, object := range held {
		typed, ok := object.(T)
		if !ok {
			return nil, fmt.Errorf("a store of %T holds a %T", objects, object)
		}
		objects[i] = typed
	}
	return objects, nil
}

// lists asks a reader, for those that have no cache: a person who explains, a test.
type lists struct{ client.Reader }

// Servers implements Everything.
func (l lists) Servers(ctx context.Context) ([]*v1alpha1.Server, error) {
	var list v1alpha1.ServerList
	if err := l.List(ctx, &list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return nil, fmt.Errorf("list servers: %w", err)
	}
	return pointers(list.Items), nil
}

// Claims implements Everything.
func (l lists) Claims(ctx context.Context) ([]*v1alpha1.ServerClaim, error) {
	var list v1alpha1.ServerClaimList
	if err := l.List(ctx, &list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	return pointers(list.Items), nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

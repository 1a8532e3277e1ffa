// SPDX-License-Identifier: Apache-2.0

// Package view gathers, from the cache or from the API server itself, what a decision may look at. It only reads; explain uses it as the
// reconcilers do.
package view

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// ServerRead is one reading of a server: the object for writing, the view for deciding.
type ServerRead struct {
	Server *v1alpha1.Server
	View   lifecycle.ServerView
}

// Servers gathers the views of servers.
type Servers struct {
	Cache    client.Reader
	API      client.Reader
	UserData UserDataReader
	Settings lifecycle.Settings
}

// UserDataReader tells whether the user data of a server can be read now: its claim's, or its own.
type UserDataReader interface {
	UserData(ctx context.Context, ref lifecycle.UserDataRef) (lifecycle.UserData, error)
}

// Cached gathers a view from the cache.
func (r *Servers) Cached(ctx context.Context, name string, now time.Time) (ServerRead, error) {
	server := &v1alpha1.Server{}
	if err := r.Cache.Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
		return ServerRead{}, err
	}
	return r.CachedAround(ctx, server, now)
}

// CachedAround gathers from the cache the view of a server that was read already.
func (r *Servers) CachedAround(ctx context.Context, server *v1alpha1.Server, now time.Time) (ServerRead, error) {
	read, err := r.gather(ctx, r.Cache, server, now)
	if err != nil {
		return ServerRead{}, err
	}
	if _, named := read.View.UserDataRef(); named {
		read.View.UserData = lifecycle.UserDataUnknown
	}
	read.View.BoundClaims, err = r.boundInCache(ctx, identityOf(server))
	return read, err
}

// Live gathers a view from the API server itself: the one read that an acting step rests on (P4).
func (r *Servers) Live(ctx context.Context, name string, now time.Time) (ServerRead, error) {
	server := &v1alpha1.Server{}
	if err := r.API.Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
		return ServerRead{}, err
	}
	return r.LiveAround(ctx, server, now)
}

// LiveAround gathers from the API server the view of a server that was read there already.
func (r *Servers) LiveAround(ctx context.Context, server *v1alpha1.Server, now time.Time) (ServerRead, error) {
	read, err := r.gather(ctx, r.API, server, now)
	if err != nil {
		return ServerRead{}, err
	}
	read.View.Live = true
	if read.View.UserData, err = r.userData(ctx, read.View); err != nil {
		return ServerRead{}, err
	}
	read.View.BoundClaims, err = r.boundLive(ctx, server)
	return read, err
}

// gather reads what a server names. What it names and is not there is nil in the view, not an error (P10 is decided on, not here).
func (r *Servers) gather(ctx context.Context, from client.Reader, server *v1alpha1.Server, now time.Time) (ServerRead, error) {
	view := lifecycle.NewServerView(server, now, r.Settings)
	var err error
	if ref := server.Spec.ClaimRef; ref != nil {
		if view.Claim, err = get(ctx, from, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &v1alpha1.ServerClaim{}); err != nil {
			return ServerRead{}, err
		}
	}
	if ref := server.Spec.MaintenanceRef; ref != nil {
		if view.Maintenance, err = get(ctx, from, client.ObjectKey{Name: ref.Name}, &v1alpha1.ServerMaintenance{}); err != nil {
			return ServerRead{}, err
		}
	}
	if server.Spec.Redfish != nil {
		if view.BMC, err = get(ctx, from, client.ObjectKey{Name: server.Spec.Redfish.BMCRef.Name}, &v1alpha1.BMC{}); err != nil {
			return ServerRead{}, err
		}
	}
	if server.Spec.OpenStack != nil {
		if err = r.dependencies(ctx, from, &view); err != nil {
			return ServerRead{}, err
		}
	}
	view.Twins, err = r.twins(ctx, server, view.BMC)
	return ServerRead{Server: server, View: view}, err
}

// get returns nil where there is no such object.
func get[T client.Object](ctx context.Context, from client.Reader, key client.ObjectKey, into T) (T, error) {
	var none T
	err := from.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("read %T %s: %w", into, key, err)
	}
	return into, nil
}

func (r *Servers) boundInCache(ctx context.Context, identity string) ([]*v1alpha1.ServerClaim, error) {
	if identity == "" {
		return nil, nil
	}
	var list v1alpha1.ServerClaimList
	if err := r.Cache.List(ctx, &list, client.MatchingFields{index.ClaimBound: identity}); err != nil {
		return nil, fmt.Errorf("list claims bound to %s: %w", identity, err)
	}
	return bound(identity, list.Items), nil
}

// boundLive finds the claims bound to server: those that name it are selected at the API server; those that the cache knows and that
// do not name it (restored without serverName) are read one by one.
func (r *Servers) boundLive(ctx context.Context, server *v1alpha1.Server) ([]*v1alpha1.ServerClaim, error) {
	identity := identityOf(server)
	if identity == "" {
		return nil, nil
	}
	var list v1alpha1.ServerClaimList
	if err := r.API.List(ctx, &list, client.MatchingFields{index.ClaimServerName: server.Name}); err != nil {
		return nil, fmt.Errorf("list claims that name %s: %w", server.Name, err)
	}
	known, err := r.boundInCache(ctx, identity)
	if err != nil {
		return nil, err
	}
	for _, claim := range known {
		if claim.Spec.ServerName == server.Name {
			continue
		}
		live, err := get(ctx, r.API, client.ObjectKeyFromObject(claim), &v1alpha1.ServerClaim{})
		if err != nil {
			return nil, err
		}
		if live != nil && live.Spec.ServerName != server.Name {
			list.Items = append(list.Items, *live)
		}
	}
	return bound(identity, list.Items), nil
}

func bound(identity string, claims []v1alpha1.ServerClaim) []*v1alpha1.ServerClaim {
	var found []*v1alpha1.ServerClaim
	for i := range claims {
		if claims[i].Annotations[ledger.KeyBound] == identity {
			found = append(found, &claims[i])
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.ServerClaim) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found
}

func (r *Servers) userData(ctx context.Context, view lifecycle.ServerView) (lifecycle.UserData, error) {
	ref, named := view.UserDataRef()
	if !named {
		return lifecycle.UserDataNone, nil
	}
	return r.UserData.UserData(ctx, ref)
}

// identityOf is the ledger's identity as it stands; whether the ledger can be read is decided elsewhere.
func identityOf(server *v1alpha1.Server) string { return server.Annotations[ledger.KeyIdentity] }

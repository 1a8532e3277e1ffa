// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// ClaimRead is one reading of a claim: the objects for writing, the view for deciding.
type ClaimRead struct {
	Claim *v1alpha1.ServerClaim
	View  claim.View
	// Servers are the servers of the view by name, as read with it: for a patch that goes to one of them.
	Servers map[string]*v1alpha1.Server

	from source
	told bool
}

// Claims gathers the views of claims.
type Claims struct {
	Cache    client.Reader
	API      client.Reader
	Servers  *Servers
	Settings lifecycle.Settings
	// Everything that a claim chooses among; nil for lists of the Cache.
	Everything Everything

	mu       sync.Mutex
	assessed map[string]assessment
}

// source is where a view is read from, and how a server's view is gathered from there.
type source struct {
	client.Reader
	around func(context.Context, *v1alpha1.Server, time.Time) (ServerRead, error)
}

// Cached gathers a view from the cache.
func (r *Claims) Cached(ctx context.Context, key types.NamespacedName, now time.Time) (ClaimRead, error) {
	return whole(ctx)(r.CachedToAct(ctx, key, now))
}

// Live gathers a view from the API server itself, but for the candidates: a server that is overlooked there is not chosen, one that is
// taken meanwhile is refused by the compare-and-swap.
func (r *Claims) Live(ctx context.Context, key types.NamespacedName, now time.Time) (ClaimRead, error) {
	return whole(ctx)(r.LiveToAct(ctx, key, now))
}

// CachedToAct gathers from the cache all that what is done rests on. Where it comes to a report, Tell adds what is only told.
func (r *Claims) CachedToAct(ctx context.Context, key types.NamespacedName, now time.Time) (ClaimRead, error) {
	return r.gather(ctx, source{r.Cache, r.Servers.CachedAround}, key, now)
}

// LiveToAct is likewise as Live. It spares each write of a binding the reads about the server's own decision, most of all there were.
func (r *Claims) LiveToAct(ctx context.Context, key types.NamespacedName, now time.Time) (ClaimRead, error) {
	read, err := r.gather(ctx, source{r.API, r.Servers.LiveAround}, key, now)
	read.View.Live = err == nil
	return read, err
}

func whole(ctx context.Context) func(ClaimRead, error) (ClaimRead, error) {
	return func(read ClaimRead, err error) (ClaimRead, error) {
		if err != nil {
			return ClaimRead{}, err
		}
		_, err = read.Tell(ctx)
		return read, err
	}
}

func (r *Claims) gather(ctx context.Context, from source, key types.NamespacedName, now time.Time) (ClaimRead, error) {
	object := &v1alpha1.ServerClaim{}
	if err := from.Get(ctx, key, object); err != nil {
		return ClaimRead{}, err
	}
	read := ClaimRead{Claim: object, Servers: map[string]*v1alpha1.Server{}, View: claim.View{Now: now, Settings: r.Settings, Claim: object}, from: from}
	for _, part := range []func(context.Context, source, *ClaimRead) error{r.named, r.holders, r.byIdentity, r.class, r.takenNames, r.twins, r.candidates} {
		if err := part(ctx, from, &read); err != nil {
			return ClaimRead{}, err
		}
	}
	if claim.ActsOnHold(object) {
		_, err := read.Tell(ctx)
		return read, err
	}
	return read, nil
}

// named reads the server that the claim has chosen.
func (r *Claims) named(ctx context.Context, from source, read *ClaimRead) error {
	name := read.Claim.Spec.ServerName
	if name == "" {
		return nil
	}
	server, err := get(ctx, from, client.ObjectKey{Name: name}, &v1alpha1.Server{})
	if err != nil || server == nil {
		return err
	}
	read.View.Server = read.keep(server)
	return nil
}

// keep remembers a server for writing.
func (r *ClaimRead) keep(server *v1alpha1.Server) *v1alpha1.Server {
	if known, ok := r.Servers[server.Name]; ok {
		return known
	}
	r.Servers[server.Name] = server
	return server
}

// holders are the servers that say they have this claim.
func (r *Claims) holders(ctx context.Context, from source, read *ClaimRead) error {
	identity := read.Claim.Annotations[ledger.KeyIdentity]
	if identity == "" {
		return nil
	}
	var list v1alpha1.ServerList
	if err := from.List(ctx, &list, client.MatchingFields{index.ServerClaimIdentity: identity}); err != nil {
		return fmt.Errorf("list the servers of claim %s: %w", identity, err)
	}
	for i := range list.Items {
		read.View.Holders = append(read.View.Holders, read.keep(&list.Items[i]))
	}
	return nil
}

// byIdentity are the servers that are this claim's by their memory: the cache tells their names, from tells what they are.
func (r *Claims) byIdentity(ctx context.Context, from source, read *ClaimRead) error {
	identity := claim.SpeaksFor(read.Claim)
	if identity == "" {
		return nil
	}
	var list v1alpha1.ServerList
	if err := r.Cache.List(ctx, &list, client.MatchingFields{index.ServerIdentity: identity}); err != nil {
		return fmt.Errorf("list the servers of identity %s: %w", identity, err)
	}
	names := map[string]bool{}
	for i := range list.Items {
		names[list.Items[i].Name] = true
	}
	if server := read.View.Server; server != nil {
		names[server.Name] = true
	}
	for name := range names {
		server, ok := read.Servers[name]
		if !ok {
			var err error
			if server, err = get(ctx, from, client.ObjectKey{Name: name}, &v1alpha1.Server{}); err != nil {
				return err
			}
		}
		if server != nil && identityOf(server) == identity {
			read.View.ByIdentity = append(read.View.ByIdentity, read.keep(server))
		}
	}
	return nil
}

// class is the class that the claim names.
func (r *Claims) class(ctx context.Context, from source, read *ClaimRead) (err error) {
	if name := read.Claim.Spec.ClassName; name != "" {
		read.View.Class, err = get(ctx, from, client.ObjectKey{Name: name}, &v1alpha1.ServerClass{})
	}
	return err
}

// takenNames tries the names for the Server that the class makes until none bears one.
func (r *Claims) takenNames(ctx context.Context, from source, read *ClaimRead) error {
	if !claim.NeedsName(read.Claim) {
		return nil
	}
	for name := range claim.ServerNames(read.Claim) {
		server, err := get(ctx, from, client.ObjectKey{Name: name}, &v1alpha1.Server{})
		if err != nil || server == nil {
			return err
		}
		read.View.TakenNames = append(read.View.TakenNames, name)
	}
	return nil
}

// twins are other claims of this identity, by the cache.
func (r *Claims) twins(ctx context.Context, _ source, read *ClaimRead) error {
	identity := read.Claim.Annotations[ledger.KeyIdentity]
	if identity == "" {
		return nil
	}
	var list v1alpha1.ServerClaimList
	if err := r.Cache.List(ctx, &list, client.MatchingFields{index.ClaimIdentity: identity}); err != nil {
		return fmt.Errorf("list claims of identity %s: %w", identity, err)
	}
	for i := range list.Items {
		if name := claim.NameOf(&list.Items[i]); name != claim.NameOf(read.Claim) {
			read.View.Twins = append(read.View.Twins, name)
		}
	}
	return nil
}

// Tell adds what the claim's server decides on the same reading, the server named, else the only one that has the claim: what is told of
// a claim that has a server, and what is done about one that is being released. It says whether there was anything to add.
func (r *ClaimRead) Tell(ctx context.Context) (added bool, err error) {
	asked := r.View.Server
	if asked == nil && len(r.View.Holders) == 1 {
		asked = r.View.Holders[0]
	}
	if asked == nil || r.told {
		return false, nil
	}
	around, err := r.from.around(ctx, asked, r.View.Now)
	if err != nil {
		return false, err
	}
	r.View.Hear(asked, servers.Decide(around.View))
	r.told = true
	return true, nil
}

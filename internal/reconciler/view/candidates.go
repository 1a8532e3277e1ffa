// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// candidates are the servers that the claim may have to choose among, and what other claims speak for, by the cache. It does not wait until
// that shows the process's own last write: the controller remembers its choices until it does.
func (r *Claims) candidates(ctx context.Context, _ source, read *ClaimRead) error {
	switch {
	case !claim.NeedsCandidates(read.Claim):
		return nil
	case read.Claim.Spec.ServerName != "":
		return r.rivals(ctx, read)
	}
	from := r.Everything
	if from == nil {
		from = lists{r.Cache}
	}
	servers, err := from.Servers(ctx)
	if err != nil {
		return err
	}
	claims, err := from.Claims(ctx)
	if err != nil {
		return err
	}
	read.View.Speakers = claim.SpeakersBut(claim.NameOf(read.Claim), claims)
	read.View.Candidates = r.assess(servers)
	return nil
}

// rivals are all that concerns a claim which has chosen already: servers with the identity of the chosen one, and claims bound to that.
func (r *Claims) rivals(ctx context.Context, read *ClaimRead) error {
	if read.View.Server == nil {
		return nil
	}
	identity := identityOf(read.View.Server)
	if identity == "" {
		return nil
	}
	var servers v1alpha1.ServerList
	if err := r.rivalsBy(ctx, &servers, index.ServerIdentity, identity); err != nil {
		return err
	}
	var claims v1alpha1.ServerClaimList
	if err := r.rivalsBy(ctx, &claims, index.ClaimBound, identity); err != nil {
		return err
	}
	read.View.Speakers = claim.SpeakersBut(claim.NameOf(read.Claim), pointers(claims.Items))
	for i := range servers.Items {
		read.View.Candidates = append(read.View.Candidates, claim.Assess(&servers.Items[i], r.Settings))
	}
	return nil
}

func (r *Claims) rivalsBy(ctx context.Context, into client.ObjectList, field, identity string) error {
	err := r.Cache.List(ctx, into, client.MatchingFields{field: identity}, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return fmt.Errorf("list %T of identity %s: %w", into, identity, err)
	}
	return nil
}

// assessment keeps what a server is good for as long as it stays the same: a thousand claims look at a thousand servers.
type assessment struct {
	uid       types.UID
	version   string
	candidate claim.Candidate
}

// assess tells what each server is good for. What is kept of servers that are no more goes before they outnumber those that are (B011).
func (r *Claims) assess(servers []*v1alpha1.Server) []claim.Candidate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.assessed == nil || len(r.assessed) > 2*len(servers) {
		r.assessed = make(map[string]assessment, len(servers))
	}
	candidates := make([]claim.Candidate, len(servers))
	for i, server := range servers {
		known, ok := r.assessed[server.Name]
		if !ok || known.uid != server.UID || known.version != server.ResourceVersion {
			known = assessment{uid: server.UID, version: server.ResourceVersion, candidate: claim.Assess(server, r.Settings)}
			r.assessed[server.Name] = known
		}
		candidates[i] = known.candidate
	}
	return candidates
}

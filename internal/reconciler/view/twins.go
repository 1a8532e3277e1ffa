// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// twins are the other servers that are this machine: those of its identity, and those that name the very system that the picture shows
// behind the same BMC, whichever object speaks of that. One enrolled by UUID and one by Redfish Id have different identities and would
// boot one machine for two claims.
// Only a server that remembers who it is counts: one that does not has no effect, and holds itself.
//
// They are looked up in the cache also for a live view: an identity cannot be selected at the API server, and a twin that is overlooked
// for a moment is held back by the stamp and by its own claim's checks.
func (r *Servers) twins(ctx context.Context, server *v1alpha1.Server, bmc *v1alpha1.BMC) ([]string, error) {
	var twins []string
	if identity := identityOf(server); identity != "" {
		same, err := r.others(ctx, server, index.ServerIdentity, identity)
		if err != nil {
			return nil, err
		}
		for _, other := range same {
			twins = append(twins, other.Name)
		}
	}
	if bmc != nil && server.Spec.Redfish != nil && server.Status.Observed != nil {
		neighbours, err := r.neighbours(ctx, server, bmc)
		if err != nil {
			return nil, err
		}
		for _, other := range neighbours {
			if identityOf(other) != "" && names(other, server.Status.Observed) {
				twins = append(twins, other.Name)
			}
		}
	}
	slices.Sort(twins)
	return slices.Compact(twins), nil
}

// neighbours are the other servers behind the same BMC.
func (r *Servers) neighbours(ctx context.Context, server *v1alpha1.Server, bmc *v1alpha1.BMC) ([]*v1alpha1.Server, error) {
	objects, err := OtherObjectsOf(ctx, r.Cache, bmc)
	if err != nil {
		return nil, err
	}
	var neighbours []*v1alpha1.Server
	for _, name := range append(objects, bmc.Name) {
		behind, err := r.others(ctx, server, index.ServerBMC, name)
		if err != nil {
			return nil, err
		}
		neighbours = append(neighbours, behind...)
	}
	return neighbours, nil
}

// others are the other servers that the cache finds.
func (r *Servers) others(ctx context.Context, server *v1alpha1.Server, field, value string) ([]*v1alpha1.Server, error) {
	var list v1alpha1.ServerList
	if err := r.Cache.List(ctx, &list, client.MatchingFields{field: value}); err != nil {
		return nil, fmt.Errorf("list the servers of %s %s: %w", field, value, err)
	}
	var others []*v1alpha1.Server
	for i := range list.Items {
		if list.Items[i].Name != server.Name {
			others = append(others, &list.Items[i])
		}
	}
	return others, nil
}

// names says whether a server's spec means the system that another server behind its BMC was seen to be. One that names none means the
// one it was seen to be itself.
func names(server *v1alpha1.Server, seen *v1alpha1.ServerObserved) bool {
	redfish := server.Spec.Redfish
	switch {
	case redfish.SystemUUID != "":
		return strings.EqualFold(redfish.SystemUUID, seen.SystemUUID)
	case redfish.SystemID != "":
		return redfish.SystemID == seen.SystemID
	default:
		return server.Status.Observed == nil || server.Status.Observed.SystemID == seen.SystemID
	}
}

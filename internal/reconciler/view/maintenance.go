// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// Maintenances gathers the views of maintenances.
type Maintenances struct {
	Cache    client.Reader
	API      client.Reader
	Settings lifecycle.Settings
}

// Cached gathers a view from the cache.
func (r *Maintenances) Cached(ctx context.Context, name string, now time.Time) (maintenance.View, error) {
	return r.gather(ctx, r.Cache, name, now)
}

// Live gathers a view from the API server itself, but for the rivals: they only order the queue, and the lock on the server is taken
// by compare-and-swap (B054).
func (r *Maintenances) Live(ctx context.Context, name string, now time.Time) (maintenance.View, error) {
	v, err := r.gather(ctx, r.API, name, now)
	v.Live = err == nil
	return v, err
}

func (r *Maintenances) gather(ctx context.Context, from client.Reader, name string, now time.Time) (maintenance.View, error) {
	object := &v1alpha1.ServerMaintenance{}
	if err := from.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return maintenance.View{}, err
	}
	v := maintenance.View{Now: now, Settings: r.Settings, Maintenance: object}
	var err error
	server := object.Spec.ServerRef.Name
	if v.Server, err = get(ctx, from, client.ObjectKey{Name: server}, &v1alpha1.Server{}); err != nil {
		return maintenance.View{}, err
	}
	if v.Server != nil && v.Server.Spec.ClaimRef != nil {
		key := client.ObjectKey{Namespace: v.Server.Spec.ClaimRef.Namespace, Name: v.Server.Spec.ClaimRef.Name}
		if v.Claim, err = get(ctx, from, key, &v1alpha1.ServerClaim{}); err != nil {
			return maintenance.View{}, err
		}
	}
	var rivals v1alpha1.ServerMaintenanceList
	if err := r.Cache.List(ctx, &rivals, client.MatchingFields{index.MaintenanceServer: server}); err != nil {
		return maintenance.View{}, fmt.Errorf("list the maintenances of server %s: %w", server, err)
	}
	for i := range rivals.Items {
		if rivals.Items[i].Name != name {
			v.Rivals = append(v.Rivals, &rivals.Items[i])
		}
	}
	return v, nil
}

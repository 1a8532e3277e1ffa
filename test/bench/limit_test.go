// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

const (
	// limitClients each have a connection of their own and this many requests on it at a time: more gain nothing on two cores.
	limitClients  = 4
	limitParallel = 4
)

// writeLimit measures how many writes a second the API server takes on this machine, without anything of Holdfast running: patches of the
// whole status of the fleet's own Servers, each of which changes something.
func (r *run) writeLimit(f *fleet) float64 {
	f.T.Helper()
	servers, err := f.Fleet(f.T.Context())
	if err != nil {
		f.T.Fatal(err)
	}
	patches := make([][2][]byte, len(servers))
	for i := range servers {
		for turn, phase := range []v1alpha1.ServerPhase{v1alpha1.PhaseAvailable, v1alpha1.PhaseReserved} {
			servers[i].Status.Phase = phase
			if patches[i][turn], err = json.Marshal(map[string]any{"status": servers[i].Status}); err != nil {
				f.T.Fatal(err)
			}
		}
	}
	// Each writer has Servers of its own: two that patch one at a time would wait for each other.
	writers := min(limitClients*limitParallel, len(servers))
	clients := make([]client.Client, (writers+limitParallel-1)/limitParallel)
	for i := range clients {
		if clients[i], err = unlimited(f); err != nil {
			f.T.Fatal(err)
		}
		// The first request of a client asks what kinds there are.
		if err := clients[i].Get(f.T.Context(), client.ObjectKey{Name: servers[0].Name}, &v1alpha1.Server{}); err != nil {
			f.T.Fatal(err)
		}
	}
	var writes atomic.Int64
	started := time.Now()
	until := started.Add(r.plan.limit)
	group, ctx := errgroup.WithContext(f.T.Context())
	for first := range writers {
		api := clients[first/limitParallel]
		group.Go(func() error {
			for turn := 0; ; turn++ {
				for i := first; i < len(servers); i += writers {
					if time.Now().After(until) {
						return nil
					}
					server := f.Server(servers[i].Name)
					if err := api.Status().Patch(ctx, server, client.RawPatch(types.MergePatchType, patches[i][turn%2])); err != nil {
						return err
					}
					writes.Add(1)
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		f.T.Fatal(err)
	}
	limit := float64(writes.Load()) / time.Since(started).Seconds()
	progress(f.T, "the API server takes %.0f writes a second", limit)
	return limit
}

// unlimited is a client with a connection of its own that nothing holds back.
func unlimited(f *fleet) (client.Client, error) {
	config := rest.CopyConfig(f.Env.Config)
	config.QPS, config.Burst = -1, 0
	// Clients of the same configuration share a connection; another way to dial is another configuration.
	config.Dial = (&net.Dialer{}).DialContext
	return client.New(config, client.Options{Scheme: operator.Scheme()})
}

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
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

// write is one that the limit is measured with. It says something else at each other turn.
type write struct {
	object client.Object
	status bool
	bodies [2][]byte
}

func (w write) send(ctx context.Context, api client.Client, turn int) error {
	object := w.object.DeepCopyObject().(client.Object) // the answer goes into it
	patch := client.RawPatch(types.MergePatchType, w.bodies[turn%2])
	if w.status {
		return api.Status().Patch(ctx, object, patch)
	}
	return api.Patch(ctx, object, patch)
}

// writeLimit measures how many writes a second the API server takes on this machine, without anything of Holdfast running: the writes of an
// enrolment, creations apart, to the fleet's own objects, each of which changes something.
func (r *run) writeLimit(f *fleet) float64 {
	f.T.Helper()
	writes := enrolmentWrites(f)
	// Each writer has objects of its own: two that patch one at a time would wait for each other.
	writers := min(limitClients*limitParallel, len(writes))
	clients := make([]client.Client, (writers+limitParallel-1)/limitParallel)
	for i := range clients {
		var err error
		if clients[i], err = unlimited(f); err != nil {
			f.T.Fatal(err)
		}
		// The first request of a client for a kind asks what kinds there are.
		for _, w := range writes[0] {
			if err := clients[i].Get(f.T.Context(), client.ObjectKeyFromObject(w.object), w.object.DeepCopyObject().(client.Object)); err != nil {
				f.T.Fatal(err)
			}
		}
	}
	var written atomic.Int64
	started := time.Now()
	until := started.Add(r.plan.limit)
	group, ctx := errgroup.WithContext(f.T.Context())
	for first := range writers {
		api := clients[first/limitParallel]
		group.Go(func() error {
			for turn := 0; ; turn++ {
				for i := first; i < len(writes); i += writers {
					for _, w := range writes[i] {
						if time.Now().After(until) {
							return nil
						}
						if err := w.send(ctx, api, turn); err != nil {
							return err
						}
						written.Add(1)
					}
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		f.T.Fatal(err)
	}
	limit := float64(written.Load()) / time.Since(started).Seconds()
	progress(f.T, "the API server takes %.0f writes a second", limit)
	return limit
}

// enrolmentWrites are, for each server of a fleet, what is written while it is enrolled (table 1), its creation apart: twice to the status of
// the Server and of its BMC, and once to each of the two beside that.
func enrolmentWrites(f *fleet) [][]write {
	f.T.Helper()
	servers, err := f.Fleet(f.T.Context())
	if err != nil {
		f.T.Fatal(err)
	}
	writes := make([][]write, len(servers))
	f.Each(len(servers), func(ctx context.Context, i int) error {
		server := &servers[i]
		bmc := &v1alpha1.BMC{}
		if err := f.Admin.Get(ctx, client.ObjectKey{Name: server.Spec.Redfish.BMCRef.Name}, bmc); err != nil {
			return err
		}
		// Whose status is written twice says something else each time.
		// None of it is what they say after an enrolment, or some of the first writes would change nothing.
		one, other := phased(server, v1alpha1.PhaseCleaning), phased(server, v1alpha1.PhaseMaintenance)
		first, second := bmcStatus(bmc, 101), bmcStatus(bmc, 102)
		named, marked := f.Server(server.Name), f.BMCObject(bmc.Name)
		writes[i] = []write{
			{marked, false, annotated()},
			{marked, true, [2][]byte{first, first}}, {marked, true, [2][]byte{second, second}},
			{named, false, annotated()},
			{named, true, [2][]byte{one, one}}, {named, true, [2][]byte{other, other}},
		}
		return nil
	})
	return writes
}

// annotated sets an annotation, now so and now so.
func annotated() [2][]byte {
	return [2][]byte{merge("metadata", map[string]any{"annotations": map[string]string{"bench": "one"}}), merge("metadata", map[string]any{"annotations": map[string]string{"bench": "other"}})}
}

func phased(server *v1alpha1.Server, phase v1alpha1.ServerPhase) []byte {
	status := server.Status.DeepCopy()
	status.Phase = phase
	return merge("status", status)
}

func bmcStatus(bmc *v1alpha1.BMC, generation int64) []byte {
	status := bmc.Status.DeepCopy()
	status.ObservedGeneration = generation
	return merge("status", status)
}

func merge(field string, value any) []byte {
	body, err := json.Marshal(map[string]any{field: value})
	if err != nil {
		panic(err) // objects that were read can be written
	}
	return body
}

// unlimited is a client with a connection of its own that nothing holds back.
func unlimited(f *fleet) (client.Client, error) {
	config := rest.CopyConfig(f.Env.Config)
	config.QPS, config.Burst = -1, 0
	// Clients of the same configuration share a connection; another way to dial is another configuration.
	config.Dial = (&net.Dialer{}).DialContext
	return client.New(config, client.Options{Scheme: operator.Scheme()})
}

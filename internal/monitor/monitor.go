// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options are what a monitor needs beside the API server.
type Options struct {
	// Observers looks at BMCs. Required.
	Observers Observers
	// Clouds looks at clouds. Nil: no cloud is looked at.
	Clouds CloudObservers
	// ClusterID is the owner whose VMs, ports and floating IPs are listed. Required where Clouds is not nil.
	ClusterID string
	// Unsettled says which servers are looked at fast. Required.
	Unsettled Unsettled
	// SecretNamespace is where the secrets of BMCs and clouds live. Required.
	SecretNamespace string
	// Cadence; the zero value is DefaultCadence, and of Cadence.Clouds DefaultCloudCadence.
	Cadence Cadence
	// Registerer of the metrics. Required.
	Registerer prometheus.Registerer
	// Log gets a line when a BMC, cloud or server becomes reachable or unreachable, and none at rest.
	Log logr.Logger
}

// Cluster is where objects are followed, read and written: a manager's cache and client.
type Cluster struct {
	// Cache tells of BMCs, Clouds, Servers and of the metadata of the secrets in Options.SecretNamespace. The content of a secret is
	// never read here.
	Cache cache.Informers
	// Client reads BMCs, Clouds and Servers from that cache and patches their status. One that reads its own writes back spares lost
	// races; nothing leans on it.
	Client client.Client
}

// Monitor looks at all BMCs and clouds and the servers behind them, and writes status.observed. It is a manager.Runnable.
type Monitor struct {
	observers     Observers
	observeClouds CloudObservers
	owner         string
	unsettled     Unsettled
	namespace     string
	cadence       Cadence
	log           logr.Logger

	reader    client.Reader
	informers cache.Informers
	writer    client.StatusClient

	fleet   *fleet
	clouds  *clouds
	metrics *metrics
	now     func() time.Time
}

// New makes a monitor and registers its metrics.
func New(cluster Cluster, options Options) (*Monitor, error) {
	if options.Observers == nil || options.Unsettled == nil || options.SecretNamespace == "" || options.Registerer == nil {
		return nil, errors.New("monitor: Observers, Unsettled, SecretNamespace and Registerer are required")
	}
	if options.Clouds != nil && options.ClusterID == "" {
		return nil, errors.New("monitor: ClusterID is required to look at clouds")
	}
	if options.Cadence == (Cadence{}) {
		options.Cadence = DefaultCadence()
	}
	if options.Cadence.Clouds == (CloudCadence{}) {
		options.Cadence.Clouds = DefaultCloudCadence()
	}
	m := &Monitor{
		observers:     options.Observers,
		observeClouds: options.Clouds,
		owner:         options.ClusterID,
		unsettled:     options.Unsettled,
		namespace:     options.SecretNamespace,
		cadence:       options.Cadence,
		log:           options.Log,
		reader:        cluster.Client,
		informers:     cluster.Cache,
		writer:        cluster.Client,
		fleet:         newFleet(options.Cadence, rand.Float64), // of pauses, not of secrets
		clouds:        newClouds(options.Cadence, rand.Float64),
		now:           time.Now,
	}
	var err error
	m.metrics, err = newMetrics(options.Registerer, m.census)
	return m, err
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. Where the monitor is elected apart from the manager that runs
// it, see Elected.
func (m *Monitor) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable: it looks until ctx ends, and returns when no visit is under way any more. It may be started
// again afterwards.
func (m *Monitor) Start(ctx context.Context) error {
	defer m.fleet.clear()
	defer m.clouds.clear()
	unsubscribe, err := m.subscribe(ctx)
	defer unsubscribe()
	if err != nil && ctx.Err() == nil {
		return err
	}
	m.run(ctx)
	return nil
}

// run looks at BMCs and clouds, each by a scheduler of its own.
func (m *Monitor) run(ctx context.Context) {
	var schedulers sync.WaitGroup
	schedulers.Go(func() { m.runBMCs(ctx) })
	if m.observeClouds != nil {
		schedulers.Go(func() { m.runClouds(ctx) })
	}
	schedulers.Wait()
}

// runBMCs is the scheduler of BMCs: the one that is due first gets the next free place.
func (m *Monitor) runBMCs(ctx context.Context) {
	var visits sync.WaitGroup
	defer visits.Wait()
	places := make(chan struct{}, m.cadence.Visits)
	for m.waitForDue(ctx) {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		during, v := m.fleet.begin(ctx, m.now())
		if v == nil {
			<-places
			continue
		}
		visits.Go(func() {
			// A visit that takes long gives its place back and goes on beside the others (B231).
			release := sync.OnceFunc(func() { <-places })
			defer release()
			patience := time.AfterFunc(m.cadence.Patience, release)
			defer patience.Stop()
			m.visit(during, v)
		})
	}
}

// waitForDue returns when a BMC is due; false when ctx has ended.
func (m *Monitor) waitForDue(ctx context.Context) bool {
	for ctx.Err() == nil {
		pause := m.fleet.wait(m.now())
		if pause <= 0 {
			return true
		}
		rest(ctx, m.fleet.kick, pause)
	}
	return false
}

// rest waits for a pause, or until a plan changes.
func rest(ctx context.Context, kick <-chan struct{}, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-kick:
	case <-timer.C:
	}
}

// read reads an object from the cache. The pause for the cache to show our own last write is bounded: where it does not, as in an
// outage, the look is put off.
func (m *Monitor) read(ctx context.Context, name string, into client.Object) error {
	bounded, cancel := context.WithTimeout(ctx, m.cadence.WriteDeadline)
	defer cancel()
	return m.reader.Get(bounded, client.ObjectKey{Name: name}, into)
}

// forget drops what is kept for a BMC whose object is gone. Its visit's context has ended with the object.
func (m *Monitor) forget(ctx context.Context, bmc string) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cadence.LookDeadline)
	defer cancel()
	m.observers.Forget(bounded, bmc)
}

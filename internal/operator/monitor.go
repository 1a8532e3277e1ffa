// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"os"

	"github.com/google/uuid"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/monitor"
)

// addMonitor adds the monitor under a lease of its own: it is the same one whether the monitor runs in here or as a Deployment of
// its own, so there is one pair of eyes.
func addMonitor(k *kit) error {
	eyes, err := monitor.New(monitor.Cluster{Cache: k.manager.GetCache(), Client: k.manager.GetClient()}, monitor.Options{
		Observers: k.bmcs,
		Clouds:    k.clouds,
		ClusterID: k.options.Settings.ClusterID,
		Unsettled: func(server *v1alpha1.Server) bool {
			_, unsettled := servers.Unsettled(server)
			return unsettled
		},
		SecretNamespace: k.options.Namespace,
		Cadence:         k.options.Cadence,
		Registerer:      k.options.Registerer,
		Log:             k.manager.GetLogger().WithName(Monitor),
	})
	if err != nil {
		return err
	}
	if !k.options.LeaderElection.Enabled {
		return k.manager.Add(eyes)
	}
	lock, err := k.lock(monitor.LeaseName)
	if err != nil {
		return err
	}
	election := k.options.LeaderElection
	return k.manager.Add(monitor.Elected(eyes, lock, monitor.Term{
		Lease: election.LeaseDuration, Renew: election.RenewDeadline, Retry: election.RetryPeriod,
	}))
}

func (k *kit) lock(name string) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this process: %w", err)
	}
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, k.options.Namespace, name, identity, k.manager.GetConfig(), k.options.LeaderElection.RenewDeadline)
	if err != nil {
		return nil, fmt.Errorf("make the lock %s: %w", name, err)
	}
	return lock, nil
}

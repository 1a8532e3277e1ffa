// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/holdfast-dev/holdfast/internal/access"
	claimcontroller "github.com/holdfast-dev/holdfast/internal/claim/controller"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
	"github.com/holdfast-dev/holdfast/internal/reconciler/bmc"
	"github.com/holdfast-dev/holdfast/internal/reconciler/cloud"
	"github.com/holdfast-dev/holdfast/internal/reconciler/credentials"
	"github.com/holdfast-dev/holdfast/internal/reconciler/maintenance"
	"github.com/holdfast-dev/holdfast/internal/reconciler/server"
	"github.com/holdfast-dev/holdfast/internal/reconciler/serverclass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/sshca"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

// Monitor is the name of the monitor in the list of controllers.
const Monitor = "monitor"

// controllers is all that a manager runs.
var controllers = []struct {
	name string
	add  func(*kit) error
}{
	{server.Name, addServer},
	{claimcontroller.Name, addClaim},
	{bmc.Name, addBMC},
	{cloud.Name, addCloud},
	{serverclass.Name, addServerClass},
	{sshca.Name, addSSHCA},
	{credentials.Name, addCredentials},
	{maintenance.Name, addMaintenance},
	{Monitor, addMonitor},
}

// Names of all controllers.
func Names() []string {
	names := make([]string, len(controllers))
	for i, c := range controllers {
		names[i] = c.name
	}
	return names
}

// kit is what the controllers of one process share.
type kit struct {
	options Options
	manager manager.Manager
	clock   clock.WithTicker
	pools   pools
	bmcs    *access.BMCs
	clouds  *access.Clouds
	metrics *status.Metrics
	wakes   *wake.Wakes
}

func newKit(mgr manager.Manager, options Options) (*kit, error) {
	wakes, err := wake.New(options.Registerer)
	if err != nil {
		return nil, err
	}
	conditions, err := conditionMetrics(options.Registerer)
	if err != nil {
		return nil, err
	}
	pools := pools{
		redfish.NewPool(redfish.Options{UserAgent: userAgent, RequestTimeout: options.Settings.EffectDeadline, Registerer: options.Registerer}),
		openstack.NewPool(openstack.Options{
			UserAgent: userAgent, RequestTimeout: options.Settings.EffectDeadline, RequestsPerSecond: options.CloudQPS, Registerer: options.Registerer,
		}),
	}
	secrets := &access.Secrets{Metadata: mgr.GetClient(), Live: mgr.GetAPIReader(), Namespace: options.Namespace}
	return &kit{
		options: options,
		manager: mgr,
		clock:   clock.RealClock{},
		pools:   pools,
		bmcs:    &access.BMCs{Secrets: secrets, Pool: pools.redfish},
		clouds:  &access.Clouds{Secrets: secrets, Pool: pools.openstack},
		metrics: conditions,
		wakes:   wakes,
	}, nil
}

// userAgent names the operator to BMCs and clouds.
const userAgent = "holdfast"

// pools keep the connections to all providers.
type pools struct {
	redfish   *redfish.Pool
	openstack *openstack.Pool
}

// Close logs out of all BMCs and drops all clouds.
func (p pools) Close(ctx context.Context) error {
	return errors.Join(p.redfish.Close(ctx), p.openstack.Close(ctx))
}

// conditionMetrics registers the status library's metrics under our prefix.
func conditionMetrics(registerer prometheus.Registerer) (*status.Metrics, error) {
	conditions := status.NewMetrics(status.PerKind("Server", "ServerClaim"), status.PerObject("BMC", "Cloud", "ServerClass", "SSHCertificateAuthority", "ServerMaintenance"))
	if err := prometheus.WrapRegistererWithPrefix("holdfast_", registerer).Register(conditions); err != nil {
		return nil, fmt.Errorf("register the condition metrics: %w", err)
	}
	return conditions, nil
}

func (k *kit) servers() *view.Servers {
	return &view.Servers{Cache: k.manager.GetClient(), API: k.manager.GetAPIReader(), UserData: k.userData(), Settings: k.options.Settings}
}

func (k *kit) userData() access.UserData {
	return access.UserData{API: k.manager.GetAPIReader(), Namespace: k.options.Namespace}
}

func addServer(k *kit) error {
	r := &server.Reconciler{
		Client: k.manager.GetClient(), Reader: k.servers(), Actors: k.bmcs, Clouds: k.clouds,
		Seeds: access.Seeds{API: k.manager.GetAPIReader(), UserData: k.userData()}, Recorder: k.manager.GetEventRecorder("holdfast"),
		Metrics: k.metrics, Clock: k.clock, Settings: k.options.Settings, Patience: &status.Patience{},
	}
	return r.Setup(k.manager, k.wakes, wake.NewPace(k.clock, k.options.FlipsPerMinute), k.options.Workers)
}

func addClaim(k *kit) error {
	conflicts, err := claimcontroller.NewConflicts(k.options.Registerer)
	if err != nil {
		return err
	}
	stores, err := view.NewStores(context.Background(), k.manager.GetCache()) // nothing is waited for
	if err != nil {
		return err
	}
	r := &claimcontroller.Reconciler{
		Conflicts: conflicts, Patience: &status.Patience{},
		Client: k.manager.GetClient(), Recorder: k.manager.GetEventRecorder("holdfast"), Metrics: k.metrics, Clock: k.clock,
		Reader: &view.Claims{Cache: k.manager.GetClient(), API: k.manager.GetAPIReader(), Servers: k.servers(), Settings: k.options.Settings, Everything: stores},
	}
	return r.Setup(k.manager, k.wakes)
}

func addBMC(k *kit) error {
	r := &bmc.Reconciler{
		Client: k.manager.GetClient(), API: k.manager.GetAPIReader(), Recorder: k.manager.GetEventRecorder("holdfast"),
		Metrics: k.metrics, Clock: k.clock, Namespace: k.options.Namespace, Forget: k.bmcs.Forget,
	}
	return r.Setup(k.manager, k.wakes)
}

func addCloud(k *kit) error {
	r := &cloud.Reconciler{
		Client: k.manager.GetClient(), API: k.manager.GetAPIReader(), Recorder: k.manager.GetEventRecorder("holdfast"),
		Metrics: k.metrics, Clock: k.clock, Namespace: k.options.Namespace, Forget: k.clouds.Forget,
	}
	return r.Setup(k.manager, k.wakes)
}

func addServerClass(k *kit) error {
	r := &serverclass.Reconciler{
		Client: k.manager.GetClient(), API: k.manager.GetAPIReader(), Recorder: k.manager.GetEventRecorder("holdfast"),
		Metrics: k.metrics, Clock: k.clock,
	}
	return r.Setup(k.manager, k.wakes)
}

func addSSHCA(k *kit) error {
	r := &sshca.Reconciler{
		Client: k.manager.GetClient(), API: k.manager.GetAPIReader(), Recorder: k.manager.GetEventRecorder("holdfast"),
		Metrics: k.metrics, Clock: k.clock,
	}
	return r.Setup(k.manager, k.wakes)
}

func addCredentials(k *kit) error {
	r := &credentials.Reconciler{Client: k.manager.GetClient(), API: k.manager.GetAPIReader(), Namespace: k.options.Namespace}
	return r.Setup(k.manager, k.wakes)
}

func addMaintenance(k *kit) error {
	r := &maintenance.Reconciler{
		Client: k.manager.GetClient(), Recorder: k.manager.GetEventRecorder("holdfast"), Metrics: k.metrics, Clock: k.clock,
		Reader: &view.Maintenances{Cache: k.manager.GetClient(), API: k.manager.GetAPIReader(), Settings: k.options.Settings},
	}
	return r.Setup(k.manager, k.wakes)
}

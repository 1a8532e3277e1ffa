// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// Scheme of everything the operator reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // two kinds of one name in this very binary
		}
	}
	return scheme
}

// Run runs a manager until ctx ends, then logs out of all BMCs and drops the connections to clouds.
func Run(ctx context.Context, options Options) error {
	mgr, shared, err := build(ctx, options)
	if err != nil {
		return err
	}
	err = mgr.Start(ctx)
	logout, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutDeadline)
	defer cancel()
	return errors.Join(err, shared.pools.Close(logout))
}

// logoutDeadline bounds the logging out of all BMCs at the end: what is left is closed by the BMCs' own time-out.
const logoutDeadline = 10 * time.Second

func build(ctx context.Context, options Options) (manager.Manager, *kit, error) {
	if err := options.validate(); err != nil {
		return nil, nil, err
	}
	if options.profiled() {
		profileWaiting()
	}
	restConfig := *options.Config
	restConfig.QPS, restConfig.Burst = options.QPS, options.Burst
	mgr, err := ctrl.NewManager(&restConfig, managerOptions(options))
	if err != nil {
		return nil, nil, fmt.Errorf("make the manager: %w", err)
	}
	if options.Settings.ClusterID, err = clusterID(ctx, mgr.GetAPIReader(), options); err != nil {
		return nil, nil, err
	}
	if options.acts() {
		// An index is an informer: a monitor alone would keep, and need the right to read, claims that it never looks at.
		if err := index.Setup(ctx, mgr.GetFieldIndexer()); err != nil {
			return nil, nil, err
		}
	}
	shared, err := newKit(mgr, options)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range controllers {
		if !options.runs(c.name) {
			continue
		}
		if err := c.add(shared); err != nil {
			return nil, nil, fmt.Errorf("set up %s: %w", c.name, err)
		}
	}
	return mgr, shared, probes(mgr)
}

func managerOptions(options Options) manager.Options {
	election := options.LeaderElection
	return manager.Options{
		Scheme:                  Scheme(),
		Metrics:                 metricsserver.Options{BindAddress: options.MetricsAddress},
		HealthProbeBindAddress:  options.ProbeAddress,
		PprofBindAddress:        options.ProfilingAddress,
		LeaderElection:          election.Enabled && options.acts(),
		LeaderElectionID:        election.ID,
		LeaderElectionNamespace: options.Namespace,
		LeaseDuration:           &election.LeaseDuration,
		RenewDeadline:           &election.RenewDeadline,
		RetryPeriod:             &election.RetryPeriod,
		// The process ends with its manager, so the lease can be given up at once: Run returns, and no effect outlives its context.
		LeaderElectionReleaseOnCancel: true,
		Controller: config.Controller{
			EnableWarmup: ptr.To(true),
			// Longer than any effect: a pass is never cut off between an effect and its record by this bound.
			ReconciliationTimeout: options.Settings.EffectDeadline + 30*time.Second,
			SkipNameValidation:    ptr.To(true), // several managers run in one process in tests and dev mode
		},
		Cache:  cacheOptions(options),
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
	}
}

// cacheOptions: secrets as metadata, in the operator's namespace alone (B248). Managed fields are not read by anybody here.
func cacheOptions(options Options) cache.Options {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject:         map[client.Object]cache.ByObject{secret: {Namespaces: map[string]cache.Config{options.Namespace: {}}}},
	}
}

// clusterID is who may act on a server: written as owner into each ledger, and what the monitor lists a cloud's resources by.
func clusterID(ctx context.Context, api client.Reader, options Options) (string, error) {
	if options.ClusterID != "" {
		return options.ClusterID, nil
	}
	namespace := &corev1.Namespace{}
	if err := api.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return "", fmt.Errorf("read the id of the cluster (or set --cluster-id): %w", err)
	}
	return string(namespace.UID), nil
}

func probes(mgr manager.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	synced := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches are not filled yet")
		}
		return nil
	}
	if err := mgr.AddReadyzCheck("caches", synced); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	return nil
}

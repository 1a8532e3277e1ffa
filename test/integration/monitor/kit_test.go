// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/monitor"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

const namespace = "holdfast-system"

// kinds are those that the monitor and these tests speak.
var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s))
})

var person = sync.OnceValues(func() (client.Client, error) {
	s, err := kinds()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(env.Config)
	config.QPS, config.Burst = 1000, 1000
	return client.New(config, client.Options{Scheme: s})
})

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// admin reads and writes without a cache, as a person does.
func admin(t *testing.T) client.Client {
	t.Helper()
	c, err := person()
	if err != nil {
		t.Fatal(err)
	}
	return client.WithFieldOwner(c, "admin")
}

// quick is a cadence in which a slow pace passes many times in a test.
func quick() monitor.Cadence {
	cadence := monitor.DefaultCadence()
	cadence.Slow, cadence.Fast = 250*time.Millisecond, 20*time.Millisecond
	cadence.RetryFirst, cadence.RetryLast = 20*time.Millisecond, 100*time.Millisecond
	return cadence
}

// unsettled is what an open intent is.
func unsettled(server *v1alpha1.Server) bool {
	_, open := server.Annotations[ledger.KeyIntent]
	return open
}

// eyes are one running monitor.
type eyes struct {
	rack *rack
	stop func()
}

// open starts a monitor in a manager of its own, as an installation does, over the given rack. wrap may put something between the
// monitor and the API server.
func open(t *testing.T, r *rack, runnable func(manager.Manager, *monitor.Monitor) manager.Runnable, wrap func(client.Client) client.Client, changes ...func(*monitor.Options)) *eyes {
	t.Helper()
	identity := rest.CopyConfig(env.Impersonate(config.MonitorUsername, config.ServiceAccountGroups()...))
	identity.QPS, identity.Burst = 1000, 1000
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	mgr, err := ctrl.NewManager(identity, ctrl.Options{
		Scheme:  scheme(t),
		Logger:  testr.New(t),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Cache: cache.Options{
			ByObject: map[client.Object]cache.ByObject{secret: {Namespaces: map[string]cache.Config{namespace: {}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	looking := mgr.GetClient()
	if wrap != nil {
		looking = wrap(looking)
	}
	options := monitor.Options{
		Observers: r, Unsettled: unsettled, SecretNamespace: namespace, Cadence: quick(),
		Registerer: prometheus.NewRegistry(), Log: testr.New(t),
	}
	for _, change := range changes {
		change(&options)
	}
	m, err := monitor.New(monitor.Cluster{Cache: mgr.GetCache(), Client: looking}, options)
	if err != nil {
		t.Fatal(err)
	}
	var started manager.Runnable = m
	if runnable != nil {
		started = runnable(mgr, m)
	}
	if err := mgr.Add(started); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	e := &eyes{rack: r, stop: sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	})}
	t.Cleanup(e.stop)
	return e
}

// rack is a set of scripted BMCs. Objects of other tests' racks get an error that is no provider's, from which nothing follows.
type rack struct {
	mu     sync.Mutex
	bmcs   map[string]*scripted
	forgot map[string]bool
}

func newRack() *rack { return &rack{bmcs: map[string]*scripted{}, forgot: map[string]bool{}} }

// For implements monitor.Observers.
func (r *rack) For(_ context.Context, bmc *v1alpha1.BMC) (provider.Observer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, found := r.bmcs[bmc.Name]; found {
		return b, nil
	}
	return nil, fmt.Errorf("BMC %s is of another rack", bmc.Name)
}

// Forget implements monitor.Observers.
func (r *rack) Forget(_ context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgot[name] = true
}

// enroll makes a BMC with its secret and one server.
func (r *rack) enroll(t *testing.T, name string) *scripted {
	t.Helper()
	b := &scripted{facts: provider.SystemFacts{
		ID: "1", UUID: "38947555-7742-3448-3784-823347823834", Power: provider.PowerOff, Health: "OK", StampSupport: true,
		Hardware: &provider.Hardware{Manufacturer: "Contoso", NICs: []provider.NIC{{Name: "1", MAC: "02:00:00:00:00:01"}}},
	}}
	r.mu.Lock()
	r.bmcs[name] = b
	r.mu.Unlock()
	api := admin(t)
	objects := []client.Object{
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Type: corev1.SecretTypeBasicAuth,
			StringData: map[string]string{"username": "u", "password": "p"},
		},
		&v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.BMCSpec{
			Endpoint: "https://192.0.2.1", CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: name},
		}},
		&v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{
			BMCRef: v1alpha1.LocalObjectReference{Name: name}, SystemUUID: "38947555-7742-3448-3784-823347823834",
		}}},
	}
	for _, object := range objects {
		if err := api.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, name, err)
		}
		t.Cleanup(func() { remove(t, object) })
	}
	return b
}

func remove(t *testing.T, object client.Object) {
	t.Helper()
	err := admin(t).Delete(context.WithoutCancel(t.Context()), object)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// scripted is a BMC with one system.
type scripted struct {
	mu     sync.Mutex
	facts  provider.SystemFacts
	err    error
	during func()
	looks  int
}

func (b *scripted) set(change func(*scripted)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

func (b *scripted) looked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.looks
}

func (b *scripted) answer() (provider.SystemFacts, error) {
	b.mu.Lock()
	b.looks++
	during := b.during
	b.during = nil
	b.mu.Unlock()
	if during != nil {
		during()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts, b.err
}

// Discover implements provider.Observer.
func (b *scripted) Discover(context.Context) (provider.BMCFacts, error) {
	facts, err := b.answer()
	return provider.BMCFacts{
		Vendor: "Contoso", Model: "BMC9", Firmware: "1.2.3", UUID: "bmc",
		Systems: []provider.SystemSummary{{ID: facts.ID, UUID: facts.UUID, CanReset: true}, {ID: facts.ID}},
	}, err
}

// Observe implements provider.Observer.
func (b *scripted) Observe(_ context.Context, _ provider.SystemRef, depth provider.Depth, _ string) (provider.SystemFacts, error) {
	facts, err := b.answer()
	if depth == provider.DepthState {
		facts.Hardware = nil
	}
	return facts, err
}

// ObserveTask implements provider.Observer.
func (b *scripted) ObserveTask(context.Context, string) (provider.TaskState, error) {
	_, err := b.answer()
	return provider.TaskState{Phase: provider.TaskDone}, err
}

func getServer(ctx context.Context, t *testing.T, name string) *v1alpha1.Server {
	t.Helper()
	server := &v1alpha1.Server{}
	if err := admin(t).Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
		t.Fatal(err)
	}
	return server
}

func getBMC(ctx context.Context, t *testing.T, name string) *v1alpha1.BMC {
	t.Helper()
	bmc := &v1alpha1.BMC{}
	if err := admin(t).Get(ctx, client.ObjectKey{Name: name}, bmc); err != nil {
		t.Fatal(err)
	}
	return bmc
}

// eventuallySeen waits until the region of a server, which is never nil then, is as asked for.
func eventuallySeen(t *testing.T, name, what string, check func(*v1alpha1.ServerObserved) bool) {
	t.Helper()
	testenv.Eventually(t, what, func(ctx context.Context) error {
		if observed := getServer(ctx, t, name).Status.Observed; observed == nil || !check(observed) {
			return fmt.Errorf("region: %+v", observed)
		}
		return nil
	})
}

func reachable(o *v1alpha1.ServerObserved) bool { return o.Reachable }

// patchStatus writes to the status of a server as somebody else than the monitor.
func patchStatus(t *testing.T, object client.Object, owner client.FieldOwner, patch string) {
	t.Helper()
	err := admin(t).Status().Patch(context.WithoutCancel(t.Context()), object, client.RawPatch("application/merge-patch+json", []byte(patch)), owner)
	if err != nil {
		t.Errorf("patch the status of %s: %v", object.GetName(), err)
	}
}

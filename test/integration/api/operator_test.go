// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	controllers "github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// process is a holdfast process: whose name it acts under, and what it runs.
type process struct {
	who  user
	runs []string
}

// B248: a machine's whole life, from its BMC to its end, and a VM's after it, need no right but those that config/rbac gives, and breaks no policy: nothing
// that the operator asks for, acting under its own name, is refused.
func TestTheOperatorIsRefusedNothing(t *testing.T) {
	asked := liveALife(t, nil, process{who: operator})
	expectUse(t, asked, append(slices.Clone(neededToAct), neededToLook...))
}

// The same with the monitor apart, each under its own name, in its own region of status (P7).
func TestOperatorAndMonitorApartAreRefusedNothing(t *testing.T) {
	component := os.DirFS("../../../config/components/monitor")
	lookout := user{config.MonitorUsername, config.ServiceAccountGroups()}
	asked := liveALife(t, component, process{operator, allButTheMonitor()}, process{lookout, []string{controllers.Monitor}})
	expectUse(t, asked, neededToAct)
}

// What a life takes: a right beside these is one that no part needs.
var (
	neededToAct = []string{
		"create servers", "patch servers", "patch servers/status", "patch serverclaims", "patch serverclaims/status", "patch bmcs", "patch bmcs/status",
		"patch servermaintenances", "patch servermaintenances/status", "delete servers", "patch clouds", "patch clouds/status",
		"patch serverclasses", "patch serverclasses/status", "patch sshcertificateauthorities", "patch sshcertificateauthorities/status",
		"patch secrets", "create events", "get namespaces", "create leases", "update leases",
	}
	neededToLook = []string{"get secrets", "watch secrets"}
)

// liveALife lets the processes lead one machine and one VM through their lives, and returns what they asked the API server for.
func liveALife(t *testing.T, more fs.FS, processes ...process) []string {
	t.Helper()
	policies, err := config.Policies()
	if err != nil {
		t.Fatal(err)
	}
	options := testenv.Options{AuditLog: filepath.Join(t.TempDir(), "audit.log"), Manifests: []fs.FS{config.CRDs(), config.RBAC(), policies}}
	if more != nil {
		options.Manifests = append(options.Manifests, more)
	}
	cluster := testenv.Run(t, options)
	people, err := client.New(cluster.Config, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	var stops []func()
	for _, p := range processes {
		stops = append(stops, start(t, cluster, p))
	}
	life(t, people, register(t, people))
	lifeOfAVM(t, people)
	for _, stop := range stops {
		stop() // a watch is in the log when it has ended
	}
	return judge(t, options.AuditLog, processes)
}

// life takes a machine from its BMC through a claim and a maintenance to its end.
func life(t *testing.T, people client.Client, machine string) {
	t.Helper()
	server := &v1alpha1.Server{}
	await(t, people, "discovered", client.ObjectKey{Name: machine}, server, func() bool { return server.Status.Phase == v1alpha1.PhaseAvailable })
	web := &v1alpha1.ServerClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       v1alpha1.ServerClaimSpec{ServerRef: &v1alpha1.LocalObjectReference{Name: machine}},
	}
	put(t, people, web)
	await(t, people, "booted", client.ObjectKeyFromObject(web), web, func() bool {
		return meta.IsStatusConditionTrue(web.Status.Conditions, v1alpha1.ConditionReady) &&
			meta.IsStatusConditionTrue(web.Status.Conditions, v1alpha1.ConditionBooted)
	})
	maintenance := &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{Name: "new-dimm"},
		Spec: v1alpha1.ServerMaintenanceSpec{
			ServerRef: v1alpha1.LocalObjectReference{Name: machine}, Policy: v1alpha1.MaintenanceEnforced, Power: v1alpha1.PowerOff,
		},
	}
	put(t, people, maintenance)
	await(t, people, "in maintenance", client.ObjectKeyFromObject(maintenance), maintenance, func() bool {
		return meta.IsStatusConditionTrue(maintenance.Status.Conditions, v1alpha1.ConditionReady)
	})
	end(t, people, maintenance)
	end(t, people, web)
	bmc := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: machine}}
	if err := people.Delete(t.Context(), bmc); err != nil {
		t.Fatal(err)
	}
	end(t, people, server)
	end(t, people, bmc)
}

// register puts one simulated machine behind a BMC object.
func register(t *testing.T, people client.Client) string {
	t.Helper()
	const name, password = "rack1-u07", "canary-7"
	rack, err := redfish.NewRack(redfish.Config{Timing: &redfish.Timing{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rack.Close() })
	simulated, err := rack.AddBMC(redfish.BMCSpec{Name: name, Username: "holdfast", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	put(t, people, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name},
		Type:       corev1.SecretTypeBasicAuth,
		StringData: map[string]string{corev1.BasicAuthUsernameKey: "holdfast", corev1.BasicAuthPasswordKey: password},
	})
	put(t, people, &v1alpha1.BMC{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.BMCSpec{
			Endpoint: simulated.Endpoint(), CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: name},
			TLS: &v1alpha1.BMCTLS{CABundle: string(rack.CAPEM())},
		},
	})
	return name
}

// start runs a process with its leases until the returned function is called or the test ends.
func start(t *testing.T, cluster *testenv.Environment, p process) (stop func()) {
	t.Helper()
	options := controllers.Defaults()
	options.Config = cluster.Impersonate(p.who.name, p.who.groups...)
	options.Controllers = p.runs
	options.Registerer = prometheus.NewRegistry()
	options.MetricsAddress, options.ProbeAddress = "0", "0"
	options.Settings.EffectDeadline, options.Settings.GracePeriod = time.Second, time.Second
	options.Cadence.Slow, options.Cadence.Fast = time.Second, 50*time.Millisecond
	options.Cadence.Clouds.Slow, options.Cadence.Clouds.Floor = time.Second, 50*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- controllers.Run(ctx, options) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("operator: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// judge reads what was asked for under the names of the processes. A lost race is no refusal.
func judge(t *testing.T, audit string, processes []process) []string {
	t.Helper()
	events, err := testenv.ReadAudit(audit)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, event := range events {
		if event.ImpersonatedUser == nil || event.ObjectRef == nil {
			continue
		}
		if !slices.ContainsFunc(processes, func(p process) bool { return p.who.name == event.ImpersonatedUser.Username }) {
			continue
		}
		asked[describe(event)] = true
		if code := event.ResponseStatus.Code; code == http.StatusForbidden || code == http.StatusUnauthorized || code == http.StatusUnprocessableEntity {
			t.Errorf("refused: %s may not %s %s/%s: %s", event.ImpersonatedUser.Username, describe(event),
				event.ObjectRef.Namespace, event.ObjectRef.Name, event.ResponseStatus.Message)
		}
	}
	return slices.Sorted(maps.Keys(asked))
}

func expectUse(t *testing.T, asked, needed []string) {
	t.Helper()
	for _, right := range needed {
		if !slices.Contains(asked, right) {
			t.Errorf("%s is granted and was never asked for; these were: %q", right, asked)
		}
	}
}

func describe(event auditv1.Event) string {
	resource := event.ObjectRef.Resource
	if event.ObjectRef.Subresource != "" {
		resource += "/" + event.ObjectRef.Subresource
	}
	return event.Verb + " " + resource
}

func put(t *testing.T, people client.Client, object client.Object) {
	t.Helper()
	if err := people.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// end deletes an object where that was not asked for yet, and waits until it is gone.
func end(t *testing.T, people client.Client, object client.Object) {
	t.Helper()
	if err := people.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	started := time.Now()
	defer func() { t.Logf("%s gone after %s", object.GetName(), time.Since(started).Round(time.Millisecond)) }()
	testenv.Eventually(t, fmt.Sprintf("%T %s is gone", object, object.GetName()), func(ctx context.Context) error {
		err := people.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w: %v", err, object)
	})
}

func await(t *testing.T, people client.Client, what string, key client.ObjectKey, object client.Object, reached func() bool) {
	t.Helper()
	started := time.Now()
	defer func() { t.Logf("%s %s after %s", key.Name, what, time.Since(started).Round(time.Millisecond)) }()
	testenv.Eventually(t, fmt.Sprintf("%T %s is %s", object, key.Name, what), func(ctx context.Context) error {
		if err := people.Get(ctx, key, object); err != nil {
			return err
		}
		if !reached() {
			return fmt.Errorf("not yet: %v", object)
		}
		return nil
	})
}

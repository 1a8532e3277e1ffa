// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// Names of what there is one of.
const (
	cloudName = "cloud"
	className = "small"
	namespace = "tenants"
	// labelPool tells machines that are claimed by name from those that are claimed by selector.
	labelPool = "pool"
)

// world is everything but Holdfast.
type world struct {
	env   *testenv.Environment
	rack  *redfish.Rack
	cloud *openstack.Cloud
	admin client.Client
	// tenant has the rights of a tenant in its namespace, and no other.
	tenant client.Client
	log    *os.File
}

// blink is how long each step of a machine takes.
const blink = 150 * time.Millisecond

func startWorld(ctx context.Context, options Options) (*world, error) {
	w := &world{}
	if err := w.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("start the world: %w", err), w.close())
	}
	return w, nil
}

func (w *world) start(ctx context.Context, options Options) (err error) {
	if w.log, err = os.Create(filepath.Join(options.Dir, "controlplane.log")); err != nil {
		return err
	}
	policies, err := config.Policies(config.OperatorUsername)
	if err != nil {
		return err
	}
	w.env, err = testenv.Start(ctx, testenv.Options{Manifests: []fs.FS{config.CRDs(), config.RBAC(), policies}, Output: w.log})
	if err != nil {
		return err
	}
	if err := w.startSimulators(options); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	for i := range options.machines() {
		if err := w.enroll(ctx, i, options); err != nil {
			return err
		}
	}
	return w.enrollCloud(ctx)
}

func (w *world) startSimulators(options Options) (err error) {
	w.rack, err = redfish.NewRack(redfish.Config{
		Seed: options.Seed, RequestLog: 500_000,
		Timing: &redfish.Timing{
			PowerOn: blink, PowerOff: blink, Shutdown: 2 * blink, POST: blink, OSBoot: blink, Pause: blink, BMCBoot: 10 * blink,
		},
		Netboot: &redfish.Program{Duration: 2 * blink, Then: redfish.ThenReboot},
	})
	if err != nil {
		return err
	}
	w.cloud, err = openstack.Start(openstack.Config{
		Seed: options.Seed, RequestLog: 500_000,
		Timing: &openstack.Timing{
			Schedule: blink, Spawn: 2 * blink, Rebuild: 2 * blink, PowerOn: blink, PowerOff: blink, Reboot: blink, Delete: blink,
		},
	})
	return err
}

// connect makes the clients. Requests have a deadline: a store that stands still must not hold up the driver that lets it go on.
func (w *world) connect(ctx context.Context) (err error) {
	if w.admin, err = w.client(w.env.Config); err != nil {
		return err
	}
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tenant"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "holdfast-tenant"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "tenant"}},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "userdata"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "holdfast-userdata-reader"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: config.OperatorUsername}},
		},
	}
	for _, object := range objects {
		if err := w.admin.Create(ctx, object); err != nil {
			return err
		}
	}
	w.tenant, err = w.client(w.env.Impersonate("tenant", "system:authenticated"))
	return err
}

func (w *world) client(from *rest.Config) (client.Client, error) {
	connection := rest.CopyConfig(from)
	connection.QPS, connection.Burst, connection.Timeout = 1000, 2000, requestDeadline
	return client.New(connection, client.Options{Scheme: operator.Scheme()})
}

// credentials of a BMC and of the cloud, in the first of their rotations.
const (
	username      = "admin"
	firstPassword = "password-0"
)

func (w *world) enroll(ctx context.Context, i int, options Options) error {
	name := machineName(i)
	spec := redfish.BMCSpec{Name: name, Username: username, Password: firstPassword}
	if !options.stamped() && i%2 == 1 {
		spec.Behaviour.AssetTag = redfish.AssetTagRefused
	}
	if isStranger(i) {
		spec.Systems = []redfish.MachineSpec{{Power: redfish.PowerOn, Disk: watch.ImageURL(strangerOn(name))}}
	}
	bmc, err := w.rack.AddBMC(spec)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: name},
		Type:       corev1.SecretTypeBasicAuth,
		StringData: map[string]string{corev1.BasicAuthUsernameKey: username, corev1.BasicAuthPasswordKey: firstPassword},
	}
	if err := w.admin.Create(ctx, secret); err != nil {
		return fmt.Errorf("enroll %s: %w", name, err)
	}
	return w.register(ctx, bmc, poolOf(i, options.machines()))
}

// isStranger says that a machine runs for somebody whom Holdfast does not know when it is enrolled.
func isStranger(i int) bool { return i%10 == 7 }

// strangerOn is how the record calls whoever runs on a machine from before.
func strangerOn(machine string) string { return "stranger/" + machine + "#1" }

// register creates the BMC object of a BMC, where there is none.
func (w *world) register(ctx context.Context, bmc *redfish.BMC, pool string) error {
	err := w.admin.Create(ctx, &v1alpha1.BMC{
		ObjectMeta: metav1.ObjectMeta{Name: bmc.Name()},
		Spec: v1alpha1.BMCSpec{
			Endpoint:             bmc.Endpoint(),
			CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: bmc.Name()},
			TLS:                  &v1alpha1.BMCTLS{CABundle: string(w.rack.CAPEM())},
			ServerTemplate:       &v1alpha1.ServerTemplate{Labels: map[string]string{labelPool: pool}},
		},
	})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("register %s: %w", bmc.Name(), err)
	}
	return nil
}

func (w *world) enrollCloud(ctx context.Context) error {
	objects := []client.Object{
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: cloudName},
			Data:       map[string][]byte{v1alpha1.KeyClouds: w.cloud.CloudsYAML()},
		},
		&v1alpha1.Cloud{
			ObjectMeta: metav1.ObjectMeta{Name: cloudName},
			Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: cloudName}, CloudName: openstack.CloudName},
		},
		&v1alpha1.ServerClass{
			ObjectMeta: metav1.ObjectMeta{Name: className},
			Spec: v1alpha1.ServerClassSpec{OpenStack: v1alpha1.OpenStackServer{
				CloudRef:   v1alpha1.LocalObjectReference{Name: cloudName},
				Flavor:     v1alpha1.FlavorSelector{Name: "m1.small"},
				Image:      v1alpha1.ResourceSelector{Name: "debian-12"},
				Networks:   []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
				FloatingIP: &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}},
			}},
		},
	}
	for _, o := range objects {
		if err := w.admin.Create(ctx, o); err != nil {
			return fmt.Errorf("enroll the cloud: %w", err)
		}
	}
	return nil
}

// machine is the simulated machine of that name.
func (w *world) machine(name string) *redfish.Machine {
	if bmc := w.rack.BMC(name); bmc != nil {
		return bmc.Machines()[0]
	}
	return nil
}

// heal takes back whatever was done to the ways to the providers; what was done to machines is taken back by who did it.
func (w *world) heal() error {
	for _, bmc := range w.rack.BMCs() {
		bmc.ClearFaults()
	}
	w.cloud.ClearFaults()
	w.cloud.ClearMishaps()
	w.cloud.CellDown()
	var failures []error
	for _, vm := range w.cloud.Servers() {
		failures = append(failures, w.cloud.ShowServer(vm.ID))
	}
	return errors.Join(failures...)
}

func (w *world) close() error {
	var failures []error
	if w.cloud != nil {
		failures = append(failures, w.cloud.Close())
	}
	if w.rack != nil {
		failures = append(failures, w.rack.Close())
	}
	if w.env != nil {
		failures = append(failures, w.env.Stop())
	}
	if w.log != nil {
		failures = append(failures, w.log.Close())
	}
	return errors.Join(failures...)
}

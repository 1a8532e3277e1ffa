// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Kit is what one test works with.
type Kit struct {
	*Suite
	T *testing.T
	// Name is of this test alone: machines, labels and maintenances take theirs from it.
	Name string
	// Namespace is of this test alone: its tenant's.
	Namespace string
	// Patience is how long a fact is waited for: some minutes, where a test does not change it.
	Patience time.Duration

	machines []*Machine
	clouds   []*Cloud
	begun    Mark
}

var counter atomic.Int64

// Kit makes the kit of a test. At the end of a test that failed it prints what there is to know.
func (s *Suite) Kit(t *testing.T, prefix string) *Kit {
	t.Helper()
	k := &Kit{Suite: s, T: t, Name: unique(prefix), Patience: patience}
	k.Namespace = k.Name
	k.begun = k.Mark()
	k.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: k.Namespace}})
	t.Cleanup(k.leave)
	return k
}

func unique(prefix string) string {
	n := counter.Add(1)
	return prefix + "-" + string(rune('a'+n/26%26)) + string(rune('a'+n%26))
}

// Machine is one server of a test: the simulated machine, and the names of its objects.
type Machine struct {
	// Name of the BMC object, of the simulated BMC, of its Secret, and of the Server where it is the only one.
	Name string
	BMC  *sim.BMC
	*sim.Machine
}

// Enrollment is what is put into the rack and registered. Tests change what they are about.
type Enrollment struct {
	Simulated sim.BMCSpec
	Secret    *corev1.Secret
	BMC       *v1alpha1.BMC
}

// Credentials of simulated BMCs.
const (
	Username = "admin"
	Password = "password"
)

// Register puts a machine into the rack and registers its BMC.
func (k *Kit) Register(changes ...func(*Enrollment)) *Machine {
	k.T.Helper()
	name := unique(k.Name)
	labels := map[string]string{"test": k.Name}
	e := &Enrollment{
		Simulated: sim.BMCSpec{Name: name, Username: Username, Password: Password},
		Secret: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: name},
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{corev1.BasicAuthUsernameKey: Username, corev1.BasicAuthPasswordKey: Password},
		},
		BMC: &v1alpha1.BMC{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.BMCSpec{
				CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: name},
				TLS:                  &v1alpha1.BMCTLS{CABundle: string(k.Rack.CAPEM())},
				ServerTemplate:       &v1alpha1.ServerTemplate{Labels: labels},
			},
		},
	}
	for _, change := range changes {
		change(e)
	}
	bmc, err := k.Rack.AddBMC(e.Simulated)
	if err != nil {
		k.T.Fatal(err)
	}
	if e.BMC.Spec.Endpoint == "" {
		e.BMC.Spec.Endpoint = bmc.Endpoint()
	}
	if e.Secret != nil {
		k.Create(e.Secret)
	}
	k.Create(e.BMC)
	machine := &Machine{Name: name, BMC: bmc, Machine: bmc.Machines()[0]}
	k.machines = append(k.machines, machine)
	return machine
}

// Enroll registers a machine and waits until it is free for a claim.
func (k *Kit) Enroll(changes ...func(*Enrollment)) *Machine {
	k.T.Helper()
	machine := k.Register(changes...)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	return machine
}

// Claim is a claim of the tenant for a machine by name.
func (k *Kit) Claim(server string, changes ...func(*v1alpha1.ServerClaim)) *v1alpha1.ServerClaim {
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: unique("claim")}}
	if server != "" {
		claim.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: server}
	}
	for _, change := range changes {
		change(claim)
	}
	k.T.Helper()
	if err := k.Tenant.Create(k.T.Context(), claim); err != nil {
		k.T.Fatalf("the tenant creates claim %s: %v", claim.Name, err)
	}
	return claim
}

// Booted claims a machine and waits until it was booted for the claim.
func (k *Kit) Booted(server string, changes ...func(*v1alpha1.ServerClaim)) *v1alpha1.ServerClaim {
	k.T.Helper()
	claim := k.Claim(server, changes...)
	k.UntilReady(claim)
	k.UntilQuiet(claim.Spec.ServerName)
	return claim
}

// Maintain creates a maintenance of a server.
func (k *Kit) Maintain(server string, changes ...func(*v1alpha1.ServerMaintenance)) *v1alpha1.ServerMaintenance {
	k.T.Helper()
	maintenance := &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{Name: unique(k.Name)},
		Spec:       v1alpha1.ServerMaintenanceSpec{ServerRef: v1alpha1.LocalObjectReference{Name: server}, Policy: v1alpha1.MaintenanceEnforced},
	}
	for _, change := range changes {
		change(maintenance)
	}
	k.Create(maintenance)
	return maintenance
}

// Create creates an object as an administrator.
func (k *Kit) Create(object client.Object) {
	k.T.Helper()
	if err := k.Admin.Create(k.T.Context(), object); err != nil {
		k.T.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

// Delete asks for the deletion of an object, as an administrator, and reads it before, so that [Kit.UntilGone] knows which object of
// that name it waits for. One that is gone already is gone.
func (k *Kit) Delete(object client.Object) {
	k.T.Helper()
	if err := k.Admin.Get(k.T.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil {
		k.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
	if err := k.Admin.Delete(k.T.Context(), object); client.IgnoreNotFound(err) != nil {
		k.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// Change reads an object, changes it, and patches what differs, as an administrator.
func Change[T client.Object](k *Kit, object T, change func(T)) {
	k.T.Helper()
	ctx := k.T.Context()
	if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		k.T.Fatalf("change %T %s: %v", object, object.GetName(), err)
	}
	before := object.DeepCopyObject().(client.Object)
	change(object)
	if err := k.Admin.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		k.T.Fatalf("change %T %s: %v", object, object.GetName(), err)
	}
}

// Annotate gives an object an annotation: how people speak to Holdfast.
func (k *Kit) Annotate(object client.Object, key, value string) {
	k.T.Helper()
	Change(k, object, func(o client.Object) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		o.SetAnnotations(annotations)
	})
}

// Server is the Server of that name, empty but for the name: to be changed, deleted or waited for.
func (k *Kit) Server(name string) *v1alpha1.Server {
	return &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// BMCObject is the BMC of that name, empty but for the name.
func (k *Kit) BMCObject(name string) *v1alpha1.BMC {
	return &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// Read reads an object.
func Read[T client.Object](k *Kit, object T) T {
	k.T.Helper()
	if err := k.Admin.Get(k.T.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		k.T.Fatalf("read %T %s: %v", object, object.GetName(), err)
	}
	return object
}

// Took logs how long something took when the returned function is called.
func (k *Kit) Took(what string) func() {
	started := time.Now()
	return func() { k.T.Logf("%s: %s", strings.TrimSpace(what), time.Since(started).Round(time.Millisecond)) }
}

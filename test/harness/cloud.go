// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// Cloud is a cloud of one test alone: the simulated one, and the name of its objects.
type Cloud struct {
	// Name of the Cloud object, and of its Secret.
	Name string
	*sim.Cloud
}

// CloudSetup is what a cloud is started and registered with. Tests change what they are about.
type CloudSetup struct {
	Simulated sim.Config
	Secret    *corev1.Secret
	Cloud     *v1alpha1.Cloud
}

// QuickCloud is a cloud that makes a VM in the blink of an eye.
func QuickCloud() sim.Timing {
	return sim.Timing{
		Schedule: blink, Spawn: 2 * blink, Rebuild: 2 * blink, PowerOn: blink, PowerOff: blink, Reboot: blink, Delete: blink,
	}
}

// RegisterCloud starts a simulated cloud and registers it.
func (k *Kit) RegisterCloud(changes ...func(*CloudSetup)) *Cloud {
	k.T.Helper()
	name, timing := unique(k.Name), QuickCloud()
	setup := &CloudSetup{
		Simulated: sim.Config{Timing: &timing},
		Secret:    &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: name}},
		Cloud: &v1alpha1.Cloud{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: name}, CloudName: sim.CloudName},
		},
	}
	for _, change := range changes {
		change(setup)
	}
	cloud, err := sim.Start(setup.Simulated)
	if err != nil {
		k.T.Fatal(err)
	}
	k.T.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			k.T.Error(err)
		}
	})
	if setup.Secret.Data == nil {
		setup.Secret.Data = map[string][]byte{v1alpha1.KeyClouds: cloud.CloudsYAML()}
	}
	k.Create(setup.Secret)
	k.Create(setup.Cloud)
	made := &Cloud{Name: name, Cloud: cloud}
	k.clouds = append(k.clouds, made)
	return made
}

// OpenStack is what a small VM at a cloud is made of.
func (c *Cloud) OpenStack(changes ...func(*v1alpha1.OpenStackServer)) v1alpha1.OpenStackServer {
	spec := v1alpha1.OpenStackServer{
		CloudRef: v1alpha1.LocalObjectReference{Name: c.Name},
		Flavor:   v1alpha1.FlavorSelector{Name: "m1.small"},
		Image:    v1alpha1.ResourceSelector{Name: "debian-12"},
		Networks: []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
	}
	for _, change := range changes {
		change(&spec)
	}
	return spec
}

// VM creates a Server that makes a VM at a cloud. It waits for nothing.
func (k *Kit) VM(cloud *Cloud, changes ...func(*v1alpha1.Server)) *v1alpha1.Server {
	k.T.Helper()
	spec := cloud.OpenStack()
	server := &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: unique(k.Name)}, Spec: v1alpha1.ServerSpec{OpenStack: &spec}}
	for _, change := range changes {
		change(server)
	}
	k.Create(server)
	return server
}

// RunningVM creates a Server that makes a VM at a cloud, and waits until it runs.
func (k *Kit) RunningVM(cloud *Cloud, changes ...func(*v1alpha1.Server)) *v1alpha1.Server {
	k.T.Helper()
	return k.UntilVM(k.VM(cloud, changes...).Name, v1alpha1.PhaseRunning)
}

// UntilVM waits until a virtual server shows a phase and is ready in it.
func (k *Kit) UntilVM(server string, phase v1alpha1.ServerPhase) *v1alpha1.Server {
	k.T.Helper()
	object := k.Server(server)
	k.Until(fmt.Sprintf("server %s ready in phase %s", server, phase), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, keyOf(object), object); err != nil {
			return err
		}
		if object.Status.Phase != phase {
			return fmt.Errorf("phase %q", object.Status.Phase)
		}
		return ready(object)
	})
	return object
}

// Class creates a ServerClass for a cloud.
func (k *Kit) Class(cloud *Cloud, changes ...func(*v1alpha1.ServerClass)) *v1alpha1.ServerClass {
	k.T.Helper()
	class := &v1alpha1.ServerClass{
		ObjectMeta: metav1.ObjectMeta{Name: unique(k.Name)},
		Spec:       v1alpha1.ServerClassSpec{OpenStack: cloud.OpenStack()},
	}
	for _, change := range changes {
		change(class)
	}
	k.Create(class)
	return class
}

// ClassClaim is a claim of the tenant for a VM of a class. It waits for nothing.
func (k *Kit) ClassClaim(class *v1alpha1.ServerClass, changes ...func(*v1alpha1.ServerClaim)) *v1alpha1.ServerClaim {
	k.T.Helper()
	return k.Claim("", append([]func(*v1alpha1.ServerClaim){func(c *v1alpha1.ServerClaim) { c.Spec.ClassName = class.Name }}, changes...)...)
}

// VMsOf are the VMs at a cloud that bear an identity, by their tags: what the cloud itself says, whatever Holdfast believes.
func (c *Cloud) VMsOf(identity string) []sim.Server {
	var found []sim.Server
	for _, vm := range c.Servers() {
		if slices.Contains(vm.Tags, provider.TagIdentity+identity) {
			found = append(found, vm)
		}
	}
	return found
}

// Wrote counts the finished requests at a cloud that changed something, by method and route.
func (c *Cloud) Wrote() map[string]int {
	counts := map[string]int{}
	for _, total := range c.Totals() {
		if total.Method != http.MethodGet && total.Method != http.MethodHead && total.Service != "identity" {
			counts[total.Method+" "+total.Route] += total.Count
		}
	}
	return counts
}

// UntilEmpty waits until a cloud has no VM, port or floating IP left.
func (k *Kit) UntilEmpty(cloud *Cloud) {
	k.T.Helper()
	k.Until("cloud "+cloud.Name+" empty", func(context.Context) error {
		if vms, ports, ips := len(cloud.Servers()), len(cloud.Ports()), len(cloud.FloatingIPs()); vms+ports+ips > 0 {
			return fmt.Errorf("%d VMs, %d ports, %d floating IPs", vms, ports, ips)
		}
		return nil
	})
}

// Settled waits until nothing was written to a cloud for a while that is longer than anything is put off in tests.
func (k *Kit) Settled(cloud *Cloud) {
	k.T.Helper()
	const quiet = 3 * SlowPoll
	last, since := cloud.Wrote(), time.Now()
	k.Until("cloud "+cloud.Name+" left alone", func(context.Context) error {
		if now := cloud.Wrote(); fmt.Sprint(now) != fmt.Sprint(last) {
			last, since = now, time.Now()
		}
		if time.Since(since) < quiet {
			return fmt.Errorf("writes: %v", last)
		}
		return nil
	})
}

// cloudOf is the cloud of this test that a server is at; nil for none.
func (k *Kit) cloudOf(server *v1alpha1.Server) *Cloud {
	if server.Spec.OpenStack == nil {
		return nil
	}
	for _, c := range k.clouds {
		if c.Name == server.Spec.OpenStack.CloudRef.Name {
			return c
		}
	}
	return nil
}

// tellCloud prints what is at a cloud, and what was last asked of it but looks.
func (k *Kit) tellCloud(out *strings.Builder, cloud *Cloud) {
	fmt.Fprintf(out, "--- cloud %s\n", cloud.Name)
	for _, vm := range cloud.Servers() {
		vm.UserData = ""
		fmt.Fprintf(out, "VM %+v\n", vm)
	}
	for _, port := range cloud.Ports() {
		fmt.Fprintf(out, "port %+v\n", port)
	}
	for _, ip := range cloud.FloatingIPs() {
		fmt.Fprintf(out, "floating IP %+v\n", ip)
	}
	requests, err := cloud.Requests(sim.RequestFilter{})
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	requests = slices.DeleteFunc(requests, func(r sim.Request) bool { return r.Method == http.MethodGet })
	const most = 60
	for _, r := range requests[max(0, len(requests)-most):] {
		fmt.Fprintf(out, "%s %s %s %s %s → %d %s\n", r.At.Format("15:04:05.000"), r.Service, r.Method, r.Path, r.Body, r.Status, r.Fault)
	}
}

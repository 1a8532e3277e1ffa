// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// kit is what one test works with: a project, the proxy before it, and the Cloud that leads there.
type kit struct {
	*harness.Kit
	project *lab.Project
	proxy   *lab.Proxy
	cloud   *v1alpha1.Cloud
	owner   string // id of the cluster

	made int // Servers and classes so far, for their names
}

// patience with services that share two cores with everything else.
const patience = 8 * time.Minute

func newKit(t *testing.T, name string) *kit {
	t.Helper()
	if stack == nil {
		t.Skip(lab.ErrNotAsked)
	}
	k := &kit{Kit: suite.Kit(t, name)}
	k.Patience = patience
	project, err := stack.NewProject(t.Context(), fmt.Sprintf("holdfast-%s-%d", k.Name, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	k.project = project
	t.Cleanup(k.leave)
	if k.proxy, err = stack.NewProxy(t.Context()); err != nil {
		t.Fatal(err)
	}
	system := harness.Read(k.Kit, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}})
	k.owner = string(system.UID)
	k.enrollCloud()
	return k
}

// enrollCloud registers the project as a Cloud, seen through the proxy, and waits until it is ready.
func (k *kit) enrollCloud() {
	k.T.Helper()
	secret := k.secret()
	secret.StringData = map[string]string{v1alpha1.KeyClouds: k.cloudsYAML()}
	k.Create(secret)
	k.cloud = &v1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name},
		Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: k.Name}, CloudName: cloudName},
	}
	k.Create(k.cloud)
	k.UntilReady(k.cloud)
}

// cloudName is the entry of clouds.yaml.
const cloudName = "here"

func (k *kit) cloudsYAML() string { return k.proxy.CloudsYAML(cloudName, k.project.Credentials) }

// secret with the credentials of the Cloud, empty but for its name.
func (k *kit) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: k.Name}}
}

// leave takes away what is left, after a failure too; that a test leaves nothing by itself is shown by [kit.expectNothing].
func (k *kit) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if k.proxy != nil {
		if k.T.Failed() {
			k.T.Logf("asked by the operator:\n%s", k.proxy.Calls())
		}
		_ = k.proxy.Close() // nobody asks any more
	}
	if listing, err := k.project.List(ctx); err == nil && k.T.Failed() {
		k.T.Logf("left behind:\n%s", listing)
	}
	if err := k.project.Remove(ctx); err != nil {
		k.T.Error(err)
	}
}

// name is of this kit alone.
func (k *kit) name(what string) string {
	k.made++
	return fmt.Sprintf("%s-%s-%d", k.Name, what, k.made)
}

// template is the smallest VM: one port, one security group.
func (k *kit) template(changes ...func(*v1alpha1.OpenStackServer)) v1alpha1.OpenStackServer {
	template := v1alpha1.OpenStackServer{
		CloudRef: v1alpha1.LocalObjectReference{Name: k.cloud.Name},
		Flavor:   v1alpha1.FlavorSelector{Name: lab.Flavor},
		Image:    v1alpha1.ResourceSelector{Name: lab.ImageA},
		Networks: []v1alpha1.NetworkAttachment{{
			Network:        v1alpha1.ResourceSelector{Name: lab.Network},
			SecurityGroups: &[]v1alpha1.ResourceSelector{{Name: lab.SecurityGroup}},
		}},
	}
	for _, change := range changes {
		change(&template)
	}
	return template
}

// standalone creates a Server that nobody claims.
func (k *kit) standalone(changes ...func(*v1alpha1.OpenStackServer)) *v1alpha1.Server {
	k.T.Helper()
	template := k.template(changes...)
	server := &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: k.name("vm")}, Spec: v1alpha1.ServerSpec{OpenStack: &template}}
	k.Create(server)
	return server
}

// running creates a Server and waits until its VM runs.
func (k *kit) running(changes ...func(*v1alpha1.OpenStackServer)) *v1alpha1.Server {
	k.T.Helper()
	server := k.standalone(changes...)
	k.untilRunning(server)
	return server
}

// class creates a class for claims.
func (k *kit) class(reclaim v1alpha1.ReclaimPolicy, changes ...func(*v1alpha1.OpenStackServer)) *v1alpha1.ServerClass {
	k.T.Helper()
	class := &v1alpha1.ServerClass{
		ObjectMeta: metav1.ObjectMeta{Name: k.name("class")},
		Spec:       v1alpha1.ServerClassSpec{OpenStack: k.template(changes...), ReclaimPolicy: reclaim},
	}
	k.Create(class)
	return class
}

// claim is the tenant's claim for a VM of a class.
func (k *kit) claim(class *v1alpha1.ServerClass) *v1alpha1.ServerClaim {
	k.T.Helper()
	return k.Claim("", func(c *v1alpha1.ServerClaim) { c.Spec.ClassName = class.Name })
}

// served claims a VM of a class and waits until the claim has it, and all that the VM is to have is there.
func (k *kit) served(class *v1alpha1.ServerClass) (*v1alpha1.ServerClaim, *v1alpha1.Server) {
	k.T.Helper()
	claim := k.claim(class)
	k.UntilReady(claim)
	server := k.Server(claim.Spec.ServerName)
	k.untilRunning(server)
	return claim, server
}

func withFloatingIP(s *v1alpha1.OpenStackServer) {
	s.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: lab.External}}
}

func withRebuilds(s *v1alpha1.OpenStackServer) { s.RebuildPolicy = v1alpha1.RebuildOnImageChange }

// identity of a Server, as its ledger has it.
func identity(server *v1alpha1.Server) string { return server.Annotations[ledger.KeyIdentity] }

// untilRunning waits until a Server is ready and its VM was seen ACTIVE.
func (k *kit) untilRunning(server *v1alpha1.Server) {
	k.T.Helper()
	k.UntilReady(server)
	if seen := server.Status.Observed; seen == nil || seen.Instance == nil || seen.Instance.State != "ACTIVE" {
		k.T.Errorf("server %s is ready, and its picture is %+v", server.Name, seen)
	}
}

// vm is the id of a Server's VM, as the operator sees it.
func vm(server *v1alpha1.Server) string {
	if server.Status.Observed == nil || server.Status.Observed.Instance == nil {
		return ""
	}
	return server.Status.Observed.Instance.ID
}

// ACTIVE and the others are Nova's words.
const (
	active  = "ACTIVE"
	errored = "ERROR"
	shutoff = "SHUTOFF"
)

// expect has the judge compare the project with what should be there, and prints what is there.
func (k *kit) expect(when string, expected lab.Expected) lab.Listing {
	k.T.Helper()
	expected.Owner = k.owner
	listing, err := k.project.List(k.T.Context())
	if err != nil {
		k.T.Fatal(err)
	}
	k.T.Logf("%s:\n%s", when, listing)
	for _, difference := range expected.Differences(listing) {
		k.T.Errorf("%s: %s", when, difference)
	}
	return listing
}

// expectServers is expect for a project in which nobody else made anything.
func (k *kit) expectServers(when string, servers ...lab.ExpectedServer) lab.Listing {
	k.T.Helper()
	return k.expect(when, lab.Expected{Servers: servers})
}

// one is what the smallest VM of a Server should be: with one port, in Nova's status.
func one(server *v1alpha1.Server, status string) lab.ExpectedServer {
	return lab.ExpectedServer{Identity: identity(server), ID: vm(server), Status: status, Ports: 1}
}

// expectAsked checks what Nova itself remembers having been asked for in this project, in this order.
func (k *kit) expectAsked(actions ...string) {
	k.T.Helper()
	chronicle, err := k.project.Chronicle(k.T.Context())
	if err != nil {
		k.T.Fatal(err)
	}
	k.T.Log(chronicle)
	var asked []string
	for _, deed := range chronicle {
		asked = append(asked, deed.Action)
	}
	if got, want := strings.Join(asked, " "), strings.Join(actions, " "); got != want {
		k.T.Errorf("Nova was asked to %q, not to %q", got, want)
	}
}

// expectNothing deletes objects, in this order, waits until each is gone, and has the judge see that nothing of them is left.
func (k *kit) expectNothing(objects ...client.Object) {
	k.T.Helper()
	for _, object := range objects {
		k.Delete(object)
	}
	for _, object := range objects {
		k.UntilGone(object)
	}
	k.expectServers("after all was deleted")
}

// watched lets the operator look at the cloud several more times, and returns what it asked for meanwhile.
func (k *kit) watched() lab.Calls {
	k.T.Helper()
	const looks = 4
	begin := time.Now()
	k.Until("several more looks", func(context.Context) error {
		seen := len(k.proxy.Calls().Since(begin).Of("GET", "/servers/detail"))
		if seen < looks {
			return fmt.Errorf("%d listings of servers", seen)
		}
		return nil
	})
	return k.proxy.Calls().Since(begin)
}

// expectRest checks that a settled fleet costs bulk reads and nothing else (P8).
func (k *kit) expectRest() {
	k.T.Helper()
	calls := k.watched()
	if changes := calls.Changes(); len(changes) > 0 {
		k.T.Errorf("at rest the cloud was changed:\n%s", changes)
	}
	for _, call := range calls {
		if strings.Contains(call.Kind(), "{id}") && call.Service != lab.TypeIdentity {
			k.T.Errorf("at rest one thing was asked for by id: %s", call.Kind())
		}
	}
	k.T.Logf("at rest:\n%s", calls)
}

// untilAsked waits until the operator has asked the cloud for something, as often as given.
func (k *kit) untilAsked(method, kind string, times int) {
	k.T.Helper()
	k.Until(fmt.Sprintf("%d times %s %s", times, method, kind), func(context.Context) error {
		if got := len(k.proxy.Calls().Of(method, kind)); got < times {
			return fmt.Errorf("%d times", got)
		}
		return nil
	})
}

// must ends the test on an error of the lab.
func (k *kit) must(err error) {
	k.T.Helper()
	if err != nil {
		k.T.Fatal(err)
	}
}

// serverChosen says nothing once a claim names its Server.
func (k *kit) serverChosen(claim *v1alpha1.ServerClaim) func(context.Context) error {
	return func(context.Context) error {
		if harness.Read(k.Kit, claim); claim.Spec.ServerName == "" {
			return fmt.Errorf("phase %s", claim.Status.Phase)
		}
		return nil
	}
}

// incompressible is text of a length that gzip makes no shorter.
func incompressible(length int) string {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte('!' + random.IntN('~'-'!'))
	}
	return string(text)
}

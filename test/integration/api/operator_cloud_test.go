// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// staffKey is the public key of an SSH certificate authority; nobody has its other half.
const staffKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBY8vQ0GJqg1N0vN1m5n3m4o8F2fCkKQ3rY1mF7Q9b2c staff"

// lifeOfAVM takes a VM from its cloud through a claim with a class to its end, and all that it needed away after it.
func lifeOfAVM(t *testing.T, people client.Client) {
	t.Helper()
	edges := registerCloud(t, people)
	worker := &v1alpha1.ServerClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"},
		Spec:       v1alpha1.ServerClaimSpec{ClassName: "small"},
	}
	put(t, people, worker)
	await(t, people, "running", client.ObjectKeyFromObject(worker), worker, func() bool {
		return meta.IsStatusConditionTrue(worker.Status.Conditions, v1alpha1.ConditionReady) &&
			meta.IsStatusConditionTrue(worker.Status.Conditions, v1alpha1.ConditionBooted)
	})
	end(t, people, worker)
	for _, edge := range edges {
		end(t, people, edge)
	}
}

// registerCloud registers a simulated cloud, a class that makes VMs there, and whose certificates they trust: in the order in which they
// can go.
func registerCloud(t *testing.T, people client.Client) []client.Object {
	t.Helper()
	const name = "fra1"
	simulated, err := sim.Start(sim.Config{Timing: &sim.Timing{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = simulated.Close() })
	put(t, people, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name},
		Data:       map[string][]byte{v1alpha1.KeyClouds: simulated.CloudsYAML()},
	})
	cloud := &v1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: name}, CloudName: sim.CloudName},
	}
	authority := &v1alpha1.SSHCertificateAuthority{
		ObjectMeta: metav1.ObjectMeta{Name: "staff"}, Spec: v1alpha1.SSHCertificateAuthoritySpec{PublicKeys: []string{staffKey}},
	}
	class := &v1alpha1.ServerClass{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: v1alpha1.ServerClassSpec{OpenStack: v1alpha1.OpenStackServer{
			CloudRef: v1alpha1.LocalObjectReference{Name: name}, Flavor: v1alpha1.FlavorSelector{Name: "m1.small"},
			Image:                       v1alpha1.ResourceSelector{Name: "debian-12"},
			Networks:                    []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
			SSHCertificateAuthorityRefs: []v1alpha1.LocalObjectReference{{Name: authority.Name}},
		}},
	}
	for _, object := range []client.Object{cloud, authority, class} {
		put(t, people, object)
	}
	awaitGuards(t, people, cloud, authority, class)
	return []client.Object{class, authority, cloud}
}

// awaitGuards waits until what a VM will need cannot go any more.
func awaitGuards(t *testing.T, people client.Client, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		testenv.Eventually(t, object.GetName()+" is guarded", func(ctx context.Context) error {
			if err := people.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
			if len(object.GetFinalizers()) == 0 {
				return errors.New("not yet")
			}
			return nil
		})
	}
}

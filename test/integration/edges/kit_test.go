// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func cloudObject(cloud *harness.Cloud) *v1alpha1.Cloud {
	return &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: cloud.Name}}
}

func secretOf(cloud *harness.Cloud) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: cloud.Name}}
}

// authority is an SSH certificate authority with a key of its own.
func authority(t *testing.T, k *harness.Kit) *v1alpha1.SSHCertificateAuthority {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha1.SSHCertificateAuthority{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name},
		Spec:       v1alpha1.SSHCertificateAuthoritySpec{PublicKeys: []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))}},
	}
	k.Create(object)
	return object
}

func trusting(object *v1alpha1.SSHCertificateAuthority) func(*v1alpha1.OpenStackServer) {
	return func(o *v1alpha1.OpenStackServer) {
		o.SSHCertificateAuthorityRefs = []v1alpha1.LocalObjectReference{{Name: object.Name}}
	}
}

// waitsFor waits until the deletion of an object waits for exactly the users named.
func waitsFor(k *harness.Kit, object harness.Conditioned, users ...string) {
	k.T.Helper()
	want := "deletion waits for " + strings.Join(users, ", ") + ": delete them first"
	k.Until(fmt.Sprintf("%T %s: %s", object, object.GetName(), want), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if object.GetDeletionTimestamp() == nil {
			return errors.New("not being deleted")
		}
		ready := meta.FindStatusCondition(*object.StatusConditions(), v1alpha1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonInUse || ready.Message != want {
			return fmt.Errorf("%+v", ready)
		}
		return nil
	})
}

// guarded waits until an object bears the guard.
func guarded(k *harness.Kit, object client.Object) {
	k.T.Helper()
	k.Until(fmt.Sprintf("%T %s guarded", object, object.GetName()), func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if !controllerutil.ContainsFinalizer(object, v1alpha1.FinalizerInUse) {
			return fmt.Errorf("finalizers %v", object.GetFinalizers())
		}
		return nil
	})
}

// madeVMs is how often a cloud was asked to make a VM.
func madeVMs(t *testing.T, cloud *harness.Cloud) int {
	t.Helper()
	requests, err := cloud.Requests(sim.RequestFilter{})
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, request := range requests {
		if request.Service == "compute" && request.Method == http.MethodPost && strings.HasSuffix(request.Path, "/servers") {
			made++
		}
	}
	return made
}

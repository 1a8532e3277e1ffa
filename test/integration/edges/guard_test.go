// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// The guard is on a dependency before its first use: while it cannot be written, nothing is made, however long that takes.
func TestNothingIsMadeBeforeTheGuardIsOn(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "guard")
	cloud := k.RegisterCloud(func(setup *harness.CloudSetup) {
		// Named before it is there: the guard is refused from the first try on.
		disarm := k.StrikeAll(harness.APIFault{Exact: "/clouds/" + setup.Cloud.Name, Body: v1alpha1.FinalizerInUse})
		t.Cleanup(func() { disarm() })
		setup.Cloud.Annotations = map[string]string{"test": k.Name}
	})
	server := k.VM(cloud)
	condition := k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreating)
	if object := harness.Read(k, cloudObject(cloud)); len(object.Finalizers) > 0 {
		t.Fatalf("the guard is on: %v", object.Finalizers)
	}
	t.Log(condition.Message)
	k.Until("the cloud was looked at several times", func(context.Context) error {
		reads := 0
		for _, total := range cloud.Totals() {
			if total.Method == "GET" {
				reads += total.Count
			}
		}
		if reads < 20 {
			return fmt.Errorf("%d reads", reads)
		}
		return nil
	})
	if got := cloud.Wrote(); len(got) > 0 {
		t.Errorf("made before the guard was on: %v", got)
	}
}

// P1: a wiped status of what is used is reported again; nothing is guarded anew, let go or done.
func TestAWipedStatusOfADependencyIsInert(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "wiped")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) { trusting(keys)(&c.Spec.OpenStack) })
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) { trusting(keys)(s.Spec.OpenStack) })
	object := cloudObject(cloud)
	all := []harness.Conditioned{object, class, keys}
	for _, one := range all {
		k.UntilReady(one)
	}
	k.Settled(cloud)
	wrote, began := cloud.Wrote(), time.Now()
	for range 3 {
		for _, one := range all {
			k.WipeStatus(one)
			k.UntilReady(one)
		}
	}
	k.Settled(cloud)
	if now := cloud.Wrote(); fmt.Sprint(now) != fmt.Sprint(wrote) {
		t.Errorf("written at the cloud: %v, before %v", now, wrote)
	}
	writes, err := k.Audit().Writes(began)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{cloud.Name, class.Name, keys.Name, server.Name}
	for _, write := range writes {
		if slices.Contains(names, write.Name) && !slices.Contains([]string{"clouds/status", "serverclasses/status", "sshcertificateauthorities/status"}, write.Resource) {
			t.Errorf("a wiped status led to: %s", write)
		}
	}
}

// A guard that somebody took off is put back.
func TestAGuardThatWasTakenOffIsPutBack(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "back")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	class := k.Class(cloud)
	for _, object := range []client.Object{cloudObject(cloud), secretOf(cloud), keys, class} {
		guarded(k, object)
		harness.Change(k, object, func(o client.Object) { o.SetFinalizers(nil) })
		guarded(k, object)
	}
}

// B171: what is wrong with a Cloud is said with what to do about it, and ends with a corrected secret, without a restart. The new secret
// is guarded, the former one let go.
func TestACloudIsToldItsCredentialsAreWrong(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "login")
	var good map[string][]byte
	cloud := k.RegisterCloud(func(setup *harness.CloudSetup) {
		setup.Secret.Data = map[string][]byte{v1alpha1.KeyClouds: []byte("clouds: {}")}
	})
	object, former := cloudObject(cloud), secretOf(cloud)
	good = map[string][]byte{v1alpha1.KeyClouds: cloud.CloudsYAML()}
	k.UntilCondition(object, v1alpha1.ConditionStalled, metav1.ConditionTrue, "")
	k.UntilCondition(object, v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
	guarded(k, former)

	renewed := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: cloud.Name + "-renewed"}, Data: good,
	}
	k.Create(renewed)
	harness.Change(k, object, func(c *v1alpha1.Cloud) { c.Spec.CloudsSecretRef.Name = renewed.Name })
	k.UntilReady(object)
	guarded(k, renewed)
	k.Delete(former)
	k.UntilGone(former)

	k.Delete(object)
	k.UntilGone(object)
	k.Delete(renewed)
	k.UntilGone(renewed)
}

// A Cloud without its secret says so, and is deleted all the same (B061, B062).
func TestACloudWithoutASecret(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "none")
	object := &v1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name},
		Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: "no-such-secret"}, CloudName: "x"},
	}
	k.Create(object)
	k.UntilHeld(object, provider.ReasonCredentialsMissing, "no-such-secret", "spec.cloudsSecretRef")
	k.Delete(object)
	k.UntilGone(object)
}

// An authority whose key is none is said to be so before a VM is made with it.
func TestAnAuthorityThatSSHDWouldNotTake(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "unfit")
	keys := &v1alpha1.SSHCertificateAuthority{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name},
		Spec:       v1alpha1.SSHCertificateAuthoritySpec{PublicKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhZA=="}},
	}
	k.Create(keys)
	k.UntilHeld(keys, v1alpha1.ReasonAuthorityInvalid, "public key 1")
	k.Delete(keys)
	k.UntilGone(keys)
}

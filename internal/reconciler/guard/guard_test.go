// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func serving(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func TestUsersAreNamedUpToFive(t *testing.T) {
	var users []User
	for i := range 7 {
		users = append(users, User{Kind: "Server", Name: fmt.Sprintf("s%d", i)})
	}
	for count, want := range map[int]string{
		1: "server s0",
		5: "server s0, server s1, server s2, server s3, server s4",
		7: "server s0, server s1, server s2, server s3, server s4 and 2 more",
	} {
		if got := named(users[:count]); got != want {
			t.Errorf("%d users: %q, want %q", count, got, want)
		}
	}
}

// Only our own finalizer goes, and a guard that stands costs no write (B068, P8).
func TestTheGuardIsOneFinalizerAmongOthers(t *testing.T) {
	cloud := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: "fra1", Finalizers: []string{"example.com/backup"}}}
	api := serving(t, cloud)
	g := Guard{Client: api, API: api}
	read := func() *v1alpha1.Cloud {
		t.Helper()
		now := &v1alpha1.Cloud{}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(cloud), now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	if wrote, err := g.Put(t.Context(), read(), "guard"); !wrote || err != nil || !On(read()) {
		t.Fatalf("wrote %t, %v: finalizers %v", wrote, err, read().Finalizers)
	}
	if wrote, err := g.Put(t.Context(), read(), "guard"); wrote || err != nil {
		t.Errorf("a second guard: wrote %t, %v", wrote, err)
	}
	if wrote, err := g.LetGo(t.Context(), read(), "let go"); !wrote || err != nil {
		t.Fatalf("wrote %t, %v", wrote, err)
	}
	if got := read().Finalizers; len(got) != 1 || got[0] != "example.com/backup" {
		t.Errorf("finalizers %v", got)
	}
}

// Credentials go with the last object that names them, of whatever kind (B070).
func TestASecretIsKeptForWhateverNamesIt(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "login", Finalizers: []string{v1alpha1.FinalizerInUse}}}
	bmc := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "b"}}
	bmc.Spec.CredentialsSecretRef.Name = "login"
	cloud := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c"}}
	cloud.Spec.CloudsSecretRef.Name = "login"
	other := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "d"}}
	other.Spec.CloudsSecretRef.Name = "another"
	for _, row := range []struct {
		name   string
		there  []client.Object
		leaver client.Object
		goes   bool
	}{
		{"the last user leaves", []client.Object{cloud, other}, cloud, true},
		{"a BMC stays", []client.Object{cloud, bmc}, cloud, false},
		{"a Cloud stays", []client.Object{cloud, bmc}, bmc, false},
		{"nobody names it", []client.Object{other}, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			api := serving(t, append(row.there, secret)...)
			secrets := Secrets{Guard: Guard{Client: api, API: api}, Namespace: "ours"}
			if _, err := secrets.LetGo(t.Context(), "login", row.leaver, "let go"); err != nil {
				t.Fatal(err)
			}
			now := &corev1.Secret{}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(secret), now); err != nil {
				t.Fatal(err)
			}
			if On(now) == row.goes {
				t.Errorf("guard on: %t", On(now))
			}
		})
	}
}

// A secret that is not there cannot be guarded, and is no error: the monitor says that it is missing.
func TestNoSecretIsNoError(t *testing.T) {
	api := serving(t)
	secrets := Secrets{Guard: Guard{Client: api, API: api}, Namespace: "ours"}
	if wrote, err := secrets.Put(t.Context(), "login", "guard"); wrote || err != nil {
		t.Errorf("put: %t, %v", wrote, err)
	}
	if wrote, err := secrets.LetGo(t.Context(), "login", nil, "let go"); wrote || err != nil {
		t.Errorf("let go: %t, %v", wrote, err)
	}
}

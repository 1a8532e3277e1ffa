// SPDX-License-Identifier: Apache-2.0

package access

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

const written = "#cloud-config\nhostname: not-to-be-quoted\n"

var offeredLabel = map[string]string{v1alpha1.LabelUserData: "true"}

func userDataSecret(namespace string, labels map[string]string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "boot", Labels: labels}, Data: data}
}

func holding(text string) map[string][]byte {
	return map[string][]byte{v1alpha1.KeyUserData: []byte(text)}
}

// claimed is a view of a VM whose claim, in the namespace team, names the secret boot.
func claimed() lifecycle.ServerView {
	v := standalone("")
	v.Server.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team", Name: "web", Identity: "web-1"}
	v.Claim = &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}}
	v.Claim.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "boot"}
	return v
}

// standalone is a view of a VM of nobody's that names that secret and those authorities; "" for no secret.
func standalone(secret string, authorities ...string) lifecycle.ServerView {
	server := &v1alpha1.Server{Spec: v1alpha1.ServerSpec{OpenStack: &v1alpha1.OpenStackServer{}}}
	if secret != "" {
		server.Spec.OpenStack.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: secret}
	}
	for _, name := range authorities {
		server.Spec.OpenStack.SSHCertificateAuthorityRefs = append(server.Spec.OpenStack.SSHCertificateAuthorityRefs, v1alpha1.LocalObjectReference{Name: name})
	}
	return lifecycle.ServerView{Server: server}
}

func seeds(t *testing.T, objects ...client.Object) Seeds {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	return Seeds{API: api, UserData: UserData{API: api, Namespace: "operators"}}
}

// What a VM is handed is what its user wrote: read where the claim is, or beside the operator, and never anywhere else (B247).
func TestAVMIsHandedWhatItsUserWrote(t *testing.T) {
	decoy := userDataSecret("team", offeredLabel, holding("#cloud-config\nhostname: decoy\n"))
	for _, row := range []struct {
		name  string
		there []client.Object
		view  lifecycle.ServerView
		want  string
	}{
		{"nothing is named", nil, standalone(""), ""},
		{"a claim's", []client.Object{userDataSecret("team", offeredLabel, holding(written))}, claimed(), written},
		{"beside the operator, without a label", []client.Object{userDataSecret("operators", nil, holding(written)), decoy}, standalone("boot"), written},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := seeds(t, row.there...).Seed(t.Context(), row.view)
			if err != nil || string(got) != row.want {
				t.Errorf("%q, %v; want %q", got, err, row.want)
			}
		})
	}
}

// The keys of the authorities come with it, and what the user wrote stays in it (B216).
func TestAuthoritiesComeWithIt(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBY8vQ0GJqg1N0vN1m5n3m4o8F2fCkKQ3rY1mF7Q9b2c"
	staff := &v1alpha1.SSHCertificateAuthority{ObjectMeta: metav1.ObjectMeta{Name: "staff"}}
	staff.Spec.PublicKeys = []string{key}
	got, err := seeds(t, staff, userDataSecret("operators", nil, holding(written))).Seed(t.Context(), standalone("boot", "staff"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"TrustedUserCAKeys", written} {
		if !bytes.Contains(got, []byte(part)) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
}

// What cannot be handed over makes no VM, says whether repeating helps, and quotes nothing (B218, B213).
func TestWhatCannotBeHandedOver(t *testing.T) {
	noise := make([]byte, 120_000)
	random := rand.New(rand.NewPCG(1, 2)) // what does not compress, the same each time
	for i := range noise {
		noise[i] = 'a' + byte(random.IntN(26))
	}
	for _, row := range []struct {
		name   string
		there  []client.Object
		view   lifecycle.ServerView
		class  provider.Class
		reason string
	}{
		{"not offered any more", []client.Object{userDataSecret("team", nil, holding(written))}, claimed(), provider.Transient, provider.ReasonUserDataInvalid},
		{"of another namespace", []client.Object{userDataSecret("operators", offeredLabel, holding(written))}, claimed(), provider.Transient, ""},
		{"no such key", []client.Object{userDataSecret("team", offeredLabel, map[string][]byte{"userdata": []byte(written)})}, claimed(), provider.Terminal, provider.ReasonUserDataInvalid},
		{"an authority that went", []client.Object{userDataSecret("operators", nil, holding(written))}, standalone("boot", "staff"), provider.Transient, provider.ReasonUserDataInvalid},
		{"too large", []client.Object{userDataSecret("team", offeredLabel, holding("#!/bin/sh\n# not-to-be-quoted\n"+string(noise)))}, claimed(), provider.Terminal, provider.ReasonUserDataTooLarge},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := seeds(t, row.there...).Seed(t.Context(), row.view)
			if got != nil || provider.ClassOf(err) != row.class {
				t.Fatalf("%d bytes, %v; want none, %s", len(got), err, row.class)
			}
			var said *provider.Error
			if errors.As(err, &said) != (row.reason != "") || (said != nil && said.Reason != row.reason) {
				t.Errorf("%v; want reason %q", err, row.reason)
			}
			if strings.Contains(err.Error(), "not-to-be-quoted") {
				t.Errorf("user data are quoted: %v", err)
			}
		})
	}
}

// Whether user data can be had is told from the metadata of the secret alone.
func TestWhetherUserDataCanBeHad(t *testing.T) {
	tenants := lifecycle.UserDataRef{Namespace: "team", Name: "boot"}
	ours := lifecycle.UserDataRef{Name: "boot"}
	for _, row := range []struct {
		name  string
		there *corev1.Secret
		ref   lifecycle.UserDataRef
		want  lifecycle.UserData
	}{
		{"labelled", userDataSecret("team", offeredLabel, nil), tenants, lifecycle.UserDataReadable},
		{"not labelled", userDataSecret("team", nil, nil), tenants, lifecycle.UserDataDenied},
		{"labelled otherwise", userDataSecret("team", map[string]string{v1alpha1.LabelUserData: "false"}, nil), tenants, lifecycle.UserDataDenied},
		{"elsewhere", userDataSecret("other", offeredLabel, nil), tenants, lifecycle.UserDataMissing},
		{"beside the operator", userDataSecret("operators", nil, nil), ours, lifecycle.UserDataReadable},
		{"not beside the operator", userDataSecret("team", offeredLabel, nil), ours, lifecycle.UserDataMissing},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := seeds(t, row.there).UserData.UserData(t.Context(), row.ref); err != nil || got != row.want {
				t.Errorf("%q, %v; want %q", got, err, row.want)
			}
		})
	}
}

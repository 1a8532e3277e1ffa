// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// The objects of the simulated cloud.
const (
	// CloudName of the Cloud object, and of its Secret.
	CloudName = "fra1"
	// ClassName of the ServerClass that makes VMs there.
	ClassName = "small"
	// AuthorityName of the SSHCertificateAuthority that those VMs trust.
	AuthorityName = "staff"
)

// startCloud starts the cloud with what was made in it before.
func (s *Stack) startCloud(port int) error {
	cloud, err := openstack.Start(openstack.Config{
		Listen: fmt.Sprintf("127.0.0.1:%d", port), TLS: true, Control: "127.0.0.1:0",
		Timing: &s.options.Tempo.Cloud, StateDir: filepath.Join(s.places.dir, "cloud"),
	})
	if err != nil {
		return err
	}
	s.Cloud = cloud
	return nil
}

// EnrollCloud registers the cloud: a Secret with its clouds.yaml and a Cloud, which are brought up to date where they exist, for the cloud
// may have another address with each start; and a class and an authority, which are left as people have changed them.
func (s *Stack) EnrollCloud(ctx context.Context) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: CloudName}}
	err := s.apply(ctx, secret, func() {
		secret.Data = map[string][]byte{v1alpha1.KeyClouds: s.Cloud.CloudsYAML()}
	})
	if err != nil {
		return err
	}
	cloud := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: CloudName}}
	err = s.apply(ctx, cloud, func() {
		cloud.Spec.CloudsSecretRef.Name = CloudName
		cloud.Spec.CloudName = openstack.CloudName
		cloud.Spec.CABundle = string(s.Cloud.CAPEM())
	})
	if err != nil {
		return err
	}
	key, err := authorityKey()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{
		&v1alpha1.SSHCertificateAuthority{
			ObjectMeta: metav1.ObjectMeta{Name: AuthorityName},
			Spec:       v1alpha1.SSHCertificateAuthoritySpec{PublicKeys: []string{key}},
		},
		&v1alpha1.ServerClass{ObjectMeta: metav1.ObjectMeta{Name: ClassName}, Spec: v1alpha1.ServerClassSpec{OpenStack: SmallVM()}},
	} {
		if err := s.Admin.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("register %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// SmallVM is what the class is of: a small VM with one port, a floating IP, and logins for those whom the authority certifies.
func SmallVM() v1alpha1.OpenStackServer {
	return v1alpha1.OpenStackServer{
		CloudRef:                    v1alpha1.LocalObjectReference{Name: CloudName},
		Flavor:                      v1alpha1.FlavorSelector{Name: "m1.small"},
		Image:                       v1alpha1.ResourceSelector{Name: "debian-12"},
		Networks:                    []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
		FloatingIP:                  &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}},
		SSHCertificateAuthorityRefs: []v1alpha1.LocalObjectReference{{Name: AuthorityName}},
	}
}

// authorityKey is the public key of an authority whose private one nobody keeps: simulated VMs let nobody log in.
func authorityKey() (string, error) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an SSH certificate authority: %w", err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("make an SSH certificate authority: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " " + AuthorityName, nil
}

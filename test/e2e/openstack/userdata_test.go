// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A key of nobody's: what it signs is trusted by VMs that run nothing.
const caKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKnSZhXzJkz3lqVqXGQPzO4aVnLr4XnCqkMz0fYxv9aB staff"

// A tenant's user data and the platform's SSH authority both reach Nova, and neither is in an object, an event or a log of requests. The
// authority cannot go while the VM was made with it.
func TestUserDataAndAuthority(t *testing.T) {
	t.Parallel()
	k := newKit(t, "userdata")
	authority := &v1alpha1.SSHCertificateAuthority{
		ObjectMeta: metav1.ObjectMeta{Name: k.name("ca")},
		Spec:       v1alpha1.SSHCertificateAuthoritySpec{PublicKeys: []string{caKey}},
	}
	k.Create(authority)
	const secret = "hunter2-of-the-tenant"
	k.LetUserDataBeRead()
	k.Create(k.UserData("install", "#cloud-config\nwrite_files:\n- path: /etc/app\n  content: "+secret+"\n"))
	class := k.class(v1alpha1.ReclaimDelete, func(s *v1alpha1.OpenStackServer) {
		s.SSHCertificateAuthorityRefs = []v1alpha1.LocalObjectReference{{Name: authority.Name}}
	})
	claim := k.Claim("", func(c *v1alpha1.ServerClaim) {
		c.Spec.ClassName = class.Name
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "install"}
	})
	k.UntilReady(claim)
	server := harness.Read(k.Kit, k.Server(claim.Spec.ServerName))
	handed, err := k.project.UserData(t.Context(), vm(server))
	k.must(err)
	for _, part := range []string{secret, "TrustedUserCAKeys", strings.Fields(caKey)[1]} {
		if !strings.Contains(string(handed), part) {
			t.Errorf("Nova was not handed %q in\n%s", part, handed)
		}
	}
	for _, event := range k.Events(server) {
		if strings.Contains(event.Note, secret) {
			t.Errorf("an event tells user data: %s", event.Note)
		}
	}
	k.expectServers("claimed", one(server, active))
	k.Delete(authority)
	k.UntilCondition(authority, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInUse)
	k.expectNothing(claim, class)
	k.UntilGone(authority)
}

// B213: user data that is too large is told before anything is made at the cloud.
func TestUserDataTooLarge(t *testing.T) {
	t.Parallel()
	k := newKit(t, "toolarge")
	k.LetUserDataBeRead()
	k.Create(k.UserData("large", "#!/bin/sh\n"+incompressible(70_000)))
	class := k.class(v1alpha1.ReclaimDelete)
	claim := k.Claim("", func(c *v1alpha1.ServerClaim) {
		c.Spec.ClassName = class.Name
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "large"}
	})
	k.Until("the Server was chosen", k.serverChosen(claim))
	server := k.Server(claim.Spec.ServerName)
	k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUserDataInvalid)
	if changes := k.proxy.Calls().Changes(); len(changes) > 0 {
		t.Errorf("before the user data was judged the cloud was asked for:\n%s", changes)
	}
	if posts := k.proxy.Calls().Of(http.MethodPost, "/ports"); len(posts) > 0 {
		t.Errorf("ports:\n%s", posts)
	}
	k.expectNothing(claim, class)
	k.expectAsked()
}

// SPDX-License-Identifier: Apache-2.0

package sshca

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// line is a new key in the form of authorized_keys.
func line(t *testing.T, public any) string {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// What sshd would not take stalls the authority before a server is made that nobody could log in to. The schema has seen the form alone:
// that the key behind it is one, it cannot see.
func TestAnAuthorityIsJudgedByItsKeys(t *testing.T) {
	good, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name       string
		keys       []string
		principals []v1alpha1.LoginPrincipals
		wants      string // in the message; "" for no objection
	}{
		{"a key", []string{line(t, good) + " comment"}, nil, ""},
		{"with principals", []string{line(t, good)}, []v1alpha1.LoginPrincipals{{Login: "root", Principals: []string{"admins"}}}, ""},
		{"no key behind the form", []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhZA=="}, nil, "public key 1"},
		{"one of two is weak", []string{line(t, good), line(t, &weak.PublicKey)}, nil, "public key 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			authority := &v1alpha1.SSHCertificateAuthority{}
			authority.Name = "staff"
			authority.Spec.PublicKeys, authority.Spec.Principals = row.keys, row.principals
			gates := Describe(authority)
			if row.wants == "" {
				if len(gates) > 0 {
					t.Errorf("%+v", gates)
				}
				return
			}
			if len(gates) != 1 || gates[0].Level != lifecycle.Stalled || gates[0].Reason != v1alpha1.ReasonAuthorityInvalid || !strings.Contains(gates[0].Message, row.wants) {
				t.Errorf("%+v; want one that stalls and says %q", gates, row.wants)
			}
		})
	}
}

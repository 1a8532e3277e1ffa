// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"crypto/dsa" //nolint:staticcheck // what must be refused
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func authorizedRSA(t *testing.T, bits int) string {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0") // what must be refused has to be made
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return authorized(t, &key.PublicKey)
}

func authorized(t *testing.T, key any) string {
	t.Helper()
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(public))
}

// certificate is a certificate in the form of authorized_keys: signed by an authority, and none.
func certificate(t *testing.T) string {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(authorizedKey(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(&ssh.Certificate{Key: key, SignatureKey: key, Signature: &ssh.Signature{Format: key.Type()}}))
}

func dsaKey(t *testing.T) string {
	t.Helper()
	var parameters dsa.Parameters
	if err := dsa.GenerateParameters(&parameters, rand.Reader, dsa.L1024N160); err != nil {
		t.Fatal(err)
	}
	key := dsa.PrivateKey{PublicKey: dsa.PublicKey{Parameters: parameters}}
	if err := dsa.GenerateKey(&key, rand.Reader); err != nil {
		t.Fatal(err)
	}
	return authorized(t, &key.PublicKey)
}

// TestAuthoritiesThatSSHDWouldNotTrust are refused before a server is made that nobody can log in to; the error names the authority and
// what is wrong with it.
func TestAuthoritiesThatSSHDWouldNotTrust(t *testing.T) {
	good := authorizedKey(t, 1)
	key := func(lines ...string) []Authority { return []Authority{{Name: "staff", PublicKeys: lines}} }
	principals := func(login string, principals ...string) []Authority {
		return []Authority{{Name: "staff", PublicKeys: []string{good}, Principals: map[string][]string{login: principals}}}
	}
	for name, row := range map[string]struct {
		authorities []Authority
		want        Reason
		says        string
	}{
		"good":                     {key(good), "", ""},
		"good, with comment":       {key("  " + good + " a comment\n"), "", ""},
		"RSA":                      {key(authorizedRSA(t, 2048)), "", ""},
		"no key":                   {key(), ReasonAuthorityInvalid, `"staff" has no public key`},
		"empty key":                {key(""), ReasonAuthorityInvalid, "authorized_keys"},
		"a word":                   {key("ssh-ed25519"), ReasonAuthorityInvalid, "authorized_keys"},
		"a cut key":                {key(good[:40]), ReasonAuthorityInvalid, "authorized_keys"},
		"the second is bad":        {key(good, "x"), ReasonAuthorityInvalid, `public key 2 of authority "staff"`},
		"options":                  {key("cert-authority " + good), ReasonAuthorityInvalid, "options"},
		"two lines":                {key(good + "\n" + authorizedKey(t, 2)), ReasonAuthorityInvalid, "more than one line"},
		"a line hidden behind one": {key("# comment\n" + good), ReasonAuthorityInvalid, "more than one line"},
		"a certificate":            {key(certificate(t)), ReasonAuthorityInvalid, "cert-v01"},
		"DSA":                      {key(dsaKey(t)), ReasonAuthorityInvalid, "ssh-dss"},
		"short RSA":                {key(authorizedRSA(t, 1024)), ReasonAuthorityInvalid, "2048"},
		"no name":                  {[]Authority{{PublicKeys: []string{good}}}, ReasonAuthorityInvalid, "name"},
		"a name of two lines":      {[]Authority{{Name: "a\n" + good, PublicKeys: []string{good}}}, ReasonAuthorityInvalid, "name"},
		"principals":               {principals("debian", "staff", "user@example.org", "a:b,c"), "", ""},
		"login in a directory":     {principals("../root", "staff"), ReasonAuthorityInvalid, "no name of a user"},
		"login of no letters":      {principals("", "staff"), ReasonAuthorityInvalid, "no name of a user"},
		"principal with a comment": {principals("debian", "staff#2"), ReasonAuthorityInvalid, "staff#2"},
		"principal with options":   {principals("debian", `command="x" staff`), ReasonAuthorityInvalid, "read it as another"},
		"principal of two lines":   {principals("debian", "a\nb"), ReasonAuthorityInvalid, "read it as another"},
		"empty principal":          {principals("debian", ""), ReasonAuthorityInvalid, "read it as another"},
		"with and without principals": {
			append(principals("debian", "staff"), Authority{Name: "other", PublicKeys: []string{authorizedKey(t, 2)}}), ReasonPrincipalsMixed, `"other" has none`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Render([]byte(script), row.authorities)
			if reason := reasonOf(t, err); reason != row.want {
				t.Fatalf("%q, want %q: %v", reason, row.want, err)
			}
			if err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want %q", err, row.says)
			}
		})
	}
}

// TestEachKeyOnce: an authority that is named twice, or shares a key with another, is trusted once.
func TestEachKeyOnce(t *testing.T) {
	key := authorizedKey(t, 1)
	trusted, err := trust([]Authority{{Name: "b", PublicKeys: []string{key + " x", key}}, {Name: "a", PublicKeys: []string{key}}})
	if err != nil || len(trusted.keys) != 1 || trusted.keys[0] != key+" a" {
		t.Errorf("%q, %v", trusted.keys, err)
	}
}

// TestAuthoritiesAreLeftAlone: the caller's slices and maps are not sorted or written.
func TestAuthoritiesAreLeftAlone(t *testing.T) {
	given := withPrincipals(t)
	rendered(t, script, given)
	if given[0].Name != "staff" || given[0].Principals["debian"][0] != "staff" || len(given[0].Principals["debian"]) != 2 {
		t.Errorf("changed: %+v", given)
	}
}

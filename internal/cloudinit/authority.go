// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"crypto/rsa"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// Authority is an SSH certificate authority whose user certificates a server accepts.
type Authority struct {
	// Name of the authority, for people: it stands beside its keys and in errors.
	Name string
	// PublicKeys in the form of authorized_keys, one key each, without options; several while one replaces another.
	PublicKeys []string
	// Principals by login: a certificate logs in as a user when one of the user's principals is in it, and nobody logs in by
	// certificate as a user who has none. Empty: sshd's own rule for every user, a principal equal to the login. sshd knows no
	// principals by authority: the principals of all authorities of a server hold for each of them.
	Principals map[string][]string
}

// authorities are what the authorities of one server come to, checked and in an order of their own.
type authorities struct {
	// keys are lines of sshd's TrustedUserCAKeys, each key once.
	keys []string
	// principals by login, each once and sorted; nil for sshd's own rule.
	principals map[string][]string
}

const (
	maxName      = 253
	maxPrincipal = 256
	minRSABits   = 2048
)

// login is a user's name, and here the name of a file too.
var login = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)

// trust checks authorities and puts them together. The order in which they are given makes no difference.
func trust(given []Authority) (authorities, *Error) {
	sorted := slices.Clone(given)
	slices.SortStableFunc(sorted, func(a, b Authority) int { return strings.Compare(a.Name, b.Name) })
	var trusted authorities
	known := map[string]bool{}
	for _, authority := range sorted {
		if err := authority.check(); err != nil {
			return authorities{}, err
		}
		for i, line := range authority.PublicKeys {
			key, err := publicKey(line)
			if err != nil {
				return authorities{}, errorf(ReasonAuthorityInvalid, "public key %d of authority %q %s", i+1, authority.Name, err.Message).because(err.Err)
			}
			if !known[key] {
				known[key] = true
				trusted.keys = append(trusted.keys, key+" "+authority.Name)
			}
		}
		if err := trusted.admit(authority); err != nil {
			return authorities{}, err
		}
	}
	for name, principals := range trusted.principals {
		slices.Sort(principals)
		trusted.principals[name] = slices.Compact(principals)
	}
	return trusted, mixed(sorted)
}

func (a Authority) check() *Error {
	if a.Name == "" || len(a.Name) > maxName || strings.ContainsFunc(a.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errorf(ReasonAuthorityInvalid, "the name of an authority is empty, longer than %d bytes or not printable", maxName)
	}
	if len(a.PublicKeys) == 0 {
		return errorf(ReasonAuthorityInvalid, "authority %q has no public key", a.Name)
	}
	return nil
}

// publicKey is a key in the one form in which sshd reads it: type and key, without comment. The message of the error continues a
// sentence that names the key.
func publicKey(line string) (string, *Error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return "", errorf(ReasonAuthorityInvalid, "is not in the form of authorized_keys").because(err)
	case len(options) > 0:
		return "", errorf(ReasonAuthorityInvalid, "has options: sshd would not trust it")
	case len(bytes.TrimSpace(rest)) > 0 || strings.Contains(strings.TrimSpace(line), "\n"):
		return "", errorf(ReasonAuthorityInvalid, "is more than one line")
	}
	if weak := unfit(key); weak != "" {
		return "", errorf(ReasonAuthorityInvalid, "%s", weak)
	}
	return string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(key))), nil
}

// unfit says why a key cannot be an authority's; "" when it can.
func unfit(key ssh.PublicKey) string {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256:
		return ""
	case ssh.KeyAlgoRSA:
		if wrapped, ok := key.(ssh.CryptoPublicKey); ok {
			if public, ok := wrapped.CryptoPublicKey().(*rsa.PublicKey); ok && public.N.BitLen() >= minRSABits {
				return ""
			}
		}
		return "is an RSA key of fewer than 2048 bits"
	default:
		return "is of a type that cannot sign certificates for sshd: " + key.Type()
	}
}

// admit adds the principals of an authority.
func (t *authorities) admit(authority Authority) *Error {
	for name, principals := range authority.Principals {
		if !login.MatchString(name) {
			return errorf(ReasonAuthorityInvalid, "authority %q has principals for %q, which is no name of a user", authority.Name, name)
		}
		for _, principal := range principals {
			if !isPrincipal(principal) {
				return errorf(ReasonAuthorityInvalid, "authority %q has principal %q for %q: sshd would read it as another", authority.Name, principal, name)
			}
		}
		if t.principals == nil {
			t.principals = map[string][]string{}
		}
		t.principals[name] = append(t.principals[name], principals...)
	}
	return nil
}

// isPrincipal tells whether sshd reads a line of a principals file as this principal: white space parts options from a principal, and
// what follows a # is a comment, so that a "staff#2" would let in "staff".
func isPrincipal(principal string) bool {
	return principal != "" && len(principal) <= maxPrincipal &&
		!strings.ContainsFunc(principal, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' })
}

// mixed refuses authorities with principals beside ones without: sshd has one rule for all of them, and either the first would let in
// more than it says or the second would let in nobody.
func mixed(given []Authority) *Error {
	with := slices.IndexFunc(given, func(a Authority) bool { return len(a.Principals) > 0 })
	without := slices.IndexFunc(given, func(a Authority) bool { return len(a.Principals) == 0 })
	if with < 0 || without < 0 {
		return nil
	}
	return errorf(ReasonPrincipalsMixed, "authority %q has principals and %q has none: a server takes either kind, not both",
		given[with].Name, given[without].Name)
}

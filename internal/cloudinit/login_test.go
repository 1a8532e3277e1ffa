// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"os/user"
	"testing"

	"golang.org/x/crypto/ssh"
)

// signer is the private half of authorizedKey.
func signer(t *testing.T, number byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// certified is a user's key with a certificate of an authority, for principals.
func certified(t *testing.T, authority byte, principals ...string) ssh.Signer {
	t.Helper()
	key := signer(t, 50)
	certificate := &ssh.Certificate{
		Key: key.PublicKey(), CertType: ssh.UserCert, KeyId: "test", ValidPrincipals: principals, ValidBefore: ssh.CertTimeInfinity,
	}
	if err := certificate.SignCert(rand.Reader, signer(t, authority)); err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepts tells whether the machine's sshd lets a login in: the real one, with one connection as its input and output.
func (m *machine) accepts(login string, key ssh.Signer) bool {
	m.t.Helper()
	listener, err := new(net.ListenConfig).Listen(m.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := new(net.Dialer).DialContext(m.t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	served, err := listener.Accept()
	if err != nil {
		m.t.Fatal(err)
	}
	wire, err := served.(*net.TCPConn).File() //nolint:forcetypeassert // of a tcp listener
	_ = served.Close()
	if err != nil {
		m.t.Fatal(err)
	}
	daemon := exec.CommandContext(m.t.Context(), m.path("/bin/sshd"), "-i", "-e", "-f", m.path("/etc/ssh/sshd_config"))
	daemon.Stdin, daemon.Stdout = wire, wire
	if err := daemon.Start(); err != nil {
		m.t.Fatal(err)
	}
	_ = wire.Close()
	connection, _, _, err := ssh.NewClientConn(client, "machine", &ssh.ClientConfig{
		User: login, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.FixedHostKey(signer(m.t, 99).PublicKey()),
	})
	if err == nil {
		_ = connection.Close()
	}
	_ = client.Close()
	_ = daemon.Wait() // its verdict is the client's
	return err == nil
}

// loginHere is whom an sshd that is not root's can let in: whoever runs it.
func loginHere(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		return "daemon"
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return me.Username
}

// TestCertificatesLogIn: certificates of the authorities log in, by the principals that are given or else by sshd's own rule, and nothing
// else does. The machines are set up by our files and our script alone.
func TestCertificatesLogIn(t *testing.T) {
	me := loginHere(t)
	key := func(number byte) []string { return []string{authorizedKey(t, number)} }
	none := []Authority{{Name: "staff", PublicKeys: append(key(1), key(2)...)}}
	some := []Authority{{Name: "staff", PublicKeys: key(1), Principals: map[string][]string{me: {"ops", "dba"}, "other": {"web"}}}}
	others := []Authority{{Name: "staff", PublicKeys: key(1), Principals: map[string][]string{"other": {"web", me}}}}
	for name, row := range map[string]struct {
		authorities []Authority
		key         ssh.Signer
		want        bool
	}{
		"the login's name":                     {none, certified(t, 1, me), true},
		"the second key":                       {none, certified(t, 2, "x", me), true},
		"another name":                         {none, certified(t, 1, "ops"), false},
		"an unknown authority":                 {none, certified(t, 3, me), false},
		"no certificate":                       {none, signer(t, 50), false},
		"the authority itself":                 {none, signer(t, 1), false},
		"a principal":                          {some, certified(t, 1, "dba"), true},
		"one principal of several":             {some, certified(t, 1, "x", "ops"), true},
		"another login's principal":            {some, certified(t, 1, "web"), false},
		"the login's name is no principal now": {some, certified(t, 1, me), false},
		"a login without principals":           {others, certified(t, 1, me), false},
	} {
		for config, text := range map[string]string{"included": includeLine, "not included": ""} {
			t.Run(name+", "+config, func(t *testing.T) {
				t.Parallel()
				// Modes are those of the directories of a test, not of a machine.
				m := newMachine(t, text+hostKeyLine+"UsePAM no\nStrictModes no\nPidFile none\n", row.authorities)
				m.booted()
				if got := m.accepts(me, row.key); got != row.want {
					t.Errorf("accepted: %t, want %t", got, row.want)
				}
			})
		}
	}
}

// TestPrincipalsThatSSHDCuts is why isPrincipal is strict: of a line of principals sshd reads other things than stand there.
func TestPrincipalsThatSSHDCuts(t *testing.T) {
	me := loginHere(t)
	for line, admitted := range map[string]string{"staff#2": "staff", `environment="A=b" ops`: "ops"} {
		m := newMachine(t, includeLine+hostKeyLine+"UsePAM no\nStrictModes no\nPidFile none\n",
			[]Authority{{Name: "staff", PublicKeys: []string{authorizedKey(t, 1)}, Principals: map[string][]string{me: {"web"}}}})
		m.write(principalsDir+me, line+"\n")
		m.booted()
		if isPrincipal(line) || !m.accepts(me, certified(t, 1, admitted)) {
			t.Errorf("%q admits %q no more: isPrincipal need not refuse it", line, admitted)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// unprivileged runs sshd where the tests run as root: as root it wants a user and a directory of its own, as somebody else it serves that
// one. It is the user daemon: every system has it, and systemd does not say of it, as of nobody, that it is locked.
const unprivileged = 1

// shared holds sshd for all tests, so that everybody can run it wherever the checkout is.
var shared = struct {
	sync.Once
	directory, command string
	err                error
}{}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		directory, err := os.MkdirTemp("", "sshd-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(directory) }()
		shared.directory = directory
		return m.Run()
	}())
}

// sshd is the command that runs it.
func sshd(t *testing.T) string {
	t.Helper()
	debian := oracles(t)
	shared.Do(func() {
		copied := exec.CommandContext(t.Context(), "/bin/sh", "-ec", `chmod 755 "$2"; cp "$1"/usr/sbin/sshd "$1"/usr/lib/*/libwrap.so.* "$2"`, "sh", debian, shared.directory)
		if output, err := copied.CombinedOutput(); err != nil {
			shared.err = fmt.Errorf("%w: %s", err, output)
		}
		shared.command = "env LD_LIBRARY_PATH=" + shared.directory + " " + shared.directory + "/sshd"
		if os.Getuid() == 0 {
			shared.command = fmt.Sprintf("setpriv --reuid=%d --regid=%d --clear-groups %s", unprivileged, unprivileged, shared.command)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.command
}

// machine is the part of one that our files and our script touch: a directory that stands for its root, Debian's sshd, and a systemctl
// that writes down what it is asked.
type machine struct {
	t     *testing.T
	root  string
	shell []string
}

// newMachine has our files, as cloud-init or Ignition wrote them, and an sshd_config unless it is "". In every text, /etc/ssh is the
// machine's.
func newMachine(t *testing.T, config string, authorities []Authority) *machine {
	t.Helper()
	root := t.TempDir()
	for _, directory := range []string{root, filepath.Dir(root)} { // sshd may run as somebody else
		if err := os.Chmod(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m := &machine{t: t, root: root, shell: []string{"/bin/sh"}}
	trusted, invalid := trust(authorities)
	if invalid != nil {
		t.Fatal(invalid)
	}
	for _, f := range trusted.files() {
		m.write(f.Path, f.Content)
	}
	m.write(scriptPath, string(trustScript))
	m.write("/etc/ssh/host_key", hostKey(t))
	if config != "" {
		m.write("/etc/ssh/sshd_config", config)
	}
	m.program("sshd", "exec "+sshd(t)+` "$@"`)
	m.program("systemctl", "echo \"$*\" >>"+m.path("/calls")+"\ncase $1 in is-active) [ -e "+m.path("/active")+`/"$3" ] ;; esac`)
	return m
}

func hostKey(t *testing.T) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{99}, ed25519.SeedSize)), "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

func (m *machine) here(text string) string {
	return strings.NewReplacer("/etc/ssh", m.path("/etc/ssh"), "/run/", m.path("/run")+"/").Replace(text)
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	path := m.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, "host_key") {
		mode = 0o600
	}
	if err := os.WriteFile(path, []byte(m.here(content)), mode); err != nil {
		m.t.Fatal(err)
	}
	if mode == 0o600 && os.Getuid() == 0 {
		if err := os.Chown(path, unprivileged, unprivileged); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *machine) program(name, body string) {
	m.t.Helper()
	m.write("/bin/"+name, "")
	path := m.path("/bin/" + name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// read gives a file with the machine's own paths; "" where there is none.
func (m *machine) read(name string) string {
	m.t.Helper()
	content, err := os.ReadFile(m.path(name))
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), m.root, "")
}

// boot runs our script.
func (m *machine) boot() (string, error) {
	m.t.Helper()
	command := exec.CommandContext(m.t.Context(), m.shell[0], append(m.shell[1:], m.path(scriptPath))...)
	command.Env = []string{"PATH=" + m.path("/bin") + ":/usr/bin:/bin"}
	output, err := command.CombinedOutput()
	return string(output), err
}

// booted runs our script, which must succeed without a word.
func (m *machine) booted() {
	m.t.Helper()
	if output, err := m.boot(); err != nil || output != "" {
		m.t.Fatalf("%v: %s", err, output)
	}
}

// effective is what sshd makes of its configuration for a login, by keyword.
func (m *machine) effective(login string) map[string]string {
	m.t.Helper()
	command := exec.CommandContext(m.t.Context(), m.path("/bin/sshd"), "-T", "-f", m.path("/etc/ssh/sshd_config"), "-h", m.path("/etc/ssh/host_key"),
		"-C", "user="+login+",host=x,addr=127.0.0.1,laddr=127.0.0.1,lport=22")
	output, err := command.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v: %s", err, output)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(output)) {
		keyword, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[keyword] = strings.ReplaceAll(value, m.root, "")
	}
	return values
}

// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	hostKeyLine = "HostKey /etc/ssh/host_key\n"
	includeLine = "Include /etc/ssh/sshd_config.d/*.conf\n"
)

// shells that distributions have as /bin/sh.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{
		"dash":    {"/bin/sh"},
		"bash":    {"/bin/bash", "--posix"},
		"busybox": {filepath.Join(oracles(t), "bin/busybox"), "sh"},
	}
}

// TestSSHDTrustsTheKeys: whatever the distribution's configuration is like, sshd itself says that it takes our keys and principals, what
// the user or image trusted for every connection is in them, and the rest of the configuration is what it was.
func TestSSHDTrustsTheKeys(t *testing.T) {
	theirs := authorizedKey(t, 7)
	for name, row := range map[string]struct {
		config, dropin string
		// edited tells that sshd's own configuration needs our lines; adopted, that their authority is in our keys.
		edited, adopted bool
	}{
		"drop-ins are included":             {config: includeLine + hostKeyLine + "UsePAM no\n"},
		"included after other things":       {config: "# a comment\n\nPort 2222\n  include /etc/ssh/sshd_config.d/*.conf\n" + hostKeyLine},
		"no drop-ins":                       {config: hostKeyLine + "UsePAM no", edited: true},
		"another include":                   {config: "Include /etc/ssh/other/*.conf\n" + hostKeyLine, edited: true},
		"include in a comment":              {config: "#" + includeLine + hostKeyLine, edited: true},
		"include for some connections only": {config: hostKeyLine + "Match User nobody\n\t" + includeLine, edited: true},
		"an authority before the include":   {config: "TrustedUserCAKeys /etc/ssh/theirs.pub\n" + includeLine + hostKeyLine, edited: true, adopted: true},
		"an authority after the include":    {config: includeLine + hostKeyLine + "trustedusercakeys=\"/etc/ssh/theirs.pub\"\n", adopted: true},
		"an authority in a drop-in":         {config: includeLine + hostKeyLine, dropin: "TrustedUserCAKeys /etc/ssh/theirs.pub\n", adopted: true},
		"an authority of some connections":  {config: includeLine + hostKeyLine + "Match User nobody\nTrustedUserCAKeys /etc/ssh/theirs.pub\n"},
		"an authority that is not there":    {config: includeLine + hostKeyLine + "TrustedUserCAKeys /etc/ssh/missing.pub\n"},
		"no authority":                      {config: includeLine + hostKeyLine + "TrustedUserCAKeys none\n"},
		"their own principals":              {config: "AuthorizedPrincipalsFile /etc/ssh/theirs/%u\n" + includeLine + hostKeyLine, edited: true},
	} {
		for shell, command := range shells(t) {
			t.Run(name+", "+shell, func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, row.config, withPrincipals(t))
				m.shell = command
				m.write("/etc/ssh/theirs.pub", "# theirs\n"+theirs)
				if row.dropin != "" {
					m.write("/etc/ssh/sshd_config.d/10-theirs.conf", row.dropin)
				}
				ours := m.read(keysPath)
				m.booted()
				checkTrust(t, m)
				config := m.read("/etc/ssh/sshd_config")
				if edited := strings.HasPrefix(config, "# BEGIN holdfast\n"); edited != row.edited || !strings.HasSuffix(config, row.config) {
					t.Errorf("edited %t, want %t:\n%s", edited, row.edited, config)
				}
				keys := m.read(keysPath)
				if adopted := strings.Contains(keys, theirs); adopted != row.adopted || !strings.HasPrefix(keys, ours) {
					t.Errorf("adopted %t, want %t:\n%s", adopted, row.adopted, keys)
				}
				m.booted()
				if m.read("/etc/ssh/sshd_config") != config || m.read(keysPath) != keys {
					t.Errorf("not the same after the next boot:\n%s\n%s", m.read("/etc/ssh/sshd_config"), m.read(keysPath))
				}
				if left, err := filepath.Glob(m.path("/etc/ssh/sshd_config?*")); err != nil || len(left) != 1 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}

func checkTrust(t *testing.T, m *machine) {
	t.Helper()
	got := m.effective("debian")
	if got["trustedusercakeys"] != keysPath || got["authorizedprincipalsfile"] != principalsDir+"%u" {
		t.Errorf("sshd trusts %q with principals of %q", got["trustedusercakeys"], got["authorizedprincipalsfile"])
	}
}

// TestOurLinesGoWhenTheyAreNotNeeded: a distribution that learns to include drop-ins is asked again at the next boot.
func TestOurLinesGoWhenTheyAreNotNeeded(t *testing.T) {
	m := newMachine(t, hostKeyLine, withPrincipals(t))
	m.booted()
	edited := m.read("/etc/ssh/sshd_config")
	m.write("/etc/ssh/sshd_config", edited+includeLine)
	m.booted()
	if got := m.read("/etc/ssh/sshd_config"); got != hostKeyLine+includeLine {
		t.Errorf("got:\n%s", got)
	}
	checkTrust(t, m)
}

// TestConfigurationKeepsItsMode: and a link to one that cannot be written becomes a file.
func TestConfigurationKeepsItsMode(t *testing.T) {
	m := newMachine(t, "", withPrincipals(t))
	m.write("/usr/share/ssh/sshd_config", hostKeyLine)
	if err := os.Chmod(m.path("/usr/share/ssh/sshd_config"), 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.path("/usr/share/ssh/sshd_config"), m.path("/etc/ssh/sshd_config")); err != nil {
		t.Fatal(err)
	}
	m.booted()
	checkTrust(t, m)
	info, err := os.Lstat(m.path("/etc/ssh/sshd_config"))
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o604 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if m.read("/usr/share/ssh/sshd_config") != hostKeyLine {
		t.Error("the distribution's own is changed")
	}
}

// TestNoConfigurationOfItsOwn: the distribution's reads the drop-ins; none is made that would hide it.
func TestNoConfigurationOfItsOwn(t *testing.T) {
	m := newMachine(t, "", staff(t))
	m.booted()
	if m.read("/etc/ssh/sshd_config") != "" {
		t.Error("a configuration is made")
	}
}

// TestWhatSSHDRefusesIsNotInstalled: a machine whose sshd does not start is lost to everybody. The script fails, which cloud-init and
// systemd report.
func TestWhatSSHDRefusesIsNotInstalled(t *testing.T) {
	for name, content := range map[string]string{"refused": "NoSuchKeyword yes\n", "missing": ""} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, hostKeyLine, staff(t))
			m.write(dropinPath, content)
			output, err := m.boot()
			if err == nil || !strings.Contains(output, "holdfast:") {
				t.Errorf("%v: %s", err, output)
			}
			if got := m.read("/etc/ssh/sshd_config"); got != hostKeyLine {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

// TestSSHDIsReloadedIfItRuns, by the name that the distribution gives it, and never started.
func TestSSHDIsReloadedIfItRuns(t *testing.T) {
	for name, row := range map[string]struct{ unit, want string }{
		"Debian":   {"ssh.service", "is-active --quiet ssh.service\nreload ssh.service\n"},
		"Fedora":   {"sshd.service", "is-active --quiet ssh.service\nis-active --quiet sshd.service\nreload sshd.service\n"},
		"not yet":  {"", "is-active --quiet ssh.service\nis-active --quiet sshd.service\n"},
		"no units": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, includeLine+hostKeyLine, staff(t))
			if row.want != "" {
				m.write("/run/systemd/system/x", "")
			}
			if row.unit != "" {
				m.write("/active/"+row.unit, "")
			}
			m.booted()
			if got := m.read("/calls"); got != row.want {
				t.Errorf("systemctl was asked:\n%s", got)
			}
		})
	}
}

// TestSSHDIsReloadedWithoutSystemd: by the signal that it documents for that.
func TestSSHDIsReloadedWithoutSystemd(t *testing.T) {
	m := newMachine(t, includeLine+hostKeyLine, staff(t))
	daemon := exec.CommandContext(t.Context(), "env", "--default-signal=HUP", "sleep", "600") // under nohup too
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	m.write("/run/sshd.pid", strconv.Itoa(daemon.Process.Pid)+"\n")
	m.booted()
	if err := daemon.Wait(); err == nil || err.Error() != "signal: hangup" {
		t.Errorf("got %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// launcher writes small scripts that envtest starts in place of the binaries.
//
// envtest gives no access to the processes it starts, and leaves them running
// when its own process is killed: an orphaned etcd would then hold the state
// directory against the next run. The script records the process id and asks the
// kernel to end the process with its parent.
type launcher struct {
	dir string
	// deathSignal is the path of setpriv (util-linux), empty where there is none.
	deathSignal string
}

func newLauncher(dir string) launcher {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		setpriv = ""
	}
	return launcher{dir: dir, deathSignal: setpriv}
}

// wrap returns the path of a script that becomes the binary.
func (l launcher) wrap(binary string) (string, error) {
	command := shellQuote(binary)
	if l.deathSignal != "" {
		command = shellQuote(l.deathSignal) + " --pdeathsig KILL -- " + command
	}
	name := filepath.Base(binary)
	script := fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec %s \"$@\"\n", shellQuote(l.pidFile(name)), command)
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a script has to be executable
		return "", fmt.Errorf("launcher of %s: %w", name, err)
	}
	return path, nil
}

func (l launcher) pidFile(name string) string {
	return filepath.Join(l.dir, name+".pid")
}

// signal sends a signal to a process that was started through wrap.
func (l launcher) signal(name string, signal syscall.Signal) error {
	content, err := os.ReadFile(l.pidFile(name))
	if err != nil {
		return fmt.Errorf("process id of %s: %w", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return fmt.Errorf("process id of %s: %w", name, err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("signal %s to %s: %w", signal, name, err)
	}
	return nil
}

func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// lockDir takes an exclusive lock on a directory for as long as the returned file
// is open; the kernel releases it when the process ends, however it ends.
func lockDir(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the state directory: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("state directory %s is in use by another process: %w", dir, err)
	}
	return file, nil
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// idleManagers are managers whose program tells how it was started, and waits.
func idleManagers(t *testing.T) *managers {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho started \"$@\"\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &managers{options: Options{Binary: program, Dir: dir}, processes: map[string]*process{}}
	t.Cleanup(func() { _ = m.close() })
	return m
}

// untilStarted waits until a manager's log tells of so many starts, and returns them.
func untilStarted(t *testing.T, m *managers, name string, times int) []string {
	t.Helper()
	var lines []string
	for deadline := time.Now().Add(requestDeadline); time.Now().Before(deadline) && pause(t.Context(), retryPause/10); {
		content, err := os.ReadFile(m.logOf(name))
		if err != nil {
			continue
		}
		lines = nil
		for line := range strings.Lines(string(content)) {
			if strings.HasPrefix(line, "started ") {
				lines = append(lines, line)
			}
		}
		if len(lines) >= times {
			break
		}
	}
	return lines
}

// Whoever would start a manager at the same time, one starts it.
func TestThereIsOneProcessOfAName(t *testing.T) {
	m := idleManagers(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := m.start("manager-0", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	untilStarted(t, m, "manager-0", 1)
	first := m.running("manager-0")
	if err := m.end("manager-0", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := m.start("manager-0", nil); err != nil {
		t.Fatal(err)
	}
	second := m.running("manager-0")
	if err := m.start("manager-0", first); err != nil || m.running("manager-0") != second || second == first {
		t.Errorf("whoever waited for the first process replaced the second: %v", err)
	}
	if got := untilStarted(t, m, "manager-0", 2); len(got) != 2 {
		t.Errorf("started: %q", got)
	}
}

// A process that ends by itself is started again in its own place.
func TestAProcessThatEndsIsStartedAgain(t *testing.T) {
	m := idleManagers(t)
	if err := m.start("manager-0", nil); err != nil {
		t.Fatal(err)
	}
	untilStarted(t, m, "manager-0", 1)
	if err := m.running("manager-0").command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := untilStarted(t, m, "manager-0", 2); len(got) != 2 || m.endedByThemselves() != 1 {
		t.Errorf("started: %q, ended by themselves: %d", got, m.endedByThemselves())
	}
}

// No manager starts over a cluster that is being restored, and all that start after it are told.
func TestNoManagerStartsBeforeAllAreToldOfARestore(t *testing.T) {
	m := idleManagers(t)
	if err := m.startAll(""); err != nil {
		t.Fatal(err)
	}
	untilStarted(t, m, "manager-0", 1)
	untilStarted(t, m, "manager-1", 1)
	if err := m.endAll(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := m.start("manager-0", nil); err != nil || m.running("manager-0") != nil {
		t.Fatalf("a manager runs while all are held: %v", err)
	}
	if err := m.startAll("restore-1"); err != nil {
		t.Fatal(err)
	}
	got := untilStarted(t, m, "manager-0", 2)
	if len(got) != 2 || strings.Contains(got[0], "--after-restore") || !strings.Contains(got[1], "--after-restore=restore-1") {
		t.Errorf("started: %q", got)
	}
}

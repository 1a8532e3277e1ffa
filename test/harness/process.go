// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/config"
)

// Process is a manager in a process of its own, as it runs anywhere.
type Process struct {
	t        *testing.T
	command  *exec.Cmd
	log      *os.File
	metrics  string
	profiles string
	stopped  bool
}

// StartProcess builds the binary and runs `holdfast manager` with these flags and the name and rights of the operator, without leader
// election, until the test ends or it is stopped before. HARNESS_LOG names a file that gets its log. It serves profiles, see
// [Process.Profile].
func (k *Kit) StartProcess(flags ...string) *Process {
	k.T.Helper()
	p := &Process{t: k.T, metrics: freeAddress(k.T), profiles: freeAddress(k.T)}
	flags = append([]string{
		"manager", "--leader-elect=false", "--metrics-bind-address=" + p.metrics, "--health-probe-bind-address=0", "--pprof-address=" + p.profiles,
	}, flags...)
	program, flags := withParent(k.binary(), flags)
	p.command = exec.CommandContext(context.WithoutCancel(k.T.Context()), program, flags...)
	p.command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig())
	var err error
	if p.log, err = openLog(filepath.Join(k.T.TempDir(), "manager.log")); err != nil {
		k.T.Fatal(err)
	}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		k.T.Fatal(errors.Join(err, p.log.Close()))
	}
	k.T.Cleanup(p.Stop)
	return p
}

// withParent has a program end with the test binary that starts it, also where that is killed; setpriv (util-linux) does so where there is one,
// and becomes the program.
func withParent(program string, flags []string) (string, []string) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return program, flags
	}
	return setpriv, slices.Concat([]string{"--pdeathsig", "KILL", "--", program}, flags)
}

func openLog(otherwise string) (*os.File, error) {
	path := os.Getenv("HARNESS_LOG")
	if path == "" {
		path = otherwise
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
}

// stopWithin is how long a manager may take to end: longer than its own bounds for logging out and for shutting its servers down.
const stopWithin = 2 * time.Minute

// Stop asks the process to end, as a kubelet does, and waits until it has. The second time it does nothing.
func (p *Process) Stop() {
	if p.stopped {
		return
	}
	p.stopped = true
	// A manager that does not end is killed; Wait then tells that it was.
	last := time.AfterFunc(stopWithin, func() { _ = p.command.Process.Kill() })
	err := errors.Join(p.command.Process.Signal(syscall.SIGTERM), p.command.Wait())
	last.Stop()
	switch {
	case err != nil:
		p.t.Errorf("manager: %v; the end of its log:\n%s", err, endOf(p.log))
	case p.t.Failed():
		p.t.Logf("the end of the manager's log:\n%s", endOf(p.log))
	}
	if err := p.log.Close(); err != nil {
		p.t.Error(err)
	}
}

func endOf(log *os.File) string {
	const most = 4000
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err.Error()
	}
	content, _ := io.ReadAll(io.NewSectionReader(log, max(0, size-most), most))
	return string(content)
}

// binary builds the operator once for a suite.
func (k *Kit) binary() string {
	k.T.Helper()
	k.built.Do(func() {
		path := filepath.Join(k.dir, "holdfast")
		build := exec.CommandContext(k.T.Context(), "go", "build", "-o", path, "github.com/holdfast-dev/holdfast/cmd/holdfast")
		if output, err := build.CombinedOutput(); err != nil {
			k.T.Fatalf("build: %v: %s", err, output)
		}
		k.program = path
	})
	if k.program == "" {
		k.T.Fatal("the operator does not build")
	}
	return k.program
}

// Command is `holdfast` with these arguments, as an administrator runs it.
func (k *Kit) Command(arguments ...string) *exec.Cmd {
	k.T.Helper()
	path := filepath.Join(k.T.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, k.Env.Kubeconfig, 0o600); err != nil {
		k.T.Fatal(err)
	}
	command := exec.CommandContext(k.T.Context(), k.binary(), arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+path)
	return command
}

// kubeconfig of a user that has the rights of the operator and its name: the policies know it by that.
func (k *Kit) kubeconfig() string {
	k.T.Helper()
	user, err := k.Env.User(config.OperatorUsername, config.ServiceAccountGroups()...)
	if err != nil {
		k.T.Fatal(err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		k.T.Fatal(err)
	}
	path := filepath.Join(k.T.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		k.T.Fatal(err)
	}
	return path
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// Usage of memory, resident, in bytes.
type Usage struct{ Now, Most int64 }

// Memory reads the process's own figures from the kernel.
func (p *Process) Memory() Usage {
	p.t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	var u Usage
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			u.Now = kilobytes << 10
		case "VmHWM:":
			u.Most = kilobytes << 10
		}
	}
	if u.Now == 0 {
		p.t.Fatal("the kernel tells no memory")
	}
	return u
}

// CPU is the processor time that the manager has used, in all its threads.
func (p *Process) CPU() time.Duration {
	p.t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	// proc_pid_stat(5): utime and stime are fields 14 and 15, in ticks, of which Linux tells programs a hundred a second. The name of
	// the program, field 2, may hold anything and ends with the last parenthesis.
	const tick = time.Second / 100
	_, rest, _ := strings.Cut(string(content[strings.LastIndex(string(content), ")"):]), " ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// Metrics are a manager's, as it told them at one moment.
type Metrics string

// Metrics asks for all of them. A process that does not serve yet has none.
func (p *Process) Metrics() Metrics {
	body, err := p.get(p.metrics, "/metrics")
	if err != nil {
		return ""
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	return Metrics(content)
}

// Metric is one of them, see [Metrics.Sum].
func (p *Process) Metric(name string, labels ...string) float64 {
	return p.Metrics().Sum(name, labels...)
}

// Sum adds up a metric over those of its series that have all the labels given, each in the form name="value". A series that there is not
// counts as 0.
func (m Metrics) Sum(name string, labels ...string) float64 {
	total := 0.0
	for line := range strings.Lines(string(m)) {
		rest, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name)
		if !is || (!strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ")) || !hasAll(rest, labels) {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
		if err == nil {
			total += value
		}
	}
	return total
}

// Profile writes a profile of the process to a file: heap, goroutine, or "profile?seconds=10" for processor time.
func (p *Process) Profile(name, path string) error {
	body, err := p.get(p.profiles, "/debug/pprof/"+name)
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	return errors.Join(err, file.Close())
}

func (p *Process) get(address, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("GET %s: %s", path, response.Status), response.Body.Close())
	}
	return response.Body, nil
}

func hasAll(series string, labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(series, label) {
			return false
		}
	}
	return true
}

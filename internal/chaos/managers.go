// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// managerCount is how many processes there are: one leads.
const managerCount = 2

// The lease of the leader: short, so that a campaign sees many.
const (
	leaseDuration = 5 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// managers are the processes of Holdfast, which are started again when they end, as a Deployment's are.
type managers struct {
	options    Options
	kubeconfig string

	mu        sync.Mutex
	epoch     string // of --after-restore
	processes map[string]*process
	ends      int // by themselves
	waiting   sync.WaitGroup
	stopping  bool
	held      bool // all were ended, and none may start before all do
}

type process struct {
	command *exec.Cmd
	done    chan struct{}
	log     *os.File
	killed  bool // by us
}

// startManagers starts both, as the operator's own user with the rights of an installation.
func startManagers(w *world, options Options) (*managers, error) {
	user, err := w.env.User(config.OperatorUsername, config.ServiceAccountGroups()...)
	if err != nil {
		return nil, err
	}
	content, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	m := &managers{options: options, kubeconfig: filepath.Join(options.Dir, "operator.kubeconfig"), processes: map[string]*process{}}
	if err := os.WriteFile(m.kubeconfig, content, 0o600); err != nil {
		return nil, err
	}
	for i := range managerCount {
		if err := m.start(managerName(i), nil); err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	return m, nil
}

func (m *managers) arguments() []string {
	arguments := []string{
		"manager", "--leader-elect", "--namespace=" + operator.Defaults().Namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--v=1",
		"--leader-elect-lease-duration=" + leaseDuration.String(), "--leader-elect-renew-deadline=" + renewDeadline.String(),
		"--leader-elect-retry-period=" + retryPeriod.String(),
		"--poll=2s", "--fast-poll=100ms", "--cloud-poll=1s",
		"--power-off-grace=4s", "--boot-deadline=15s", "--effect-deadline=1s", "--create-backoff=1s",
	}
	if m.epoch != "" {
		arguments = append(arguments, "--after-restore="+m.epoch)
	}
	return arguments
}

// start starts a manager in the place of the process that had its name, nil for none, and has it started again whenever it ends. Where
// another process has that place by now, or all are held, it does nothing: there are never two of one name, and none over a cluster that is being restored.
func (m *managers) start(name string, before *process) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping || m.held || m.processes[name] != before {
		return nil
	}
	delete(m.processes, name) // where it cannot be started there is none
	log, err := os.OpenFile(m.logOf(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	arguments := m.arguments()
	binary := m.options.Binary
	if setpriv, err := exec.LookPath("setpriv"); err == nil { // it ends with the campaign, however that ends
		binary, arguments = setpriv, slices.Concat([]string{"--pdeathsig", "KILL", "--", binary}, arguments)
	}
	// Its life is not bounded by a context: who ends it says how.
	p := &process{command: exec.Command(binary, arguments...), done: make(chan struct{}), log: log} //nolint:noctx // see above
	p.command.Env = append(os.Environ(), "KUBECONFIG="+m.kubeconfig, "GOMAXPROCS=2")
	p.command.Stdout, p.command.Stderr = log, log
	if err := p.command.Start(); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	m.processes[name] = p
	m.waiting.Go(func() { m.wait(name, p) })
	return nil
}

func (m *managers) wait(name string, p *process) {
	failure := p.command.Wait()
	fmt.Fprintf(p.log, "%s ended: %v\n", name, failure)
	_ = p.log.Close()
	m.mu.Lock()
	again := !m.stopping && !p.killed
	if again {
		m.ends++
	}
	m.mu.Unlock()
	close(p.done)
	if !again || !pause(context.Background(), retryPause) {
		return
	}
	if err := m.start(name, p); err != nil && m.options.Progress != nil {
		fmt.Fprintf(m.options.Progress, "%s: %v\n", name, err)
	}
}

// endedByThemselves is how often a manager ended that nobody had ended.
func (m *managers) endedByThemselves() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends
}

func (m *managers) logOf(name string) string { return filepath.Join(m.options.Dir, name+".log") }

func (m *managers) running(name string) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.processes[name]
}

// end ends a manager by a signal and waits until it has ended; it stays so until it is started again.
func (m *managers) end(name string, signal syscall.Signal) error {
	m.mu.Lock()
	p := m.processes[name]
	delete(m.processes, name)
	if p != nil {
		p.killed = true
	}
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	failure := p.command.Process.Signal(signal)
	_ = p.command.Process.Signal(syscall.SIGCONT) // one that stands still would not hear
	select {
	case <-p.done:
		return nil
	case <-time.After(requestDeadline):
		return errors.Join(fmt.Errorf("%s does not end", name), failure, p.command.Process.Kill())
	}
}

// endAll ends all managers, and none starts until startAll starts those that do not run, with an epoch or without.
func (m *managers) endAll(signal syscall.Signal) error {
	m.mu.Lock()
	m.held = true
	m.mu.Unlock()
	var failures []error
	for i := range managerCount {
		failures = append(failures, m.end(managerName(i), signal))
	}
	return errors.Join(failures...)
}

func (m *managers) startAll(epoch string) error {
	m.mu.Lock()
	m.held = false
	if epoch != "" {
		m.epoch = epoch
	}
	m.mu.Unlock()
	var failures []error
	for i := range managerCount {
		failures = append(failures, m.start(managerName(i), nil))
	}
	return errors.Join(failures...)
}

func (m *managers) close() error {
	m.mu.Lock()
	m.stopping = true
	m.mu.Unlock()
	failure := m.endAll(syscall.SIGTERM)
	m.waiting.Wait()
	return failure
}

// crash is what a Go program says when it dies of itself.
var crash = regexp.MustCompile(`^(panic:|fatal error:|WARNING: DATA RACE)|Observed a panic`)

// crashes are the lines of the managers' logs that tell of one.
func (m *managers) crashes() ([]string, error) {
	var found []string
	for i := range managerCount {
		file, err := os.Open(m.logOf(managerName(i)))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			if crash.MatchString(lines.Text()) {
				found = append(found, managerName(i)+": "+lines.Text())
			}
		}
		if err := errors.Join(lines.Err(), file.Close()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

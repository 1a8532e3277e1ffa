// SPDX-License-Identifier: Apache-2.0

// Package scale enrolls many BMCs, and makes many VMs, with a manager in a process of its own, and measures: time until all are there,
// memory and processor time of the manager, conflicts. The test run does it small, `make scale` with 500 BMCs and 1,000 VMs.
package scale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// Environment variables that make the fleet larger than the test run's, and hold it to the aims.
const (
	envFleet = "HOLDFAST_SCALE" // number of BMCs, or of VMs
	small    = 40
)

// The aims, for a fleet of 500.
const (
	availableWithin = 60 * time.Second
	memoryBelow     = 150 << 20
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	// Machines of the rack's own make: a second or so a step, as lively as a fleet of that size can be on a machine for tests.
	os.Exit(harness.Main(m, harness.Options{Rack: sim.Config{RequestLog: 2_000}}, func(s *harness.Suite) { suite = s }))
}

func fleetSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv(envFleet)
	if text == "" {
		return small
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 {
		t.Fatalf("%s=%q is no number of BMCs or VMs", envFleet, text)
	}
	return size
}

// B228, B234: a fleet is enrolled, and claimed in one go: each claim gets a server, none two.
func TestAFleetIsEnrolledAndClaimed(t *testing.T) {
	k := suite.Kit(t, "fleet")
	n := fleetSize(t)
	k.Patience = time.Minute + time.Duration(n)*time.Second/2
	register(k, n)
	manager := startProcess(t, k, "--effect-deadline=2s")
	started := time.Now()
	enrolled := untilAll(t, k, n, "Available", func(s *v1alpha1.Server) bool { return s.Status.Phase == v1alpha1.PhaseAvailable })
	memory := manager.memory(t)
	t.Logf("%d BMCs: all Available after %s (aim %s for 500), manager RSS %d MiB, at most %d MiB (aim %d MiB for 500)",
		n, enrolled.Round(time.Millisecond), availableWithin, memory.now>>20, memory.most>>20, memoryBelow>>20)

	claimed := time.Now()
	claimAll(k, n)
	untilAll(t, k, n, "bound", func(s *v1alpha1.Server) bool { return s.Spec.ClaimRef != nil })
	bound := time.Since(claimed)
	expectOneEach(k, n)
	conflicts := manager.metric(t, "holdfast_claim_conflicts_total")
	t.Logf("%d claims: all bound after %s (%.0f a second, counted from the first creation), %.0f conflicts, manager RSS %d MiB",
		n, bound.Round(time.Millisecond), float64(n)/bound.Seconds(), conflicts, manager.memory(t).now>>20)
	writes, err := suite.Audit().Writes(started)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f writes to the API server a server, status.observed included", float64(len(writes))/float64(n))
	if n >= 500 {
		hold(t, enrolled, memory)
	}
}

func hold(t *testing.T, enrolled time.Duration, memory usage) {
	t.Helper()
	if enrolled > availableWithin {
		t.Errorf("all Available after %s, aim %s", enrolled, availableWithin)
	}
	if memory.most > memoryBelow {
		t.Errorf("manager RSS at most %d MiB, aim %d MiB", memory.most>>20, memoryBelow>>20)
	}
}

// register puts n machines into the rack and registers them, with one secret for all.
func register(k *harness.Kit, n int) {
	k.T.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: k.Name},
		Type:       corev1.SecretTypeBasicAuth,
		StringData: map[string]string{corev1.BasicAuthUsernameKey: harness.Username, corev1.BasicAuthPasswordKey: harness.Password},
	}
	k.Create(secret)
	each(k, n, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("%s-%04d", k.Name, i)
		bmc, err := k.Rack.AddBMC(sim.BMCSpec{Name: name, Username: harness.Username, Password: harness.Password})
		if err != nil {
			return err
		}
		return k.Admin.Create(ctx, &v1alpha1.BMC{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.BMCSpec{
				Endpoint: bmc.Endpoint(), CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: secret.Name},
				TLS:            &v1alpha1.BMCTLS{CABundle: string(k.Rack.CAPEM())},
				ServerTemplate: &v1alpha1.ServerTemplate{Labels: map[string]string{"test": k.Name}},
			},
		})
	})
}

func claimAll(k *harness.Kit, n int) {
	k.T.Helper()
	each(k, n, func(ctx context.Context, i int) error {
		return k.Tenant.Create(ctx, &v1alpha1.ServerClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: fmt.Sprintf("claim-%04d", i)},
			Spec:       v1alpha1.ServerClaimSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"test": k.Name}}},
		})
	})
}

// each does something n times, a few at a time.
func each(k *harness.Kit, n int, do func(context.Context, int) error) {
	k.T.Helper()
	group, ctx := errgroup.WithContext(k.T.Context())
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		k.T.Fatal(err)
	}
}

// untilAll waits until n servers are as wanted and returns how long that took.
func untilAll(t *testing.T, k *harness.Kit, n int, what string, wanted func(*v1alpha1.Server) bool) time.Duration {
	t.Helper()
	started := time.Now()
	k.Until(fmt.Sprintf("%d servers %s", n, what), seldom(n, func(ctx context.Context) error {
		var servers v1alpha1.ServerList
		if err := k.Admin.List(ctx, &servers, client.MatchingLabels{"test": k.Name}); err != nil {
			return err
		}
		count := 0
		for i := range servers.Items {
			if wanted(&servers.Items[i]) {
				count++
			}
		}
		if count < n {
			return fmt.Errorf("%d", count)
		}
		return nil
	}))
	return time.Since(started)
}

// seldom is a check that lists n objects, made the more rarely the more there are: what is measured must not be held up by who looks.
func seldom(n int, check func(context.Context) error) func(context.Context) error {
	pause := time.Duration(n) * 2 * time.Millisecond
	var checked time.Time
	var last error
	return func(ctx context.Context) error {
		if time.Since(checked) < pause {
			return last
		}
		last = check(ctx)
		checked = time.Now()
		return last
	}
}

// expectOneEach: every claim has one server and every server one claim (I8).
func expectOneEach(k *harness.Kit, n int) {
	k.T.Helper()
	var servers v1alpha1.ServerList
	if err := k.Admin.List(k.T.Context(), &servers, client.MatchingLabels{"test": k.Name}); err != nil {
		k.T.Fatal(err)
	}
	holders := map[string]string{}
	for _, server := range servers.Items {
		claim := server.Spec.ClaimRef.Name
		if other := holders[claim]; other != "" {
			k.T.Errorf("%s has %s and %s", claim, other, server.Name)
		}
		holders[claim] = server.Name
	}
	if len(holders) != n {
		k.T.Errorf("%d claims have a server, want %d", len(holders), n)
	}
}

// process is a manager in a process of its own, as it runs anywhere.
type process struct {
	command *exec.Cmd
	metrics string
}

// startProcess builds the binary and runs `holdfast manager` with these flags and the credentials of the service account's user.
func startProcess(t *testing.T, k *harness.Kit, flags ...string) *process {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "holdfast")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/holdfast-dev/holdfast/cmd/holdfast")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, output)
	}
	p := &process{metrics: freeAddress(t)}
	flags = append([]string{
		"manager", "--leader-elect=false", "--metrics-bind-address=" + p.metrics, "--health-probe-bind-address=0",
	}, flags...)
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), binary, flags...)
	p.command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, k))
	logFile, err := os.Create(orElse(os.Getenv("HARNESS_LOG"), filepath.Join(t.TempDir(), "manager.log")))
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stdout, p.command.Stderr = logFile, logFile
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := errors.Join(p.command.Process.Signal(syscall.SIGTERM), p.command.Wait(), logFile.Close())
		if err != nil || t.Failed() {
			content, _ := os.ReadFile(logFile.Name())
			t.Errorf("manager: %v; the end of its log:\n%s", err, content[max(0, len(content)-4000):])
		}
	})
	return p
}

// kubeconfig of a user that has the rights of the operator and its name: the policies know it by that.
func kubeconfig(t *testing.T, k *harness.Kit) string {
	t.Helper()
	user, err := k.Env.User(config.OperatorUsername, config.ServiceAccountGroups()...)
	if err != nil {
		t.Fatal(err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
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

// usage of memory, resident, in bytes.
type usage struct{ now, most int64 }

// memory reads the process's own figures from the kernel.
func (p *process) memory(t *testing.T) usage {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var u usage
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			u.now = kilobytes << 10
		case "VmHWM:":
			u.most = kilobytes << 10
		}
	}
	if u.now == 0 {
		t.Fatal("the kernel tells no memory")
	}
	return u
}

// cpu is the processor time that the manager has used, in all its threads.
func (p *process) cpu(t *testing.T) time.Duration {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
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
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// metric sums a counter of the manager over its labels.
func (p *process) metric(t *testing.T, name string) float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.metrics+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return sum(response.Body, name)
}

func sum(body io.Reader, name string) float64 {
	total := 0.0
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, name) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		if err == nil {
			total += value
		}
	}
	return total
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

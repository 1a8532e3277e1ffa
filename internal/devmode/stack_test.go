// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	os.Exit(m.Run())
}

// up starts a stack on dir, with its rack and cloud registered and a manager.
func up(t *testing.T, dir string) *Stack {
	t.Helper()
	stack, err := Start(t.Context(), Options{StateDir: dir, Tempo: Quick()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := stack.Enroll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := stack.EnrollCloud(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := stack.StartManager(t.Context()); err != nil {
		t.Fatal(err)
	}
	return stack
}

const claimed = "rack1-u01"

func awaitReady(t *testing.T, stack *Stack) {
	t.Helper()
	testenv.Eventually(t, "claims Ready", func(ctx context.Context) error {
		for _, name := range []string{"web", "worker"} {
			claim := &v1alpha1.ServerClaim{}
			if err := stack.Admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, claim); err != nil {
				return err
			}
			if !meta.IsStatusConditionTrue(claim.Status.Conditions, v1alpha1.ConditionReady) {
				return fmt.Errorf("%s: %+v", name, claim.Status.Conditions)
			}
		}
		if vms := stack.Cloud.Servers(); len(vms) != 1 || vms[0].Status != "ACTIVE" {
			return fmt.Errorf("%+v", vms)
		}
		if status := stack.Machine(claimed).Status(); status.Progress != "OSRunning" || status.Disk == "" || status.Override != "" {
			return fmt.Errorf("%+v", status)
		}
		return nil
	})
}

// Stopped and started again, with another certificate authority at its BMCs, everything is found as it was: no power call, no other
// write to a BMC or the cloud (P8), and neither the tenant's machine nor its VM ever stopped.
func TestStateSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	stack := up(t, dir)
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	claim.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: claimed}
	if err := stack.Admin.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	worker := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"}}
	worker.Spec.ClassName = ClassName
	if err := stack.Admin.Create(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, stack)
	vm := stack.Cloud.Servers()[0].ID
	if err := stack.Close(); err != nil {
		t.Fatal(err)
	}

	again := up(t, dir)
	awaitReady(t, again)
	testenv.Eventually(t, "three looks at each machine", func(context.Context) error {
		for _, bmc := range again.Rack.BMCs() {
			looks, err := again.Rack.Requests(sim.RequestFilter{BMC: bmc.Name(), Method: http.MethodGet, Path: "/Systems/[^/]+/?$"})
			if err != nil || len(looks) < 3 {
				return fmt.Errorf("%s: %d looks, %w", bmc.Name(), len(looks), err)
			}
		}
		return threeLooks(again.Cloud)
	})
	if now := again.Cloud.Servers()[0].ID; now != vm {
		t.Errorf("the VM is %s, was %s", now, vm)
	}
	expectCloudUntouched(t, again.Cloud)
	requests, err := again.Rack.Requests(sim.RequestFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if changes(r) {
			t.Errorf("%s %s %s %s", r.BMC, r.Method, r.Path, r.Body)
		}
	}
	for _, e := range again.Rack.MachineLog(sim.EventFilter{Kinds: []sim.EventKind{sim.EventPower, sim.EventInstall}}) {
		t.Errorf("%+v", e)
	}
}

// threeLooks says how much a cloud was looked at, where that is less than three times.
func threeLooks(cloud *openstack.Cloud) error {
	looks, err := cloud.Requests(openstack.RequestFilter{Method: http.MethodGet, Path: "/servers/detail"})
	if err == nil && len(looks) < 3 {
		err = fmt.Errorf("%d looks at the cloud", len(looks))
	}
	return err
}

func expectCloudUntouched(t *testing.T, cloud *openstack.Cloud) {
	t.Helper()
	requests, err := cloud.Requests(openstack.RequestFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if changesCloud(r) {
			t.Errorf("%s %s %s", r.Method, r.Path, r.Body)
		}
	}
	for _, e := range cloud.Events(openstack.EventFilter{}) {
		t.Errorf("%+v", e)
	}
}

// Run tells how to reach what it started and what happens, and an interrupt is its regular end.
func TestRunNarratesUntilInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &interrupting{until: "Available, ready", interrupt: interrupt}
	if err := Run(ctx, Options{StateDir: t.TempDir(), Tempo: Quick()}, out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 BMCs and the cloud fra1 registered", `"className": "small"`, "export KUBECONFIG=", "bmc      rack1-u01", "stopping; the state stays"} {
		if !strings.Contains(out.text.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.text.String())
		}
	}
}

// interrupting is an output that interrupts what writes to it once it has read a text. Its writer writes one line at a time.
type interrupting struct {
	text      strings.Builder
	until     string
	interrupt func()
}

func (i *interrupting) Write(p []byte) (int, error) {
	if strings.Contains(string(p), i.until) {
		i.interrupt()
	}
	return i.text.Write(p)
}

func TestWipeRemovesStateDirectoriesOnly(t *testing.T) {
	none := t.TempDir()
	precious := filepath.Join(none, "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Wipe(none); err == nil {
		t.Error("wiped a folder that is no state directory")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	if err := Wipe(state); err != nil {
		t.Errorf("nothing to wipe: %v", err)
	}
	if err := prepare(state); err != nil {
		t.Fatal(err)
	}
	if err := Wipe(state); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("the state is there: %v", err)
	}
}

// Ports of the last start are used again. Another process may take one in between, so several tries are allowed; no port is drawn twice
// in a row by chance that often.
func TestPortsAreKept(t *testing.T) {
	for range 10 {
		p := places{dir: t.TempDir()}
		first, err := p.ports()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.remember(first); err != nil {
			t.Fatal(err)
		}
		again, err := p.ports()
		if err != nil {
			t.Fatal(err)
		}
		if again == first {
			return
		}
	}
	t.Error("the ports of the last start were never used again")
}

// A port that somebody else has meanwhile is not waited for.
func TestATakenPortIsReplaced(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	taken := listener.Addr().(*net.TCPAddr).Port
	if port, err := free(taken); err != nil || port == taken {
		t.Errorf("port %d, %v; %d is taken", port, err, taken)
	}
}

// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func connect(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	connection, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

func createNamespace(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := connect(t, config).Create(t.Context(), namespace); err != nil {
		t.Fatalf("create namespace %s: %v", name, err)
	}
}

func getNamespace(ctx context.Context, t *testing.T, config *rest.Config, name string) error {
	t.Helper()
	return connect(t, config).Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
}

func TestControlPlane(t *testing.T) {
	auditLog := filepath.Join(t.TempDir(), "audit.log")
	started := time.Now()
	env := Run(t, Options{Manifests: []fs.FS{os.DirFS("testdata/manifests")}, AuditLog: auditLog})
	t.Logf("started in %s", time.Since(started).Round(time.Millisecond))

	t.Run("tells a version that clients can parse", func(t *testing.T) { checkVersion(t, env) })
	t.Run("installs definitions, then namespaces, then objects, twice", func(t *testing.T) { checkManifests(t, env) })
	t.Run("gives a user only the rights of RBAC", func(t *testing.T) { checkUser(t, env) })
	t.Run("audits writes with their user", func(t *testing.T) { checkAudit(t, env, auditLog) })
	t.Run("runs kubectl with the kubeconfig", func(t *testing.T) { checkKubectl(t, env) })
	t.Run("hangs while etcd is paused", func(t *testing.T) { checkPause(t, env) })
	t.Run("refuses connections in an outage and keeps users after it", func(t *testing.T) { checkOutage(t, env) })
}

func checkVersion(t *testing.T, env *Environment) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	served, err := discoverer.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := version.ParseSemantic(served.GitVersion)
	if err != nil {
		t.Fatal(err)
	}
	if served.Major != fmt.Sprint(parsed.Major()) || served.Minor != fmt.Sprint(parsed.Minor()) || parsed.Minor() == 0 {
		t.Errorf("version %s has major %q and minor %q", served.GitVersion, served.Major, served.Minor)
	}
}

func checkManifests(t *testing.T, env *Environment) {
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("testenv.holdfast.dev/v1")
	widget.SetKind("Widget")
	key := client.ObjectKey{Namespace: "widgets", Name: "first"}
	if err := connect(t, env.Config).Get(t.Context(), key, widget); err != nil {
		t.Fatal(err)
	}
	before := widget.GetResourceVersion()
	if err := env.Install(t.Context(), os.DirFS("testdata/manifests")); err != nil {
		t.Fatalf("second install: %v", err)
	}
	if err := connect(t, env.Config).Get(t.Context(), key, widget); err != nil {
		t.Fatal(err)
	}
	if widget.GetResourceVersion() != before {
		t.Error("a second install wrote an object that had not changed")
	}
}

func checkUser(t *testing.T, env *Environment) {
	user, err := env.User("tenant", "tenants")
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range []*rest.Config{user.Config(), env.Impersonate("tenant", "tenants", "system:authenticated")} {
		if err := getNamespace(t.Context(), t, config, "default"); !apierrors.IsForbidden(err) {
			t.Errorf("got %v, want forbidden", err)
		}
	}
	if err := getNamespace(t.Context(), t, env.Impersonate("someone", "system:masters"), "default"); err != nil {
		t.Errorf("a member of system:masters was refused: %v", err)
	}
}

func checkAudit(t *testing.T, env *Environment, auditLog string) {
	createNamespace(t, env.Impersonate("auditee", "system:masters"), "audited")
	Eventually(t, "audit event of the creation", func(context.Context) error {
		events, err := ReadAudit(auditLog)
		if err != nil {
			return err
		}
		for _, event := range events {
			if !IsWrite(event) || event.ImpersonatedUser == nil || event.ImpersonatedUser.Username != "auditee" {
				continue
			}
			if event.ObjectRef.Resource == "namespaces" && event.ObjectRef.Name == "audited" && event.ResponseStatus.Code == 201 {
				return nil
			}
		}
		return fmt.Errorf("not among %d events", len(events))
	})
}

func checkKubectl(t *testing.T, env *Environment) {
	kubectl, err := env.Assets.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, env.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", kubeconfig, "get", "widgets", "-A", "-o", "name").CombinedOutput()
	if err != nil || strings.TrimSpace(string(output)) != "widget.testenv.holdfast.dev/first" {
		t.Errorf("kubectl: %v: %s", err, output)
	}
}

func checkPause(t *testing.T, env *Environment) {
	if err := env.PauseEtcd(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "paused"}}
	err := connect(t, env.Config).Create(ctx, namespace)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write while etcd was paused: got %v, want the context's end", err)
	}
	if err := env.ResumeEtcd(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "write after the pause", func(ctx context.Context) error {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "resumed-"}}
		return connect(t, env.Config).Create(ctx, object)
	})
}

func checkOutage(t *testing.T, env *Environment) {
	if err := env.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	// No client that maps kinds first: that would already fail at making it.
	discoverer, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := discoverer.ServerVersion(); err == nil {
		t.Error("the API server answered in an outage")
	}
	if err := env.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "read after the outage", func(ctx context.Context) error {
		return getNamespace(ctx, t, env.Config, "audited")
	})
}

func TestStateSurvivesARestart(t *testing.T) {
	options := Options{StateDir: filepath.Join(t.TempDir(), "state")}
	first, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	createNamespace(t, first.Config, "kept")
	if _, err := Start(t.Context(), options); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second control plane on the same state: got %v, want a refusal", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	second := Run(t, options)
	if err := getNamespace(t.Context(), t, second.Config, "kept"); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// A manager's watches are open when dev mode ends: by its defaults the API server
// would wait for them for a minute, and Stop would give up.
func TestStopDoesNotWaitForWatches(t *testing.T) {
	env, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := client.NewWithWatch(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := watcher.Watch(t.Context(), &corev1.NamespaceList{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	started := time.Now()
	if err := env.Stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(started); took > processTimeout/2 {
		t.Errorf("stopped in %s", took)
	}
}

// A run that is killed must leave nothing behind that holds its state directory.
func TestChildrenDieWithTheirParent(t *testing.T) {
	if stateDir := os.Getenv("TESTENV_CHILD_STATE_DIR"); stateDir != "" {
		env, err := Start(t.Context(), Options{StateDir: stateDir})
		if err != nil {
			t.Fatal(err)
		}
		createNamespace(t, env.Config, "kept")
		if err := exec.Command("kill", "-KILL", fmt.Sprint(os.Getpid())).Run(); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	if newLauncher("").deathSignal == "" {
		t.Fatal("setpriv (util-linux) is missing: install it")
	}
	stateDir := filepath.Join(t.TempDir(), "state")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildrenDieWithTheirParent$")
	child.Env = append(os.Environ(), "TESTENV_CHILD_STATE_DIR="+stateDir, "TMPDIR="+t.TempDir())
	if output, err := child.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child: got %v, want killed; output: %s", err, output)
	}
	second := Run(t, Options{StateDir: stateDir})
	if err := getNamespace(t.Context(), t, second.Config, "kept"); err != nil {
		t.Errorf("after a killed run: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// processTimeout bounds the start and the stop of one process. A start takes about
// three seconds alone and several times that on a machine that compiles meanwhile.
const processTimeout = time.Minute

// Options say what a control plane is started with. The zero value is an empty
// cluster whose state is gone when it stops.
type Options struct {
	// Manifests are installed by Start, see [Environment.Install].
	Manifests []fs.FS
	// StateDir keeps the state between runs and is created when it is missing. It
	// survives the death of the processes, not of the machine: etcd does not sync
	// its writes. Empty: a temporary directory that Stop removes.
	StateDir string
	// Port is where the API server listens on loopback, 0 for a free one.
	Port int
	// AuditLog is a file that gets one line for each request, see [ReadAudit].
	// Empty: no audit.
	AuditLog string
	// Output gets what etcd and kube-apiserver log; nil discards it.
	Output io.Writer
}

// Environment is a running control plane.
type Environment struct {
	// Config connects as a member of system:masters.
	Config *rest.Config
	// Kubeconfig is Config as the content of a kubeconfig file. Certificates and,
	// without Options.Port, the address are new in each run.
	Kubeconfig []byte
	// Assets are the binaries in use.
	Assets Assets

	plane    *envtest.Environment
	launcher launcher
	workDir  string
	lock     *os.File
}

// Start starts a control plane and installs the manifests; the context bounds the
// installation. On an error nothing is left running.
func Start(ctx context.Context, options Options) (*Environment, error) {
	assets, err := FindAssets()
	if err != nil {
		return nil, err
	}
	workDir, err := os.MkdirTemp("", "holdfast-controlplane-")
	if err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	}
	env := &Environment{Assets: assets, workDir: workDir, launcher: newLauncher(workDir)}
	if err := env.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("start control plane: %w", err), env.Stop())
	}
	return env, nil
}

func (e *Environment) start(ctx context.Context, options Options) error {
	dataDir, err := e.claimState(options.StateDir)
	if err != nil {
		return err
	}
	plane, err := e.configure(options, dataDir)
	if err != nil {
		return err
	}
	e.plane = plane
	if e.Config, err = plane.Start(); err != nil {
		return err
	}
	e.Kubeconfig = plane.KubeConfig
	for _, manifests := range options.Manifests {
		if err := e.Install(ctx, manifests); err != nil {
			return err
		}
	}
	return nil
}

// claimState returns etcd's data directory, locked when it is a lasting one: two
// etcds on one directory would wait for each other until a timeout.
func (e *Environment) claimState(stateDir string) (string, error) {
	if stateDir == "" {
		return filepath.Join(e.workDir, "data"), nil
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	lock, err := lockDir(stateDir)
	if err != nil {
		return "", err
	}
	e.lock = lock
	return filepath.Join(stateDir, "etcd"), nil
}

func (e *Environment) configure(options Options, dataDir string) (*envtest.Environment, error) {
	etcd, err := e.launcher.wrap(e.Assets.path("etcd"))
	if err != nil {
		return nil, err
	}
	apiServer, err := e.launcher.wrap(e.Assets.path("kube-apiserver"))
	if err != nil {
		return nil, err
	}
	// A certificate directory of our own, fresh in each run, is what lets the API
	// server restart within a run with the same CA and the same users.
	certDir := filepath.Join(e.workDir, "certs")
	for _, dir := range []string{dataDir, certDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("work directory: %w", err)
		}
	}
	plane := &envtest.Environment{ControlPlaneStartTimeout: processTimeout, ControlPlaneStopTimeout: processTimeout}
	plane.ControlPlane.Etcd = &envtest.Etcd{Path: etcd, DataDir: dataDir, Out: options.Output, Err: options.Output}
	server := plane.ControlPlane.GetAPIServer()
	server.Path, server.CertDir, server.Out, server.Err = apiServer, certDir, options.Output, options.Output
	// By default a stop waits a minute for open watches; in this mode it waits for
	// requests, then two seconds.
	server.Configure().Set("shutdown-send-retry-after", "true")
	if options.Port != 0 {
		server.SecureServing.Address = "127.0.0.1"
		server.SecureServing.Port = strconv.Itoa(options.Port)
	}
	if options.AuditLog != "" {
		policy := filepath.Join(e.workDir, "audit-policy.yaml")
		if err := configureAudit(server, policy, options.AuditLog); err != nil {
			return nil, err
		}
	}
	return plane, nil
}

// User makes a user with a client certificate. It has only the rights that RBAC
// gives to its name, its groups and system:authenticated.
func (e *Environment) User(name string, groups ...string) (*envtest.AuthenticatedUser, error) {
	base := &rest.Config{QPS: e.Config.QPS, Burst: e.Config.Burst}
	user, err := e.plane.AddUser(envtest.User{Name: name, Groups: groups}, base)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", name, err)
	}
	return user, nil
}

// Impersonate returns the admin's connection acting as another user: cheaper than
// [Environment.User], and the audit log names both.
func (e *Environment) Impersonate(name string, groups ...string) *rest.Config {
	config := rest.CopyConfig(e.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	return config
}

// StopAPIServer begins an outage: connections are refused until StartAPIServer.
func (e *Environment) StopAPIServer() error {
	if err := e.plane.ControlPlane.APIServer.Stop(); err != nil {
		return fmt.Errorf("stop kube-apiserver: %w", err)
	}
	return nil
}

// StartAPIServer ends an outage; address, certificates and users are the same.
func (e *Environment) StartAPIServer() error {
	if err := e.plane.ControlPlane.APIServer.Start(); err != nil {
		return fmt.Errorf("start kube-apiserver: %w", err)
	}
	return nil
}

// PauseEtcd freezes etcd: requests to the API server hang until ResumeEtcd.
func (e *Environment) PauseEtcd() error {
	return e.launcher.signal("etcd", syscall.SIGSTOP)
}

// ResumeEtcd ends what PauseEtcd began.
func (e *Environment) ResumeEtcd() error {
	return e.launcher.signal("etcd", syscall.SIGCONT)
}

// Stop ends the processes and removes everything but Options.StateDir and
// Options.AuditLog.
func (e *Environment) Stop() error {
	var failures []error
	if e.plane != nil {
		failures = append(failures, e.plane.Stop())
	}
	failures = append(failures, os.RemoveAll(e.workDir))
	if e.lock != nil {
		failures = append(failures, e.lock.Close())
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("stop control plane: %w", err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// Options of a stack.
type Options struct {
	// StateDir keeps everything: etcd's data, the machines, the VMs, ports, logs and the kubeconfig. It is created where it is missing.
	StateDir string
	// Tempo of the machines and VMs.
	Tempo Tempo
	// Audit has the API server write each request to the file that AuditLog names.
	Audit bool
}

// Stack is all of Holdfast running here, but for the manager, which is started and stopped apart.
type Stack struct {
	// Env is the control plane.
	Env *testenv.Environment
	// Rack are the simulated BMCs and machines.
	Rack *sim.Rack
	// Cloud is the simulated cloud.
	Cloud *openstack.Cloud
	// Admin may do everything.
	Admin client.WithWatch

	options Options
	places  places
	manager *manager
}

// Start starts control plane, rack and cloud and installs what an installation applies. On an error nothing is left running.
func Start(ctx context.Context, options Options) (*Stack, error) {
	s := &Stack{options: options, places: places{dir: options.StateDir}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := prepare(s.places.dir); err != nil {
		return err
	}
	ports, err := s.places.ports()
	if err != nil {
		return err
	}
	controlPlane := func(port int) error { return s.startControlPlane(ctx, port) }
	for _, part := range []struct {
		port  *int
		start func(int) error
	}{{&ports.API, controlPlane}, {&ports.Rack, s.startRack}, {&ports.Cloud, s.startCloud}} {
		// It is looked for directly before it is used: the control plane takes seconds to start, in which somebody else may take a port.
		if *part.port, err = free(*part.port); err != nil {
			return err
		}
		if err := part.start(*part.port); err != nil {
			return err
		}
	}
	return s.places.remember(ports)
}

func (s *Stack) startControlPlane(ctx context.Context, port int) error {
	policies, err := config.Policies(config.OperatorUsername)
	if err != nil {
		return err
	}
	options := testenv.Options{
		Manifests: []fs.FS{config.CRDs(), config.RBAC(), policies},
		StateDir:  filepath.Join(s.places.dir, "controlplane"),
		Port:      port,
	}
	if s.options.Audit {
		options.AuditLog = s.AuditLog()
	}
	if s.Env, err = testenv.Start(ctx, options); err != nil {
		return err
	}
	if err := os.WriteFile(s.Kubeconfig(), s.Env.Kubeconfig, 0o600); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	if s.Admin, err = client.NewWithWatch(s.Env.Config, client.Options{Scheme: operator.Scheme()}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// As is a client with the rights of another user alone.
func (s *Stack) As(user string, groups ...string) (client.Client, error) {
	c, err := client.New(s.Env.Impersonate(user, groups...), client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", user, err)
	}
	return c, nil
}

// Kubeconfig is the path of a kubeconfig of an administrator, made anew by each start.
func (s *Stack) Kubeconfig() string { return filepath.Join(s.places.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log, where Options.Audit asks for one.
func (s *Stack) AuditLog() string { return filepath.Join(s.places.dir, "audit.log") }

// Close stops the manager, the cloud, the rack and the control plane, in this order. The state stays. What is stopped already is left out.
func (s *Stack) Close() error {
	failures := []error{s.StopManager()}
	if s.Cloud != nil {
		failures = append(failures, s.Cloud.Close())
		s.Cloud = nil
	}
	if s.Rack != nil {
		failures = append(failures, s.Rack.Close())
		s.Rack = nil
	}
	if s.Env != nil {
		failures = append(failures, s.Env.Stop())
		s.Env = nil
	}
	return errors.Join(failures...)
}

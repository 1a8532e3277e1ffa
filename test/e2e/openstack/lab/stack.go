// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Variable names the environment variable that says where the scripts of the OpenStack under test are: up.sh, ctl.sh, down.sh.
const Variable = "HOLDFAST_OPENSTACK"

// stateVariable is the scripts' own name for the directory of what they started; it holds clouds.yaml.
const (
	stateVariable = "OSCI_STATE"
	defaultState  = "/tmp/openstack-ci"
)

// ErrNotAsked says that nobody named an OpenStack to test against.
var ErrNotAsked = errors.New(Variable + " names no OpenStack: `make e2e-openstack` starts one and sets it")

// Stack is a running OpenStack control plane on this machine.
type Stack struct {
	// Admin may do everything in the cloud.
	Admin *Client

	scripts string
}

// The services of a stack that can be stopped, paused and struck.
const (
	Keystone = "keystone"
	Nova     = "nova-api"
	Neutron  = "neutron"
	Compute  = "nova-compute-1"
)

// Find returns the stack that the environment names, once it answers. It returns [ErrNotAsked] where none is named; one that is named
// and does not answer is an error, never a reason to skip.
func Find(ctx context.Context) (*Stack, error) {
	scripts := os.Getenv(Variable)
	if scripts == "" {
		return nil, ErrNotAsked
	}
	state := os.Getenv(stateVariable)
	if state == "" {
		state = defaultState
	}
	credentials, err := readCredentials(filepath.Join(state, "clouds.yaml"), "admin")
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", Variable, scripts, err)
	}
	s := &Stack{Admin: NewClient(credentials), scripts: scripts}
	if err := s.ctl(ctx, "status"); err != nil {
		return nil, err
	}
	if err := s.Clear(ctx); err != nil {
		return nil, err
	}
	return s, s.Admin.login(ctx)
}

// cloudsFile is what is read of a clouds.yaml.
type cloudsFile struct {
	Clouds map[string]struct {
		Auth struct {
			AuthURL  string `json:"auth_url"`
			Username string `json:"username"`
			Password string `json:"password"`
			Project  string `json:"project_name"`
		} `json:"auth"`
		Region string `json:"region_name"`
	} `json:"clouds"`
}

func readCredentials(path, cloud string) (Credentials, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Credentials{}, err
	}
	var file cloudsFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Credentials{}, fmt.Errorf("%s: %w", path, err)
	}
	found, ok := file.Clouds[cloud]
	if !ok || found.Auth.AuthURL == "" {
		return Credentials{}, fmt.Errorf("%s has no cloud %q with an auth_url", path, cloud)
	}
	return Credentials{
		AuthURL: found.Auth.AuthURL, Region: found.Region,
		Username: found.Auth.Username, Password: found.Auth.Password, Project: found.Auth.Project,
	}, nil
}

func (s *Stack) ctl(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(s.scripts, "ctl.sh"), arguments...)
	// To a file and not a pipe: a service that is started keeps what its starter had open.
	output, err := os.CreateTemp("", "holdfast-lab-")
	if err != nil {
		return err
	}
	defer func() {
		_ = output.Close() // what was to be read of it was read
		_ = os.Remove(output.Name())
	}()
	command.Stdout, command.Stderr = output, output
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(output.Name())
		return fmt.Errorf("ctl.sh %s: %w: %s", strings.Join(arguments, " "), err, text)
	}
	return nil
}

// Stop stops services: their ports refuse connections.
func (s *Stack) Stop(ctx context.Context, services ...string) error {
	return s.ctl(ctx, append([]string{"stop"}, services...)...)
}

// Start starts services and waits until those with a port answer at it.
func (s *Stack) Start(ctx context.Context, services ...string) error {
	return s.ctl(ctx, append([]string{"start"}, services...)...)
}

// Pause freezes services: they accept connections and never answer.
func (s *Stack) Pause(ctx context.Context, services ...string) error {
	return s.ctl(ctx, append([]string{"pause"}, services...)...)
}

// Resume lets paused services go on, with what they were sent meanwhile.
func (s *Stack) Resume(ctx context.Context, services ...string) error {
	return s.ctl(ctx, append([]string{"resume"}, services...)...)
}

// ExpireTokens makes every token invalid that was issued so far. The services trust those they know for ten seconds more.
func (s *Stack) ExpireTokens(ctx context.Context) error {
	return s.ctl(ctx, "expire-tokens")
}

// ServiceFault is a fault inside a service, in the words of the stack: it strikes whoever calls, Nova's own calls of other services too.
type ServiceFault struct {
	// Match is a regular expression of paths, Method a method; "" for all.
	Match  string `json:"match,omitempty"`
	Method string `json:"method,omitempty"`
	// Delay in seconds before anything else.
	Delay float64 `json:"delay,omitempty"`
	// Status is answered instead of calling the service, or, with After, once the service has done its work.
	Status int  `json:"status,omitempty"`
	After  bool `json:"after,omitempty"`
	// Count of requests that are struck; 0 for all until [Stack.Clear].
	Count   int               `json:"count,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Strike arms faults in a service, in place of those that were armed there. The first that matches strikes.
func (s *Stack) Strike(ctx context.Context, service string, faults ...ServiceFault) error {
	rules, err := json.Marshal(faults)
	if err != nil {
		return err
	}
	return s.ctl(ctx, "fault", service, string(rules))
}

// Clear disarms all faults of all services.
func (s *Stack) Clear(ctx context.Context) error {
	return s.ctl(ctx, "clear")
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// StartInstance implements provider.Instances.
func (a actor) StartInstance(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect) (provider.Outcome, error) {
	return a.switchTo(ctx, ref, expect, provider.PowerOn, provider.PoweringOn, func(client *gophercloud.ServiceClient) error {
		return servers.Start(ctx, client, ref.ID).ExtractErr()
	})
}

// StopInstance implements provider.Instances.
func (a actor) StopInstance(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect) (provider.Outcome, error) {
	return a.switchTo(ctx, ref, expect, provider.PowerOff, provider.PoweringOff, func(client *gophercloud.ServiceClient) error {
		return servers.Stop(ctx, client, ref.ID).ExtractErr()
	})
}

// switchTo sends what brings the VM to the power wanted, unless it is there or on its way. States from which Nova cannot switch it, most
// of them a person's doing, are a Mismatch.
func (a actor) switchTo(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect,
	wanted, coming provider.PowerState, send func(*gophercloud.ServiceClient) error,
) (provider.Outcome, error) {
	s, err := a.own(ctx, ref, expect)
	if err != nil {
		return provider.Outcome{}, err
	}
	if power := powerOf(s); power == coming || (power == wanted && s.TaskState == "") {
		return provider.Outcome{Unchanged: true}, nil
	}
	if err := idle(s); err != nil {
		return provider.Outcome{}, err
	}
	if powerOf(s) == provider.PowerUnknown {
		return provider.Outcome{}, mismatch("the VM is " + s.Status + ", from which its power is not switched")
	}
	return a.act(ctx, s, "switching VM "+ref.ID, send)
}

// act sends one action to a VM.
func (a actor) act(ctx context.Context, s *servers.Server, what string, send func(*gophercloud.ServiceClient) error) (provider.Outcome, error) {
	compute, err := a.compute(ctx)
	if err != nil {
		return provider.Outcome{}, err
	}
	err = a.session.checked(what, send(compute))
	switch {
	case err == nil:
		return provider.Outcome{}, nil
	case gone(err):
		return provider.Outcome{}, fail(provider.NotFound, provider.ReasonInstanceNotFound, "the cloud says that it has no VM "+s.ID, err)
	case statusOf(err) == http.StatusConflict:
		return provider.Outcome{}, busy(what+": Nova says that the VM's state does not allow it now", goingAgain)
	default:
		return provider.Outcome{}, err
	}
}

// idle is Busy while Nova is about something with the VM: what it would do to an action then is not known.
func idle(s *servers.Server) error {
	if s.TaskState != "" {
		return busy("the VM is at work: "+s.TaskState, goingAgain)
	}
	return nil
}

// ConfirmStopped implements provider.Instances. The state and the hypervisor's own word must agree.
func (a actor) ConfirmStopped(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect) error {
	s, err := a.own(ctx, ref, expect)
	if err != nil {
		return err
	}
	if s.Status != stateShutoff || s.TaskState != "" || s.PowerState == servers.RUNNING {
		return mismatch("the VM is " + s.Status + ", not off and at rest")
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Rebuild implements provider.Instances. Nova shows the new image from the moment it accepts the request, and after a rebuild that failed:
// the VM runs the image only where it is not in ERROR.
func (a actor) Rebuild(ctx context.Context, ref provider.InstanceRef, image provider.Selector, expect provider.InstanceExpect) (provider.Outcome, error) {
	if expect.ImageID == "" {
		return provider.Outcome{}, mismatch("a rebuild must name the image that the VM is built from")
	}
	imageID, err := a.resolveImage(ctx, image)
	if err != nil {
		return provider.Outcome{}, err
	}
	made := &provider.Made{InstanceID: ref.ID, ImageID: imageID}
	relied := expect
	relied.ImageID = "" // compared below, once it is known whether the work is done already
	s, err := a.own(ctx, ref, relied)
	if err != nil {
		return provider.Outcome{}, err
	}
	if imageOf(s) == imageID && s.Status != stateError {
		return provider.Outcome{Unchanged: true, Made: made}, nil
	}
	if err := meets(s, provider.InstanceExpect{ImageID: expect.ImageID}); err != nil {
		return provider.Outcome{}, err
	}
	if err := idle(s); err != nil {
		return provider.Outcome{}, err
	}
	out, err := a.act(ctx, s, "rebuilding VM "+ref.ID, func(client *gophercloud.ServiceClient) error {
		return servers.Rebuild(ctx, client, ref.ID, servers.RebuildOpts{ImageRef: imageID}).Err
	})
	if err != nil {
		return provider.Outcome{}, err
	}
	out.Made = made
	return out, nil
}

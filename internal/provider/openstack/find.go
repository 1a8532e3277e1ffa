// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// goingAgain is when to ask again for something that is going.
const goingAgain = time.Second

// theOne finds the VM of ref by its identity; nil where there is none. Two are never a guess (B186), and one of another owner is not ours.
func (c *Cloud) theOne(ctx context.Context, ref provider.InstanceRef) (*servers.Server, error) {
	found, err := c.serversOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if !marksOfServer(&found[i]).owned(ref) {
			return nil, mismatch("VM " + found[i].ID + " bears this server's identity and belongs to another cluster")
		}
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // there is none, and that is no error
	case 1:
		if isGoing(&found[0]) {
			return nil, busy("VM "+found[0].ID+" of this server is being deleted", goingAgain)
		}
		return &found[0], nil
	default:
		return nil, duplicate(found)
	}
}

func duplicate(found []servers.Server) *provider.Error {
	return fail(provider.Terminal, provider.ReasonDuplicateVM,
		fmt.Sprintf("%d VMs bear this server's identity: %s", len(found), firstOf(idsOf(found), 4)), nil)
}

func idsOf(found []servers.Server) []string {
	ids := make([]string, 0, len(found))
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return ids
}

// stranger refuses a VM of our owner that bears ref's name under another identity: it may be this server from before its memory was lost.
func (c *Cloud) stranger(ctx context.Context, ref provider.InstanceRef) error {
	found, err := c.serversNamed(ctx, ref)
	if err != nil {
		return err
	}
	for i := range found {
		if m := marksOfServer(&found[i]); m.identity != ref.Identity && !isGoing(&found[i]) {
			return fail(provider.Terminal, provider.ReasonFoundExisting,
				fmt.Sprintf("VM %s bears this server's name and the identity %q", found[i].ID, m.identity), nil)
		}
	}
	return nil
}

// own asks for the VM of ref by its id, and makes sure that it is ref's and as expected. NotFound where it is gone.
func (c *Cloud) own(ctx context.Context, ref provider.InstanceRef, expect provider.InstanceExpect) (*servers.Server, error) {
	if ref.ID == "" {
		return nil, mismatch("no VM of this server is known")
	}
	if err := c.inProject(ctx, ref); err != nil {
		return nil, err
	}
	s, err := c.server(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	if !marksOfServer(s).owned(ref) {
		return nil, mismatch("VM " + s.ID + " does not bear this server's identity and this cluster's mark")
	}
	return s, meets(s, expect)
}

// meets compares a VM with what a call relies on.
func meets(s *servers.Server, expect provider.InstanceExpect) error {
	switch {
	case expect.Power != "" && powerOf(s) != expect.Power:
		return mismatch(fmt.Sprintf("the VM's power is %s, not %s", powerOf(s), expect.Power))
	case expect.NeverLaunched && launched(s):
		return mismatch("the VM was launched")
	case expect.ImageID != "" && imageOf(s) != expect.ImageID:
		return mismatch(fmt.Sprintf("the VM runs image %q, not %q", imageOf(s), expect.ImageID))
	case expect.Claim != nil && s.Metadata[provider.MetadataClaim] != *expect.Claim:
		return mismatch("the VM's claim is not the one that was seen")
	}
	return nil
}

func isGoing(s *servers.Server) bool {
	return s.TaskState == taskDeleting || s.TaskState == taskSoftDeleting || s.Status == stateDeleted || s.Status == stateSoftDeleted
}

// written classes what a write ended with. A 404 says that what it was about went away under it: that is looked at again, and is no word
// about the server's VM.
func (c *Cloud) written(what string, err error) error {
	err = c.session.checked(what, err)
	if provider.ClassOf(err) != provider.NotFound {
		return err
	}
	e := busy(what+": something that it needs is gone since it was looked at", 0)
	e.Err = err
	return e
}

// isCompute says of a port's device_owner that its device is a VM. Neutron leaves it empty for a moment.
func isCompute(deviceOwner string) bool {
	return deviceOwner == "" || strings.HasPrefix(deviceOwner, "compute:")
}

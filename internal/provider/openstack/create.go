// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// maxUserData is how long user data may be as base64; Nova's own limit.
const maxUserData = 65535

// Create implements provider.Instances. In this process one Create runs at a time for an identity; among processes a lease decides who
// may send the POST (lease.go). What is left of a chance for two is a POST that Nova carries out long after it was broken off.
func (a actor) Create(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec) (provider.Outcome, error) {
	if err := a.check(ctx, ref); err != nil {
		return provider.Outcome{}, err
	}
	if size := base64.StdEncoding.EncodedLen(len(spec.UserData)); size > maxUserData {
		return provider.Outcome{}, fail(provider.Terminal, provider.ReasonUserDataTooLarge,
			fmt.Sprintf("the user data takes %d bytes as base64, and the cloud takes %d", size, maxUserData), nil)
	}
	unlock, err := a.pool.creating.lock(ctx, ref.Identity)
	if err != nil {
		return provider.Outcome{}, connectionError("waiting for an earlier creation of this server", err)
	}
	defer unlock()
	if spec.Adopt != "" {
		return a.adopt(ctx, ref, spec)
	}
	found, err := a.theOne(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	if found != nil {
		return adopted(found), nil
	}
	if err := a.stranger(ctx, ref); err != nil {
		return provider.Outcome{}, err
	}
	p, err := a.planFor(ctx, spec)
	if err != nil {
		return provider.Outcome{}, err
	}
	if spec.Serial && p.group != "" {
		return a.makeInTurn(ctx, ref, spec, p)
	}
	return a.make(ctx, ref, spec, p)
}

// adopted tells of a VM that is there already. Which security groups its ports have is told by UpdatePorts.
func adopted(s *servers.Server) provider.Outcome {
	return provider.Outcome{Unchanged: true, Made: &provider.Made{InstanceID: s.ID, ImageID: imageOf(s)}}
}

// make gets the ports ready, takes the lease, looks once more and asks for the VM.
func (a actor) make(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec, p plan) (provider.Outcome, error) {
	stamp := a.pool.leases.take()
	unknown := false
	defer func() {
		if !unknown {
			a.pool.leases.settle(stamp)
		}
	}()
	free, lost, err := a.freePorts(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	if lost != nil {
		if _, err := a.stampTags(ctx, lost, ref); err != nil {
			return provider.Outcome{}, err
		}
		return adopted(lost), nil
	}
	own, err := a.preparePorts(ctx, ref, p, free, stamp)
	if err != nil {
		unknown = errors.Is(err, errContested)
		return provider.Outcome{}, err
	}
	found, err := a.theOne(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	if found != nil {
		a.takeBack(ctx, own.made)
		return adopted(found), nil
	}
	if !a.pool.leases.usable(stamp) {
		return provider.Outcome{}, busy("getting ready to make the VM took too long; it is looked at again", goingAgain)
	}
	made, err := a.post(ctx, ref, spec, p, own.ready)
	if err != nil {
		unknown = !certainlyNotDone(err)
		a.known.forget()
		return provider.Outcome{}, err
	}
	return provider.Outcome{Made: &provider.Made{InstanceID: made.ID, ImageID: p.image, SecurityGroups: groupsOf(p.ports)}}, nil
}

// post asks Nova for the VM. The admin password in its answer is left where it is.
func (a actor) post(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec, p plan, ready []*ports.Port) (*servers.Server, error) {
	compute, err := a.compute(ctx)
	if err != nil {
		return nil, err
	}
	networks := make([]servers.Network, 0, len(ready))
	for _, port := range ready {
		networks = append(networks, servers.Network{Port: port.ID})
	}
	opts := servers.CreateOpts{
		Name: ref.Name, ImageRef: p.image, FlavorRef: p.flavor, AvailabilityZone: spec.AvailabilityZone, Networks: networks,
		Tags: tagsOf(ref), Metadata: metadataOf(ref, spec.Claim),
	}
	if spec.ConfigDrive {
		opts.ConfigDrive = &spec.ConfigDrive
	}
	if len(spec.UserData) > 0 {
		// Encoded here, always: the library leaves user data alone that happens to be base64 already.
		opts.UserData = []byte(base64.StdEncoding.EncodeToString(spec.UserData))
	}
	var hints servers.SchedulerHintOptsBuilder
	if p.group != "" {
		hints = servers.SchedulerHintOpts{Group: p.group}
	}
	made, err := servers.Create(ctx, compute, keypairs.CreateOptsExt{CreateOptsBuilder: opts, KeyName: spec.KeyName}, hints).Extract()
	if err = a.written("making the VM", err); err != nil {
		return nil, err
	}
	return made, nil
}

func metadataOf(ref provider.InstanceRef, claim string) map[string]string {
	m := map[string]string{provider.MetadataIdentity: ref.Identity, provider.MetadataOwner: ref.Owner}
	if claim != "" {
		m[provider.MetadataClaim] = claim
	}
	return m
}

// SPDX-License-Identifier: Apache-2.0

// Package openstack speaks with OpenStack clouds: Keystone for the way in, Nova for VMs, Neutron for ports and floating IPs, Glance for
// images. It implements provider.CloudObserver and provider.CloudActor.
//
// What is ours is known by its marks (marks.go): tags, metadata and descriptions that name identity and owner. Whatever is adopted, changed
// or deleted is checked for them on our side, on a read of its own.
//
// A VM is created once (create.go): ports are made first, the first port carries a lease (lease.go) that one process holds at a time, and
// directly before the POST the cloud is asked once more for a VM of the identity.
//
// Requests of one cloud share a rate limit and the patience that the cloud asks for (transport.go). Tokens are renewed once when they are
// refused, and credentials that are refused are not tried again until they change or a growing pause has passed (session.go).
package openstack

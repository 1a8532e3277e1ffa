// SPDX-License-Identifier: Apache-2.0

// Package openstack pretends, on the wire, to be an OpenStack cloud of the release Zed: Keystone, Nova, Neutron
// and Glance, as far as virtual servers need them.
//
// A [Cloud] serves all four behind one loopback listener, each under a path of its own. Clients speak HTTP(S) to it
// and cannot tell more than a real cloud would tell. Tests and dev mode hold the other end: they set quotas, break
// servers, inject faults and, afterwards, read what really happened.
//
//	cloud, err := openstack.Start(openstack.Config{})
//	cloud.CloudsYAML()                          // credentials and auth_url, for clients
//	cloud.Befall(openstack.Mishap{Kind: openstack.MishapNoValidHost, Count: 2})
//	cloud.Inject(openstack.Fault{Kind: openstack.FaultDropReply, Method: "POST", Path: "/servers$", Count: 1})
//	cloud.Servers(); cloud.Ports()              // what is there
//	cloud.Events(openstack.EventFilter{})       // creates, deletes, rebuilds, power: never forgotten
//	cloud.Totals()                              // requests by service, method and route
//
// # Parts
//
//   - An [Inventory] is what the operator offers: flavors, images, networks, zones, users, quotas.
//   - A [Behaviour] is how the services answer, changed while they run: the newest microversion, the size of pages,
//     how long tokens last.
//   - A [Fault] strikes single requests, a number of times or until cleared: delay, hang, a connection dropped
//     before or after acting, errors with Retry-After, broken JSON, listings without rows.
//   - A [Mishap] strikes servers below the API: no valid host, a build, rebuild or delete that fails.
//   - The levers (levers.go) are other people and the machine room: a server errs and heals, is deleted, vanishes, is
//     missing from listings; a port or floating IP is moved.
//   - The request log is bounded and says what was asked; its totals are never lost. The log of events is unbounded
//     and says what was done. Judges of fault campaigns read only these, and the views (view.go).
//
// The same levers are offered as JSON over a control endpoint (see [Config].Control and control.go).
//
// # Truth
//
// Answers were compared with those of a real cloud: the members of each resource are checked against recordings
// (testdata/shapes.json), and what is odd there is odd here. Tags of listings are ignored without a word below
// 2.26. A full page links to a next one, which may be empty. A port's tags are dropped at creation, a floating IP's
// refused. A floating IP is taken from one port and given to another without a word. A rebuild shows the new image
// from the moment it is accepted, and moves launched_at. A port given to two servers at once is taken from both.
//
// Not simulated, and refused: volumes, other actions than start, stop, reboot and rebuild, changes of networks and
// of rules of security groups, what only an operator may do.
//
// # Time
//
// Servers are state machines against a clock (package clock): nothing runs for a server at rest. Delays of faults
// are wire time and always real, as the timeouts of clients are; so is the validity of certificates.
//
// # Locking
//
// One mutex guards everything. Exported methods take it through enter; unexported ones assume it is held, unless
// they say otherwise. Waiting (faults) and encoding happen outside it, so slices and maps of records are replaced
// and never changed in place.
//
// The simulator shares no code with the provider it serves and imports the standard library only.
package openstack

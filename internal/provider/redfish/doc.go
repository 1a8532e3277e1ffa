// SPDX-License-Identifier: Apache-2.0

// Package redfish is the provider of bare metal: it looks at and acts on machines through the Redfish service of their BMC.
//
// A Pool keeps one BMC per name. A BMC keeps one session and one lane: at most one request is on the wire, and acting
// calls overtake waiting looks (B163, B236). Through a BMC's Observer the monitor looks, through its Actor the
// reconciler acts; both share session and lane.
//
// How the files are cut:
//
//	options, pool, bmc         what a caller sees
//	gate, transport, wire      one request: lane, TLS, deadline, body
//	auth, root                 session or basic authentication, the service root
//	errors, message            every failure is given its class here, once (P12)
//	document, collection, link reading JSON field by field, paging, links
//	system, decode, capability finding one system and reading its state
//	inventory, drives          the slow facts, read at discovery and daily
//	discover, observe          provider.Observer
//	act, power, boot, stamp,
//	indicator                  provider.Actor
//
// The package sends its own requests and decodes its own documents, since a client library that fails a whole document
// for one odd field hides the rest of it (B135); the vocabulary of the schemas comes from gofish.
package redfish

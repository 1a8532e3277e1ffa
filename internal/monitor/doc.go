// SPDX-License-Identifier: Apache-2.0

// Package monitor LOOKS. It turns what providers say into status.observed of Server, BMC and Cloud and does nothing else: it is that
// region's only writer, and nobody else asks a provider how things are (P7).
//
// Read in this order: Monitor.Start and run (one scheduler), fleet (when each BMC is due), visit (one BMC, one request at a
// time), serverPicture (facts into the region), regions.write (the patch). For clouds: runClouds, clouds, lookAtCloud, asking.gather (three
// listings), virtualPicture.
//
//   - One heap of BMCs by the time they are due; a goroutine exists only while a BMC is being visited. A visit that outlives
//     Cadence.Patience gives its place to the next, so that BMCs that hang cost the others nothing (B231).
//   - A settled server is looked at slowly, an unsettled one on a ladder that starts anew with each change of its ledger or
//     spec. Whether it is unsettled is a pure question about the object as read: no channel from the reconciler.
//   - A picture bears the id of the intent that was read before the provider was asked (R4).
//   - A picture is written only when it means something else than the region as it stands, by a merge patch of
//     status.observed alone, locked to the resourceVersion it was computed against. A lost race is looked at again.
//   - A cloud is looked at in bulk: one listing of VMs, one of ports, one of floating IPs, whatever the number of servers. What is known
//     and missing from a listing is asked for by id, and only a 404 makes it gone (P10). A look at a cloud is one of all its servers:
//     however many are unsettled, no two looks begin within CloudCadence.Floor.
//   - Several failures in a row make unreachable, one success reachable. The facts are then the last ones seen, and they keep
//     the intent they were seen under.
package monitor

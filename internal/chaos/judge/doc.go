// SPDX-License-Identifier: Apache-2.0

// Package judge says whether a fault campaign's history keeps Holdfast's promise: that no loss, age or race of Kubernetes state powers
// off, wipes, rebuilds, deletes or duplicates a machine that carries a workload.
//
// It reads two records that are kept without Holdfast: what the simulators did, and what tenants and people asked for. It imports nothing
// of the product (test/arch sees to that) and knows no Kubernetes object: what it cannot see from outside, it does not excuse. [Judge] is
// a pure function from a history to a [Report].
//
// # Who has a machine
//
// A machine is a tenant's from the moment that the tenant's installer, or a VM with the tenant's user data, starts to run on it, until
// the tenant gives it up. A workload that belongs to no known tenant is a stranger's, who never gives up and never asks for anything:
// what cannot be attributed is judged most strictly.
//
// # When something was asked for
//
// Recorders run in one process, or at least on one clock. An ask holds from just before it was sent ([Event].At): an effect is asked for
// if the ask was there when the effect's request arrived at the provider ([Event].Arrived), not only when it was carried out. An ask that
// is taken back may still have effects on the wire, for [InFlight] after the API server acknowledged that ([Event].Acked). Nothing else is
// tolerated.
//
// # What is checked
//
// The names are those of the invariants in the design. What is of one store of Kubernetes alone (I5, I7) shows here by what it leads to.
//
//   - I1 no power-off, restart, armed boot, change of media, installation, rebuild or delete for a machine that a tenant has and did not
//     ask it for; I9 is the same where memory was taken away: from outside the two are one.
//   - I2 no delete of a VM that was launched, and no VM made anew in its place, while its tenant wants it.
//   - I3 no two VMs of one identity; when all has settled, no VM, port or address that nobody wants.
//   - I6 when all has settled, whoever did not give up still has the machine with the installation it had.
//   - I8 no tenant on two machines, no machine with two tenants.
//   - I10 no second installation for one claim.
//
// What takes memory away is an event too ([Forgot], [RestoredSnapshot]): the few things that nobody can know after it are told apart from
// violations, and counted, never silent. An event that excuses and does not say whom is a violation of the record itself.
package judge

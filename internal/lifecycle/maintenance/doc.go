// SPDX-License-Identifier: Apache-2.0

// Package maintenance decides about ServerMaintenance: when it may have its server, and how it gives it back. It is pure (P5).
//
// A server's spec.maintenanceRef is a lock. It is taken where it is nil, by compare-and-swap on the server, and never from a
// maintenance that has it (B054); the policy and the order of the queue only say who may try:
//
//   - a server that nobody has claimed is its platform team's: a maintenance takes it, whatever its policy;
//   - a claimed server is entered when the claim names this maintenance in holdfast.dev/maintenance-approved (OwnerApproval), or
//     without asking (Enforced). While a claim is being released its server is still claimed: no gap lets a maintenance in that
//     its owner did not approve (B055);
//   - of those that may enter, the oldest is first, then the first by name. One that may not does not stop the others.
//
// A maintenance ends by being deleted. Its finalizer makes that something seen (P10), and goes only once the server, read live,
// does not have the maintenance any more.
package maintenance

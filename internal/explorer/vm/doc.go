// SPDX-License-Identifier: Apache-2.0

// Package vm explores the life of virtual servers as package explorer does that of machines: virtual.Decide, claim.Decide and
// lifecycle.Patch as they run in production, in small worlds with a cloud, two managers, people and an adversary, breadth first and to the
// end, with the invariants I1 to I9 checked on every step.
//
// Read in this order: State (what a world is made of), moves (who can do what in it), the cloud (what an effect does to it), check.
// docs/explorer-virtual.md says what is proven, what is assumed, and what is not.
package vm

// SPDX-License-Identifier: Apache-2.0

// Package explorer walks, breadth first and to the end, through every state that a small world of servers and claims can get into, and
// checks the invariants of the lifecycle (I1 to I10) on every step.
//
// What is explored is the production code: metal.Decide, claim.Decide, maintenance.Decide and lifecycle.Patch, called as the
// reconcilers call them. Around them a World is played: an API server that compares and swaps and refuses what the real one refuses,
// two managers of which one may lag or stall at any point of a pass, the monitor, people, the machine, and an adversary that loses,
// ages and restores memory.
//
// Deciding is pure (P5), so each decision is made once for each distinct view and remembered: a state is a few small numbers, and
// millions of them are visited in seconds.
//
// Read in this order: State (what a world is made of), moves (who can do what in it), check (what must never happen), Explore.
// docs/explorer.md says what is proven, what is assumed, and what is not.
package explorer

// SPDX-License-Identifier: Apache-2.0

// Package explain answers, about one object, what Holdfast makes of it: its phase and the rule that gave it, the next step, why it is
// not ready, what a person can do, and what is remembered. It asks the production decision on a live reading of the object, so it says
// what the operator would do now and not what a status said some time ago (P1, P2).
//
// It only reads, and needs no more rights than the ClusterRole holdfast-viewer has. What it may not see it says.
package explain

// SPDX-License-Identifier: Apache-2.0

// Package clock is the time that simulators live by: a [Clock] that can stand still, and an [Agenda] of
// what happens when. Nothing runs for a simulated machine at rest; what is due is carried out, in order of
// its due time, by whoever enters next, so that what a caller sees is never behind the clock.
package clock

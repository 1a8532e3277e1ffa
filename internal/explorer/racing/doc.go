// SPDX-License-Identifier: Apache-2.0

// Package racing tells tests of the explorers whether the race detector is on: with it a world takes ten times as long to its end, and
// `make explore` explores all of them without. Under it they play the small ones, enough for every goroutine to meet every other.
package racing

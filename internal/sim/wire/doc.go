// SPDX-License-Identifier: Apache-2.0

// Package wire is what simulators that speak HTTP do alike below the protocols they pretend: requests that wait or
// hang, a crash that must not pass for a fault, a CA of their own, files that are replaced at once.
package wire

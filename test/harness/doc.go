// SPDX-License-Identifier: Apache-2.0

// Package harness is the kit of the integration tests on the whole stack: a real API server with the manifests that an installation
// applies, a rack of simulated BMCs, and managers that act under the operator's own rights.
//
// The tests of a package share one [Suite], started by its TestMain through [Main]. Each test takes a [Kit] from it: names of its own, a
// namespace of its own, machines of its own, a tenant without any right but the tenant's. Tests wait for facts with a deadline
// ([Kit.Until]) and never for time; that nothing happens is shown by waiting until the monitor has looked several times
// ([Kit.Watched]) and counting what reached the machines meanwhile ([Kit.Since]).
//
// A failing test prints the objects it made and what was last asked of its BMCs.
package harness

// SPDX-License-Identifier: Apache-2.0

// Package metal decides about a server of bare metal: Decide(View) Decision, pure (P5).
//
// Read decide.go (the whole of it is one screen), then table.go (the phases, P2), then the file of each phase: its clauses in
// order, the first that applies gives the step. Every clause has a name; the step it gives bears it ("Reserved.Starting.PowerOn"), and
// so does the test case that shows it.
//
//	first.go        what outranks every phase: holds, take-over, resume
//	initial.go      memory: finalizer, identity, owner, object-uid
//	discovery.go    available.go  cleaning.go
//	reserved.go     unbooted.go  booting.go  starting.go  booted.go: a claim has the machine
//	releasing.go    released.go  maintenance.go  deleting.go
//	poweroff.go     the one way by which anything is switched off: explained, announced, graceful, forced (P6, P13)
//	state.go power.go stamp.go claims.go: what the predicates see, beside what every server has (package rules)
//	report.go       conditions and gates
package metal

// SPDX-License-Identifier: Apache-2.0

// Package virtual decides about a virtual server: Decide(View) Decision, pure (P5).
//
// Read decide.go (the whole of it is one screen), then table.go (the phases, P2), then the file of each phase: its clauses in
// order, the first that applies gives the step. Every clause has a name; the step it gives bears it ("Creating.Create"), and so does
// the test case that shows it. What a machine of metal has too is in package rules.
//
//	first.go        what outranks every phase: holds, take-over, resume, abandon
//	initial.go      memory: finalizer, identity, owner, object-uid
//	creating.go     retrying.go: until the first launch
//	running.go      network.go  rebuilding.go: the VM is there
//	lost.go         where there is no VM any more, or the cloud calls it broken
//	releasing.go    maintenance.go  deleting.go
//	power.go        on, off and restart, each destructive one announced (P6)
//	state.go vm.go  what the predicates see
//	record.go       what is remembered of what an effect made
//	report.go       conditions and gates
//	questions.go    what claims, the monitor and explain ask of a server alone
package virtual

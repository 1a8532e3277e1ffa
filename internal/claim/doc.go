// SPDX-License-Identifier: Apache-2.0

// Package claim BINDS. It is pure, like package lifecycle (P5): Decide looks at one ServerClaim and at what concerns it, and
// answers with one step; Match finds a server for a claim.
//
// The order of a binding is its safety. The claim chooses first, in writing (spec.serverName); the server agrees second
// (spec.claimRef, only where it is nil, by resourceVersion); the claim remembers third (ledger `bound`), before the machine boots
// for the first time. So one claim never holds two servers, whatever is lost in between (I8):
//
//	claim   finalizer + identity
//	claim   spec.serverName            chosen on a live list, so that a server that already bears this claim is found (B049)
//	server  spec.claimRef              compare-and-swap: nil becomes this claim, or the uid is stamped anew after a restore (B046)
//	server  boot: Booting              (package metal)
//	claim   bound: <server identity>   from now on the claim may have booted there: it never chooses anew
//	server  boot: Starting, ...        (package metal; waits for bound)
//
// Release is the way back: the claim's finalizer goes only when the server, read live, no longer has the claim.
//
// Every step but the very first is decided on a live view (Step.Live): it rests on what was not found (P10).
package claim

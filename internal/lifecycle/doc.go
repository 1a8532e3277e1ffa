// SPDX-License-Identifier: Apache-2.0

// Package lifecycle DECIDES. It is pure: no client, context, clock or logger (P5). The reconciler reads a View, calls Decide
// (package server chooses metal or virtual), does the one Step it got, and returns (P4).
//
// Read in this order: View (what a decision may look at), Decision and Step (what it answers), Patch (what may be written),
// Effect (what may be asked of a provider), package rules (what deciding about any server has in common), then metal.Decide and
// virtual.Decide.
//
// The rules, numbered as everywhere in the project:
//
//	P1   Status is a report. Of an object's status only the monitor's region is in a View; the rest is never read.
//	P2   Phase is derived each pass, never stored.
//	P3   What must be remembered lives in metadata: the ledger (package ledger).
//	P4   One write ends the pass. A step that acts on a provider is decided again, wholly, on one live read.
//	P5   Deciding is pure. The time is in the View.
//	P6   Destruction needs a written intent, read back from the object by the pass that carries it out.
//	P7   The monitor alone looks, the reconciler alone acts.
//	P8   A settled object is silent.
//	P9   One status commit a pass; gates contribute, the worst decides.
//	P10  Absence is not evidence: of a claim, a server, a ledger, a row in a cache.
//	P11  Identity outlives UID.
//	P12  An error has a class, given at the provider's edge.
//	P13  Unexplained power is held.
package lifecycle

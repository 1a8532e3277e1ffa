// SPDX-License-Identifier: Apache-2.0

// Package rules is what deciding about a server has in common whatever the server is: phases as lists of clauses of which the first that
// applies decides (Steps), what a clause answers (Answer), what a view says of the object, its ledger and its claim (State), and the
// holds that outrank every phase (Before, Ownership, Consents, Snapshot).
//
// It is pure, as all that decides (P5).
package rules

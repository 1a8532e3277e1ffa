// SPDX-License-Identifier: Apache-2.0

// Package backup says, per object of a backup, what Holdfast would do after it was restored.
//
// Nothing of that is written down here a second time: the objects are put into a world in memory as a restore leaves them (no status, a
// new UID, what they name cross-checked within the backup), and the production decisions about servers, claims and maintenances play in
// it until all is at rest. A backup cannot tell how the machines will be then, so each server is tried as it is remembered to be, and as
// it may be instead: Off, On, with its own stamp, without one, with another claim's; its VM there, stopped, gone, another cluster's.
//
// Read in this order: Read and Live (where objects come from), restored (what a restore makes of one), conditions (how its machine may
// be), play (the decisions at work), Check and Report (what is told).
package backup

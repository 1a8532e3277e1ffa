// SPDX-License-Identifier: Apache-2.0

// Package cloudinit makes what a server is given as user data out of what its user wrote and the SSH certificate authorities that it
// must trust. It is pure: bytes in, bytes out; no Kubernetes object, clock, network or randomness, and the same input gives the same
// output.
//
// Three rules decide everything here.
//
// What the user wrote stays as it is. Without an authority, user data are handed on byte for byte; they are compressed only where they
// would not fit otherwise and the guest is known to decompress them. With one, cloud-init is given a MIME archive whose first parts are
// the user's, unchanged, and Ignition a config that merges the user's, unchanged.
//
// What is ours comes last. In cloud-init the later part's merge type decides how two parts become one, in Ignition the later config
// overrides the earlier: only there can ours promise that it neither replaces a list of the user's nor is replaced by one (B216).
//
// What cannot be done is said before anything is made for it: in user data of a form that is not known, or of an Ignition that cannot
// merge, an authority would be lost silently or the guest would not understand what it is given (B218), and user data that exceed
// what the compute API takes are refused by it only after ports exist (B213). Such an Error is terminal: only other user data, or other
// authorities, help.
//
// Nothing here quotes user data: an Error names forms, sizes, paths of ours and places in a document.
package cloudinit

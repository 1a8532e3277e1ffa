// SPDX-License-Identifier: Apache-2.0

// Package arch checks by machine what the design asks of the whole tree: which
// package may know which (imports_test.go), who may write what and who may look at
// a clock (source_test.go), and the form of files (tree_test.go).
//
// Each rule is a row of a table with the reason it exists. Each checker is shown to
// fail on a small example before it is trusted with the tree.
package arch

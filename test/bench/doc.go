// SPDX-License-Identifier: Apache-2.0

// Package bench measures what Holdfast costs and how fast it is, and sets it beside what was aimed at: six tables, written as Markdown as
// soon as each is measured. `make bench` takes them at full size, `make bench-quick` small; CI takes them tiny, so that every
// path is run, and fails where a count misses its aim. Times depend on the machine and fail nothing.
//
// Counts are taken from the API server's audit log and the simulators' logs, processor time and memory from the kernel's figures of a
// manager in a process of its own, with the flags it has by default in a run of full size, and with those that the document names in others.
package bench

// SPDX-License-Identifier: Apache-2.0

// Package redfish pretends, on the wire, to be a rack of servers with Redfish management controllers.
//
// A [Rack] holds any number of simulated [BMC]s, each on its own loopback address behind one shared
// listener, and each with one or more [Machine]s. Clients speak HTTP(S) to it and cannot tell more than
// a real BMC would tell. Tests and dev mode hold the other end: they add machines, pull cables, inject
// faults and, afterwards, read what really happened.
//
//	rack, err := redfish.NewRack(redfish.Config{})
//	bmc, err := rack.AddBMC(redfish.BMCSpec{Name: "rack1-u07"})
//	bmc.Endpoint()                              // https://127.1.0.1:41234
//	bmc.Machine("1").PowerOffByTenant()
//	bmc.Inject(redfish.Fault{Kind: redfish.FaultDropReply, Method: "POST", Path: "Reset", Count: 1})
//	rack.MachineLog(redfish.EventFilter{})      // resets, power, boots, installs, stamps: never forgotten
//	rack.Requests(redfish.RequestFilter{})      // the last requests, bodies redacted
//
// # Parts
//
//   - A [Profile] is the nature of a BMC model: its names, which reset types and boot targets it has, how
//     it pages. [Conforming] does what the schemas say; [Profiles] lists it and the models of vendors made
//     from it.
//   - A [Behaviour] is its mood, changed while it runs: it ignores shutdowns, shows On while a machine is
//     still going down, makes tasks of resets, refuses asset tags.
//   - An [Ailment] is a behaviour or faults that a model is known for, by name; [BMC.Suffer] switches it on.
//   - A [Fault] strikes single requests, a number of times or until cleared: delay, hang, a connection
//     dropped before or after acting, errors, broken JSON.
//   - A [Program] is what boots over the network or from virtual media: it installs and reboots, powers
//     off, or runs live.
//   - The request log is bounded and says what was asked; its totals are never lost. The machine log is
//     unbounded and says what was done. Judges of fault campaigns read only these.
//
// The same levers are offered as JSON over a control endpoint (see [Config].Control and control.go).
//
// # Time
//
// Machines are state machines against a [Clock]: nothing runs for a machine at rest. What is due is
// carried out, in order of its due time, by whoever enters next (a request, a method, or the one timer
// of the rack), so what a caller sees is never behind the clock. Delays of faults are wire time and
// always real, as the timeouts of clients are; so is the validity of certificates.
//
// # Locking
//
// One mutex of the rack guards everything. Exported methods take it through [Rack.enter]; unexported
// ones assume it is held, unless they say otherwise. Waiting (faults, streams) happens outside it.
//
// The simulator shares no code with the provider it serves and imports the standard library only.
package redfish

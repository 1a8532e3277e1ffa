// SPDX-License-Identifier: Apache-2.0

// Package watch makes events for package judge of what the simulators say that was done to machines and VMs.
//
// Who runs on a machine is known by what it boots, and by nothing of Kubernetes: tenants of a campaign boot images whose address names
// them ([ImageURL]), and VMs with user data that name them ([UserData]). What names nobody is a stranger's.
//
// The simulators' logs of effects are unbounded and numbered. A watcher takes over what is new each time that it is asked, and says so
// if a number is missing; at the end it compares what the log told with what is there ([Rack.Compare], [Cloud.Compare]).
package watch

// SPDX-License-Identifier: Apache-2.0

// Package devmode runs all of Holdfast on one machine: a control plane (package testenv), a rack of simulated BMCs (package
// sim/redfish), a simulated cloud (package sim/openstack), what an installation applies (package config), and a manager in this process. Nothing in it knows anything of how
// servers are run: what is seen in dev mode is what the operator does anywhere.
//
// Its state is kept in a folder. Machines and VMs go on "running" there while dev mode is stopped, so that a later start finds them as a real
// rack or cloud would be found: the operator must then take no action at all.
//
// Package tour drives it through a script that checks each step.
package devmode

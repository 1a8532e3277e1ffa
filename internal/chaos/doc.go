// SPDX-License-Identifier: Apache-2.0

// Package chaos runs the fault campaign: Holdfast's promise on the real stack, under everything that goes wrong at once.
//
// A campaign is a real API server and etcd, two manager processes of which one leads, simulated machines and a simulated cloud, tenants
// that claim, use and give up machines, and a driver that does one fault after another. What is done when, to whom, is a [Plan]: a pure
// function of seed, duration and size. What comes of it is judged by package judge from two records that Holdfast has no part in: what the
// simulators did, and what tenants and people asked for. When the faults have stopped everything must come to rest or be held for a reason,
// and a person who does as the runbook says must get all that is held going again.
//
// The faults are one table, [Faults]: a newcomer adds a line there and a function beside it.
package chaos

// SPDX-License-Identifier: Apache-2.0

// Package lab is what the virtual suite needs of a real OpenStack, beside the code under test and sharing nothing with it:
//
//   - [Stack] finds the cloud and handles its services: stop, pause, faults, tokens that die;
//   - [Project] is a project of one test, with a user, a network, a router and quotas of its own, so that tests run beside each other
//     and whatever is in the project is the test's;
//   - [Listing] is what Nova and Neutron say is there, [Chronicle] what Nova remembers having been asked, and [Expected] judges both;
//   - [Proxy] stands between an operator and the services of one project: it keeps a log of what was asked and strikes requests, before
//     they reach the service or after.
//
// The requests are plain HTTP, so that a mistake of a client library cannot hide in both the operator and its judge.
package lab

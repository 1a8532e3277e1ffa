// SPDX-License-Identifier: Apache-2.0

// Package provider holds the contracts between Holdfast and what it runs machines through: facts, acting calls
// with their preconditions, and error classes. It knows no Kubernetes object.
//
// Looking and acting are apart: the monitor alone uses an Observer, the reconciler alone uses the acting interfaces (P7).
//
// Every acting call
//   - MUST name the state it relies on (Expect), check it on the same connection directly before it acts, and answer an
//     error of class Mismatch, without having acted, where the machine is not as expected;
//   - MUST be idempotent, honour its context's deadline, start the work and return: completion arrives as a fact;
//   - MUST answer with exactly one error class (P12);
//   - MUST NOT repeat a write whose outcome is unknown: it looks first.
package provider

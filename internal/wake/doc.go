// SPDX-License-Identifier: Apache-2.0

// Package wake says what wakes a reconciler, and counts it (metric holdfast_wakes_total).
//
// A reconciler sleeps until a fact changes (P7): its watch passes an update when, and only when, one of the Changes named
// for it moved. Its own status writes are none of them, nor is the repetition of an unchanged object, so a settled object is
// silent (P8). Wakes are speed and not liveness: every step that waits has a timer behind it.
//
// A controller watches its own kind with On, and kinds that are mapped to its own with When and Mapped:
//
//	builder.
//		Watches(&v1alpha1.Server{}, wake.Paced(pace), builder.WithPredicates(wakes.On("server", wake.All()...))).
//		Watches(&v1alpha1.ServerClaim{}, wakes.Mapped("server", wake.CauseClaim, serversOfClaim),
//			builder.WithPredicates(wake.When(wake.Deletion, wake.Spec, wake.Ledger, wake.Verb)))
package wake

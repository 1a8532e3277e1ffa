// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of holdfast.dev/v1alpha1, their condition types and reasons, and the annotations,
// labels and finalizers Holdfast uses. It imports apimachinery only, so that other programs can use it cheaply.
//
// A Server is to a ServerClaim what a PersistentVolume is to its claim. What has to be remembered about an object lives in its
// metadata (annotations under ledger.holdfast.dev/, rule P3); status is a report and never read to decide (P1).
//
// +kubebuilder:object:generate=true
// +groupName=holdfast.dev
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package apiserver is what the explored worlds take the API server to do with a write, written once for all of them: its contents, what it
// refuses, and when an object goes. A rule of the schema or of admission that changes, changes here for every world.
package apiserver

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Refuses says that not even the operator may make after of before: by the schema's rules, the admission policy, or the API server's own.
func Refuses(before, after metav1.Object) bool {
	if changes(before, after, ledger.KeyIdentity) || adopts(before, after) {
		return true
	}
	was, is := server(before), server(after)
	if was == nil || is == nil {
		return false
	}
	return changes(was, is, ledger.KeyProvisionedAt) || passesOn(was.Spec.ClaimRef, is.Spec.ClaimRef)
}

// changes says that an entry that is written once changes, or goes.
func changes(before, after metav1.Object, key string) bool {
	was := before.GetAnnotations()[key]
	return was != "" && after.GetAnnotations()[key] != was
}

// adopts says that an object that is being deleted gets a finalizer that it had not.
func adopts(before, after metav1.Object) bool {
	if before.GetDeletionTimestamp() == nil {
		return false
	}
	return slices.ContainsFunc(after.GetFinalizers(), func(f string) bool { return !slices.Contains(before.GetFinalizers(), f) })
}

// passesOn says that a server goes from one claim to another without being free in between: while set, everything but the UID stays.
func passesOn(before, after *v1alpha1.ClaimReference) bool {
	return before != nil && after != nil &&
		(before.Namespace != after.Namespace || before.Name != after.Name || before.Identity != after.Identity)
}

func server(object metav1.Object) *v1alpha1.Server {
	s, _ := object.(*v1alpha1.Server)
	return s
}

// Goes says that nothing keeps an object any more that is being deleted.
func Goes(object metav1.Object) bool {
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}

// GlassBroken are annotations whose ledger was replaced by that of old, as the API server lets people do it: with a word for why.
func GlassBroken(now, old map[string]string) map[string]string {
	out := WithLedger(now, old)
	if out == nil {
		out = map[string]string{}
	}
	out[v1alpha1.AnnotationBreakGlass] = "repair"
	return out
}

// WithLedger are annotations with the ledger of old in the place of their own; nil for none at all.
func WithLedger(now, old map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range now {
		if !strings.HasPrefix(key, v1alpha1.LedgerPrefix) {
			out[key] = value
		}
	}
	for key, value := range old {
		if strings.HasPrefix(key, v1alpha1.LedgerPrefix) {
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

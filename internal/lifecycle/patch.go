// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Patch is one write of one object's metadata and spec. Controllers and the explorer apply the same Patch, so what is explored is
// what runs. It is always sent with the resourceVersion of the object it was decided from.
type Patch struct {
	// Ledger entries to set, by full annotation key; an empty value removes the entry.
	Ledger map[string]string
	// Remove names annotations to remove: consents that this patch closes.
	Remove []string
	// AddFinalizer and RemoveFinalizer name a finalizer of ours; "" for none.
	AddFinalizer    string
	RemoveFinalizer string
	// ClaimRef and MaintenanceRef, of a Server: what the ref becomes.
	ClaimRef       *RefChange[v1alpha1.ClaimReference]
	MaintenanceRef *RefChange[v1alpha1.MaintenanceReference]
	// ServerName, of a ServerClaim: what spec.serverName becomes.
	ServerName *string
}

// RefChange sets a reference, or clears it where To is nil.
type RefChange[T any] struct{ To *T }

// Apply changes object as the patch says. Parts that the object's kind does not have are ignored.
func (p Patch) Apply(object metav1.Object) {
	p.applyAnnotations(object)
	p.applyFinalizers(object)
	switch o := object.(type) {
	case *v1alpha1.Server:
		if p.ClaimRef != nil {
			o.Spec.ClaimRef = p.ClaimRef.To
		}
		if p.MaintenanceRef != nil {
			o.Spec.MaintenanceRef = p.MaintenanceRef.To
		}
	case *v1alpha1.ServerClaim:
		if p.ServerName != nil {
			o.Spec.ServerName = *p.ServerName
		}
	}
}

// applyAnnotations never changes a map it was handed: objects out of a cache share theirs.
func (p Patch) applyAnnotations(object metav1.Object) {
	if len(p.Ledger) == 0 && len(p.Remove) == 0 {
		return
	}
	old := object.GetAnnotations()
	annotations := make(map[string]string, len(old)+len(p.Ledger))
	for key, value := range old {
		annotations[key] = value
	}
	for key, value := range p.Ledger {
		if value == "" {
			delete(annotations, key)
			continue
		}
		annotations[key] = value
	}
	for _, key := range p.Remove {
		delete(annotations, key)
	}
	object.SetAnnotations(annotations)
}

func (p Patch) applyFinalizers(object metav1.Object) {
	if p.AddFinalizer == "" && p.RemoveFinalizer == "" {
		return
	}
	var finalizers []string
	present := false
	for _, f := range object.GetFinalizers() {
		if f == p.RemoveFinalizer {
			continue
		}
		present = present || f == p.AddFinalizer
		finalizers = append(finalizers, f)
	}
	if p.AddFinalizer != "" && !present {
		finalizers = append(finalizers, p.AddFinalizer)
	}
	object.SetFinalizers(finalizers)
}

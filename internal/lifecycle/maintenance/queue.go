// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// first is the rival that goes before this maintenance; nil where none does. Only those count that may enter now.
func (v View) first() *v1alpha1.ServerMaintenance {
	var first *v1alpha1.ServerMaintenance
	for _, r := range v.Rivals {
		if !r.DeletionTimestamp.IsZero() || r.Spec.ServerRef.Name != v.Maintenance.Spec.ServerRef.Name || !v.admits(r) {
			continue
		}
		if before(r, v.Maintenance) && (first == nil || before(r, first)) {
			first = r
		}
	}
	return first
}

// before is the order of the queue: oldest first, then by name.
func before(a, b *v1alpha1.ServerMaintenance) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// admits says whether policy and owner let a maintenance of this server in.
func (v View) admits(m *v1alpha1.ServerMaintenance) bool {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || m.Spec.Policy == v1alpha1.MaintenanceEnforced {
		return true
	}
	return v.Claim != nil && v.Claim.Annotations[ledger.KeyIdentity] == ref.Identity && approves(v.Claim, m.Name)
}

// approves reads the claim's list. An approval names a maintenance, so it never serves another one.
func approves(c *v1alpha1.ServerClaim, name string) bool {
	for part := range strings.SplitSeq(c.Annotations[v1alpha1.AnnotationMaintenanceApproved], ",") {
		if strings.TrimSpace(part) == name {
			return true
		}
	}
	return false
}

func (v View) askApproval() string {
	ref := v.Server.Spec.ClaimRef
	return fmt.Sprintf("server %q belongs to claim %s/%s: waits until the claim approves it (annotation %s: %s) or is released",
		v.Server.Name, ref.Namespace, ref.Name, v1alpha1.AnnotationMaintenanceApproved, v.Maintenance.Name)
}

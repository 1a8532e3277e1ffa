// SPDX-License-Identifier: Apache-2.0

package backup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// restored is an object as a restore leaves it: what the API server gives is new (UID, version, times), a status is gone, and a deletion
// that was under way is forgotten. Ledger, consents and finalizers come back. A snapshot of etcd brings UIDs and deletions back too.
func (o Options) restored(item Item) client.Object {
	object := item.Object.DeepCopyObject().(client.Object)
	if !o.Snapshot {
		object.SetUID(newUID(item.Kind, object))
		object.SetGeneration(1)
		object.SetCreationTimestamp(metav1.NewTime(o.Now))
		object.SetDeletionTimestamp(nil)
		object.SetDeletionGracePeriodSeconds(nil)
	}
	object.SetManagedFields(nil)
	withoutStatus(object)
	guarded(object)
	return object
}

// withoutStatus takes the status away: of a snapshot it is one of another time, which the monitor replaces.
func withoutStatus(object client.Object) {
	switch o := object.(type) {
	case *v1alpha1.Server:
		o.Status = v1alpha1.ServerStatus{}
	case *v1alpha1.ServerClaim:
		o.Status = v1alpha1.ServerClaimStatus{}
	case *v1alpha1.ServerMaintenance:
		o.Status = v1alpha1.ServerMaintenanceStatus{}
	case *v1alpha1.BMC:
		o.Status = v1alpha1.BMCStatus{}
	case *v1alpha1.Cloud:
		o.Status = v1alpha1.CloudStatus{}
	case *v1alpha1.ServerClass:
		o.Status = v1alpha1.ServerClassStatus{}
	case *v1alpha1.SSHCertificateAuthority:
		o.Status = v1alpha1.SSHCertificateAuthorityStatus{}
	}
}

// newUID is not the one it had, and the same each time it is asked for.
func newUID(kind string, object client.Object) types.UID {
	return types.UID("restored-" + kind + "-" + nameOf(object))
}

// guarded puts the finalizer on what is used, which its controller does by itself before the first use.
func guarded(object client.Object) {
	switch object.(type) {
	case *v1alpha1.BMC, *v1alpha1.Cloud, *v1alpha1.ServerClass, *v1alpha1.SSHCertificateAuthority:
		controllerutil.AddFinalizer(object, v1alpha1.FinalizerInUse)
	}
}

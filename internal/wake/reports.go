// SPDX-License-Identifier: Apache-2.0

package wake

import (
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Reports knows the last status that one controller persisted of each object, so that a status which somebody else wiped or replaced is
// reported again while the controller's own writes wake nobody. It compares and never reads a status to decide (P1). Forgetting it costs
// one silent pass per object.
type Reports struct {
	mu      sync.Mutex
	written map[client.ObjectKey]string // resourceVersion
}

// Persisted notes that object, as the API server answered, bears what this controller reports.
func (r *Reports) Persisted(object client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written == nil {
		r.written = map[client.ObjectKey]string{}
	}
	r.written[client.ObjectKeyFromObject(object)] = object.GetResourceVersion()
}

// Forget drops what is kept of an object that is no more.
func (r *Reports) Forget(object client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, object)
}

// Changed moves with a reconciler's part of the status when another than this controller has written it.
func (r *Reports) Changed() Change {
	return Change{Cause: CauseStatus, Moved: func(before, after client.Object) bool {
		return !r.own(after) && reportMoved(before, after)
	}}
}

func (r *Reports) own(object client.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	version, known := r.written[client.ObjectKeyFromObject(object)]
	return known && version == object.GetResourceVersion()
}

// reportMoved compares the statuses less the monitor's region.
func reportMoved(before, after client.Object) bool {
	switch old := before.(type) {
	case *v1alpha1.Server:
		now, ok := after.(*v1alpha1.Server)
		return ok && !apiequality.Semantic.DeepEqual(serverReport(old.Status), serverReport(now.Status))
	case *v1alpha1.BMC:
		now, ok := after.(*v1alpha1.BMC)
		return ok && !apiequality.Semantic.DeepEqual(bmcReport(old.Status), bmcReport(now.Status))
	case *v1alpha1.Cloud:
		now, ok := after.(*v1alpha1.Cloud)
		return ok && !apiequality.Semantic.DeepEqual(cloudReport(old.Status), cloudReport(now.Status))
	case *v1alpha1.ServerClass:
		now, ok := after.(*v1alpha1.ServerClass)
		return ok && !apiequality.Semantic.DeepEqual(old.Status, now.Status)
	case *v1alpha1.SSHCertificateAuthority:
		now, ok := after.(*v1alpha1.SSHCertificateAuthority)
		return ok && !apiequality.Semantic.DeepEqual(old.Status, now.Status)
	case *v1alpha1.ServerClaim:
		now, ok := after.(*v1alpha1.ServerClaim)
		return ok && !apiequality.Semantic.DeepEqual(old.Status, now.Status)
	case *v1alpha1.ServerMaintenance:
		now, ok := after.(*v1alpha1.ServerMaintenance)
		return ok && !apiequality.Semantic.DeepEqual(old.Status, now.Status)
	}
	return false
}

func serverReport(status v1alpha1.ServerStatus) v1alpha1.ServerStatus {
	status.Observed = nil
	return status
}

func bmcReport(status v1alpha1.BMCStatus) v1alpha1.BMCStatus {
	status.Observed = nil
	return status
}

func cloudReport(status v1alpha1.CloudStatus) v1alpha1.CloudStatus {
	status.Observed = nil
	return status
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// fieldOwner owns status.observed in managedFields, and nothing else (B227).
const fieldOwner = client.FieldOwner("holdfast-monitor")

// writeResult is how writing a region ended: a value of the metric's label.
type writeResult string

const (
	writeNone   writeResult = "none"   // it says so already
	writeDone   writeResult = "done"   // written
	writeLost   writeResult = "lost"   // somebody else was first, or the picture is too old: look again
	writeFailed writeResult = "failed" // the API server did not take it
	writeGone   writeResult = "gone"   // there is no such object any more
)

// region is status.observed of one kind.
type region[O client.Object, R any] struct {
	kind string
	of   func(O) **R
	same func(stands, picture *R) bool
}

var serverRegion = region[*v1alpha1.Server, v1alpha1.ServerObserved]{
	kind: "Server",
	of:   func(s *v1alpha1.Server) **v1alpha1.ServerObserved { return &s.Status.Observed },
	same: sameServer,
}

var bmcRegion = region[*v1alpha1.BMC, v1alpha1.BMCObserved]{
	kind: "BMC",
	of:   func(b *v1alpha1.BMC) **v1alpha1.BMCObserved { return &b.Status.Observed },
	same: sameBMC,
}

var cloudRegion = region[*v1alpha1.Cloud, v1alpha1.CloudObserved]{
	kind: "Cloud",
	of:   func(c *v1alpha1.Cloud) **v1alpha1.CloudObserved { return &c.Status.Observed },
	same: sameCloud,
}

// observation is a picture on its way into an object.
type observation[O client.Object, R any] struct {
	base    O // as read before the provider was asked
	picture *R
	oldest  time.Time           // a picture begun before is not written: a process that was stopped meanwhile must not tell the past
	expect  func(digest uint64) // told the fingerprint of the region before the write, so that its echo is known
}

// write writes a picture into the region where it means something else. The patch is a merge patch of status.observed alone
// and bears a resourceVersion: that of the object as the cache has it now, provided that the region in it still is the one the
// picture was computed against. So the reconciler's writes during a look cost no lost race, while a newer picture of another
// monitor is never reverted.
func (r region[O, R]) write(ctx context.Context, m *Monitor, o observation[O, R], began time.Time) (writeResult, error) {
	stands := *r.of(o.base)
	if r.same(stands, o.picture) {
		o.expect(fingerprint(stands))
		return writeNone, nil
	}
	current, _ := o.base.DeepCopyObject().(O)
	if err := m.read(ctx, o.base.GetName(), current); err != nil {
		return r.refused(o.base, err)
	}
	if current.GetUID() != o.base.GetUID() {
		return writeGone, nil
	}
	if began.Before(o.oldest) || !apiequality.Semantic.DeepEqual(*r.of(current), stands) {
		return writeLost, nil
	}
	changed, _ := current.DeepCopyObject().(O)
	*r.of(changed) = o.picture
	o.expect(fingerprint(o.picture))
	ctx, cancel := context.WithTimeout(ctx, m.cadence.WriteDeadline)
	defer cancel()
	patch := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	if err := m.writer.Status().Patch(ctx, changed, patch, fieldOwner); err != nil {
		return r.refused(o.base, err)
	}
	return writeDone, nil
}

func (r region[O, R]) refused(object O, err error) (writeResult, error) {
	switch {
	case apierrors.IsNotFound(err):
		return writeGone, nil
	case apierrors.IsConflict(err):
		return writeLost, nil
	}
	return writeFailed, fmt.Errorf("%s %s: write status.observed: %w", r.kind, object.GetName(), err)
}

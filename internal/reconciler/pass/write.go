// SPDX-License-Identifier: Apache-2.0

// Package pass holds what every pass of a reconciler does the same way: send a patch that was decided, and report (P4, P9).
package pass

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Again is how soon a pass is tried again that read an old object, lost a race, or decided differently on a live view.
const Again = 250 * time.Millisecond

// Written is how a write of a decided patch ended.
type Written string

const (
	// Done: the API server has it.
	Done Written = "Done"
	// Lost: the object changed since it was read, or is gone. Not an error: the next pass decides from what is there now.
	Lost Written = "Lost"
)

// Write sends patch for object, guarded by the resourceVersion object was read with. It never retries: what was decided from an
// older object must be decided again (P4). Object itself is left as it was.
func Write(ctx context.Context, c client.Client, object client.Object, patch lifecycle.Patch) (Written, error) {
	changed := object.DeepCopyObject().(client.Object)
	patch.Apply(changed)
	err := c.Patch(ctx, changed, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{}))
	switch {
	case err == nil:
		return Done, nil
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return Lost, nil
	default:
		return Lost, fmt.Errorf("patch %s: %w", client.ObjectKeyFromObject(object), err)
	}
}

// Create makes object. A name that is taken, or an object of that name that is going, is a race lost: the next pass looks at what is there
// now.
func Create(ctx context.Context, c client.Client, object client.Object) (Written, error) {
	err := c.Create(ctx, object)
	switch {
	case err == nil:
		return Done, nil
	case apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err):
		return Lost, nil
	default:
		return Lost, fmt.Errorf("create %s: %w", client.ObjectKeyFromObject(object), err)
	}
}

// Delete asks for the deletion of the very object that was decided about, as it was then: another one of its name, or one that changed
// meanwhile, is looked at again (P10).
func Delete(ctx context.Context, c client.Client, object client.Object) (Written, error) {
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := c.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case err == nil:
		return Done, nil
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return Lost, nil
	default:
		return Lost, fmt.Errorf("delete %s: %w", client.ObjectKeyFromObject(object), err)
	}
}

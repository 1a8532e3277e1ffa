// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Part is a part of a status.
type Part string

// The parts of a status, as the merge patch that takes each away.
const (
	// Whole is all of it, the monitor's region too.
	Whole Part = `{"status":null}`
	// Report is what the reconcilers wrote.
	Report Part = `{"status":{"phase":null,"conditions":null,"machine":null,"observedGeneration":null}}`
)

// WipeStatus takes the whole status of an object away.
func (k *Kit) WipeStatus(object client.Object) {
	k.T.Helper()
	if err := k.wipe(k.T.Context(), object, Whole); err != nil {
		k.T.Fatal(err)
	}
}

func (k *Kit) wipe(ctx context.Context, object client.Object, part Part) error {
	if err := k.Admin.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(part))); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("wipe the status of %T %s: %w", object, object.GetName(), err)
	}
	return nil
}

// Wiping wipes a part of the status of objects over and over, every pause, until the returned function is called; that tells how many
// were wiped. Objects that do not exist, not yet or not any more, are passed over.
func (k *Kit) Wiping(part Part, pause time.Duration, objects ...client.Object) (stop func() int) {
	named := make([]client.Object, len(objects)) // of its own: the test reads into those it gave
	for i, object := range objects {
		named[i] = object.DeepCopyObject().(client.Object)
	}
	ctx, cancel := context.WithCancel(k.T.Context())
	done := make(chan int)
	go func() {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		wiped := 0
		for {
			select {
			case <-ctx.Done():
				done <- wiped
				return
			case <-ticker.C:
				wiped += k.wipeAll(ctx, part, named)
			}
		}
	}()
	return func() int {
		cancel()
		return <-done
	}
}

func (k *Kit) wipeAll(ctx context.Context, part Part, objects []client.Object) int {
	wiped := 0
	for _, object := range objects {
		err := k.wipe(ctx, object.DeepCopyObject().(client.Object), part)
		switch {
		case err == nil:
			wiped++
		case ctx.Err() == nil:
			k.T.Error(err)
		}
	}
	return wiped
}

// ReplaceStatus puts an older copy of an object's status in the place of the present one.
func (k *Kit) ReplaceStatus(old Conditioned) {
	k.T.Helper()
	k.Until("an older status put into "+old.GetName(), func(ctx context.Context) error {
		current := old.DeepCopyObject().(client.Object)
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(old), current); err != nil {
			return err
		}
		replaced := old.DeepCopyObject().(client.Object)
		replaced.SetResourceVersion(current.GetResourceVersion())
		replaced.SetUID(current.GetUID())
		return k.Admin.Status().Update(ctx, replaced)
	})
}

// Backup is a copy of an object as a backup tool restores it: without status, and without what the API server gives anew.
func Backup[T client.Object](k *Kit, object T) T {
	k.T.Helper()
	kept := Read(k, object).DeepCopyObject().(T)
	kept.SetUID("")
	kept.SetResourceVersion("")
	kept.SetGeneration(0)
	kept.SetCreationTimestamp(metav1.Time{})
	kept.SetDeletionTimestamp(nil)
	kept.SetDeletionGracePeriodSeconds(nil)
	kept.SetManagedFields(nil)
	switch o := client.Object(kept).(type) {
	case *v1alpha1.Server:
		o.Status = v1alpha1.ServerStatus{ObservedGeneration: -1}
	case *v1alpha1.ServerClaim:
		o.Status = v1alpha1.ServerClaimStatus{ObservedGeneration: -1}
	case *v1alpha1.ServerMaintenance:
		o.Status = v1alpha1.ServerMaintenanceStatus{ObservedGeneration: -1}
	case *v1alpha1.BMC:
		o.Status = v1alpha1.BMCStatus{ObservedGeneration: -1}
	case *v1alpha1.Cloud:
		o.Status = v1alpha1.CloudStatus{ObservedGeneration: -1}
	case *v1alpha1.ServerClass:
		o.Status = v1alpha1.ServerClassStatus{ObservedGeneration: -1}
	}
	return kept
}

// Restore creates an object from its backup. The backup can be restored again.
func (k *Kit) Restore(backup client.Object) {
	k.T.Helper()
	k.Create(backup.DeepCopyObject().(client.Object))
}

var withoutFinalizers = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))

// Destroy takes an object away as a disaster does: without its finalizers, so that nobody sees it being deleted, and faster than a
// manager can put them back.
func (k *Kit) Destroy(object client.Object) {
	k.T.Helper()
	key := client.ObjectKeyFromObject(object)
	defer k.StrikeAll(APIFault{Exact: "/" + object.GetName()})()
	k.Until(fmt.Sprintf("%T %s destroyed", object, object.GetName()), func(ctx context.Context) error {
		if err := k.Admin.Patch(ctx, object, withoutFinalizers); client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := k.Admin.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := k.Admin.Get(ctx, key, object.DeepCopyObject().(client.Object)); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there: %w", err)
		}
		return nil
	})
}

// BreakLedger changes entries of an object's ledger as somebody who may break the glass: null removes one.
func (k *Kit) BreakLedger(object client.Object, entries map[string]any) {
	k.T.Helper()
	annotations := map[string]any{v1alpha1.AnnotationBreakGlass: "test " + unique("glass")}
	for key, value := range entries {
		annotations[key] = value
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		k.T.Fatal(err)
	}
	if err := k.Admin.Patch(k.T.Context(), object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		k.T.Fatalf("break the ledger of %s: %v", object.GetName(), err)
	}
}

// DropLedger removes an object's whole ledger.
func (k *Kit) DropLedger(object client.Object) {
	k.T.Helper()
	entries := map[string]any{}
	for key := range Read(k, object).GetAnnotations() {
		if len(key) > len(v1alpha1.LedgerPrefix) && key[:len(v1alpha1.LedgerPrefix)] == v1alpha1.LedgerPrefix {
			entries[key] = nil
		}
	}
	k.BreakLedger(object, entries)
}

// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"path/filepath"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A snapshot brings back what was there and nothing else, and no revision is given out twice: what was read before the restore cannot be
// written over what came after it.
func TestASnapshotOfEtcdIsRestored(t *testing.T) {
	env := Run(t, Options{})
	api, err := client.New(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}, Data: map[string]string{"is": "old"}}
	if err := api.Create(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	if err := env.SnapshotEtcd(snapshot); err != nil {
		t.Fatal(err)
	}
	kept.Data["is"] = "new"
	later := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "later"}}
	if err := api.Update(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if err := api.Create(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if _, err := env.RestoreEtcd(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	if err := api.Update(t.Context(), kept); !apierrors.IsConflict(err) {
		t.Errorf("a write with a resourceVersion from after the snapshot: %v, want a conflict", err)
	}
	last := number(t, later.ResourceVersion)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(later), later); !apierrors.IsNotFound(err) {
		t.Errorf("what came after the snapshot: %v, want not found", err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil || kept.Data["is"] != "old" {
		t.Fatalf("%v (%v), want the old one", kept.Data, err)
	}
	kept.Data["is"] = "newest"
	if err := api.Update(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if now := number(t, kept.ResourceVersion); now <= last {
		t.Errorf("resourceVersion %d was given out again: there was %d", now, last)
	}
}

func number(t *testing.T, resourceVersion string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

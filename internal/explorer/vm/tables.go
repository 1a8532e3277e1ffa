// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

const (
	cluster    = "here"
	namespace  = "team"
	claimName  = "web"
	serverName = "own"
	className  = "small"
	cloudName  = "fra1"
	projectID  = "project-1"
)

// attempts is the budget of retries, smaller than the product's default: what holds for one holds for three.
const attempts = 1

func claimUID(n uint8) types.UID  { return types.UID("claim-" + strconv.Itoa(int(n))) }
func serverUID(n uint8) types.UID { return types.UID("server-" + strconv.Itoa(int(n))) }

func vmID(slot int) string { return "vm-" + strconv.Itoa(slot+1) }

// slotOf is the VM of an id; -1 for none.
func slotOf(vm string) int {
	for slot := range maxVMs {
		if vmID(slot) == vm {
			return slot
		}
	}
	return -1
}

func imageOf(image uint8) v1alpha1.ResourceSelector {
	return v1alpha1.ResourceSelector{Name: imageName(image)}
}

func imageName(image uint8) string { return "debian-" + strconv.Itoa(int(image)) }
func imageID(image uint8) string   { return "img-" + strconv.Itoa(int(image)) }

// imageNamed is the image that a name resolves to; 0 for none.
func imageNamed(name string) uint8 {
	for image := uint8(1); image <= 2; image++ {
		if imageName(image) == name {
			return image
		}
	}
	return 0
}

// Time stands still: what has a deadline is explored as if that had always passed, because EffectDeadline and CreateBackoff are 0.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func settings() lifecycle.Settings {
	s := lifecycle.DefaultSettings(cluster)
	s.EffectDeadline, s.CreateBackoff, s.CreateAttempts = 0, 0, attempts
	return s
}

// table gives each distinct content of one kind a number. Contents are never changed once they are in.
type table[T any] struct {
	ids  map[string]id
	list []T
}

func newTable[T any]() table[T] { return table[T]{ids: map[string]id{}, list: make([]T, 1)} }

func (t *table[T]) get(i id) T { return t.list[i] }

func (t *table[T]) intern(object T) id {
	raw, err := json.Marshal(object)
	if err != nil {
		panic("an object that cannot be rendered: " + err.Error())
	}
	if known, ok := t.ids[string(raw)]; ok {
		return known
	}
	i := id(len(t.list))
	t.ids[string(raw)] = i
	t.list = append(t.list, object)
	return i
}

// write is what the API server makes of a patch that was decided from a content: the new content, absent where it was the last
// finalizer of an object being deleted, and whether it was refused (admission policy, 422).
type write struct {
	next    id
	refused bool
}

func (x *explorer) writeServer(from id, patch *lifecycle.Patch) write {
	before := x.servers.get(from)
	after := before.DeepCopy()
	patch.Apply(after)
	if refused(before, after) || memoryGoes(before, after) {
		return write{next: from, refused: true}
	}
	if goes(after) {
		return write{next: absent}
	}
	return write{next: x.servers.intern(after)}
}

func (x *explorer) writeClaim(from id, patch *lifecycle.Patch) write {
	before := x.claims.get(from)
	after := before.DeepCopy()
	patch.Apply(after)
	if refused(before, after) {
		return write{next: from, refused: true}
	}
	if goes(after) {
		return write{next: absent}
	}
	return write{next: x.claims.intern(after)}
}

// refused is what the API server does not let even the operator do.
func refused(before, after metav1.Object) bool {
	was := before.GetAnnotations()[ledger.KeyIdentity]
	if was != "" && after.GetAnnotations()[ledger.KeyIdentity] != was {
		return true // write-once
	}
	if before.GetDeletionTimestamp() == nil {
		return false
	}
	for _, f := range after.GetFinalizers() {
		if !slices.Contains(before.GetFinalizers(), f) {
			return true // no finalizer is added to an object being deleted
		}
	}
	return false
}

// memoryGoes: the first launch, once remembered, neither changes nor goes.
func memoryGoes(before, after *v1alpha1.Server) bool {
	was := before.Annotations[ledger.KeyProvisionedAt]
	return was != "" && after.Annotations[ledger.KeyProvisionedAt] != was
}

func goes(object metav1.Object) bool {
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}

// deleted is what an object becomes that somebody deletes.
func deleted(object metav1.Object) {
	if object.GetDeletionTimestamp() == nil {
		t := metav1.NewTime(now)
		object.SetDeletionTimestamp(&t)
	}
}

// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// table gives each distinct content of one kind a number. Contents are never changed once they are in.
type table[T any] struct {
	ids  map[string]id
	list []T
}

func newTable[T any]() table[T] {
	return table[T]{ids: map[string]id{}, list: make([]T, 1)}
}

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

// Time is abstract: within an era nothing that has a deadline has reached it, unless a pass is made late, and then everything has.
// What a late pass writes is dated as if it were early, so that time never adds states.
var epochStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const maxEra = 3

func askedIn(era uint8) time.Time { return epochStart.Add(time.Duration(era) * 24 * time.Hour) }
func early(era uint8) time.Time   { return askedIn(era).Add(time.Hour) }
func late(era uint8) time.Time    { return early(era).Add(12 * time.Hour) }

var undate = func() *strings.Replacer {
	var pairs []string
	for era := range uint8(maxEra + 1) {
		pairs = append(pairs, late(era).Format(time.RFC3339Nano), early(era).Format(time.RFC3339Nano))
	}
	return strings.NewReplacer(pairs...)
}()

func undated(annotations map[string]string) map[string]string {
	if len(annotations) == 0 {
		return nil
	}
	out := make(map[string]string, len(annotations))
	for key, value := range annotations {
		out[key] = undate.Replace(value)
	}
	return out
}

// eraOf tells in which era a time is: restarts are asked for at the start of one.
func eraOf(t *metav1.Time) int {
	if t == nil {
		return -1
	}
	return int(t.Sub(epochStart) / (24 * time.Hour))
}

// write is what the API server makes of a patch that was decided from a content: the new content, absent where it was the last
// finalizer of an object being deleted, and whether it was refused (CEL, admission policy, 422).
type write struct {
	next    id
	refused bool
}

func (x *explorer) writeServer(from id, patch *lifecycle.Patch) write {
	before := x.servers.get(from)
	after := before.DeepCopy()
	patch.Apply(after)
	after.Annotations = undated(after.Annotations)
	if refused(before, after) || claimRefChanged(before.Spec.ClaimRef, after.Spec.ClaimRef) {
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
	after.Annotations = undated(after.Annotations)
	if refused(before, after) {
		return write{next: from, refused: true}
	}
	if goes(after) {
		return write{next: absent}
	}
	return write{next: x.claims.intern(after)}
}

func (x *explorer) writeMaintenance(from id, patch *lifecycle.Patch) write {
	before := x.maintenances.get(from)
	after := before.DeepCopy()
	patch.Apply(after)
	if refused(before, after) {
		return write{next: from, refused: true}
	}
	if goes(after) {
		return write{next: absent}
	}
	return write{next: x.maintenances.intern(after)}
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

// claimRefChanged: while set, everything but the UID stays.
func claimRefChanged(before, after *v1alpha1.ClaimReference) bool {
	return before != nil && after != nil &&
		(before.Namespace != after.Namespace || before.Name != after.Name || before.Identity != after.Identity)
}

func goes(object metav1.Object) bool {
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}

// SPDX-License-Identifier: Apache-2.0

package wake

import (
	"maps"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Cause is why an object was woken: a value of the metric's label.
type Cause string

const (
	CauseCreate      Cause = "create"      // new to this process: created, or listed after a start
	CauseDeletion    Cause = "deletion"    // deletion asked for, a finalizer moved, or gone
	CauseSpec        Cause = "spec"        // generation
	CauseLedger      Cause = "ledger"      // what is remembered (P3)
	CauseVerb        Cause = "verb"        // a person's consent
	CauseLabels      Cause = "labels"      // claims match by them
	CauseObserved    Cause = "observed"    // the monitor's region
	CauseStatus      Cause = "status"      // the reconciler's report, wiped or replaced by somebody else
	CauseClaim       Cause = "claim"       // mapped from a ServerClaim
	CauseMaintenance Cause = "maintenance" // mapped from a ServerMaintenance
	CauseDependency  Cause = "dependency"  // mapped from what an object uses: a BMC, a secret
)

// Change is one named way in which an object can move.
type Change struct {
	Cause Cause
	// Moved compares two states of one object. It must not modify them.
	Moved func(before, after client.Object) bool
}

// The changes that wake. None of them moves by a reconciler's own status write.
var (
	// Deletion moves with deletionTimestamp and with the set of finalizers.
	Deletion = Change{Cause: CauseDeletion, Moved: deletionMoved}
	// Spec moves with the generation, which the API server raises for spec and deletion alone.
	Spec = Change{Cause: CauseSpec, Moved: specMoved}
	// Ledger moves with any ledger annotation.
	Ledger = Change{Cause: CauseLedger, Moved: annotationMoved(v1alpha1.LedgerPrefix)}
	// Verb moves with any annotation by which a person speaks to Holdfast.
	Verb = Change{Cause: CauseVerb, Moved: annotationMoved(v1alpha1.VerbPrefix)}
	// Labels moves with any label; they leave the generation as it is.
	Labels = Change{Cause: CauseLabels, Moved: labelsMoved}
	// Observed moves with the meaning of status.observed. A parked object lives by it: a fault that clears at the provider
	// un-parks it here and nowhere else. Writes that carry the region back unchanged do not move it.
	Observed = Change{Cause: CauseObserved, Moved: observedMoved}
)

// All returns every change of an object itself, the most telling first: deletion raises the generation too.
func All() []Change { return []Change{Deletion, Spec, Ledger, Verb, Labels, Observed} }

// First returns the cause of the first of changes that moved. An update that replaced the object by another of the same
// name (a watch that missed the deletion) is a creation, whatever changes are asked for.
func First(before, after client.Object, changes ...Change) (Cause, bool) {
	if before.GetUID() != after.GetUID() {
		return CauseCreate, true
	}
	for _, change := range changes {
		if change.Moved(before, after) {
			return change.Cause, true
		}
	}
	return "", false
}

func deletionMoved(before, after client.Object) bool {
	return !before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) ||
		!sets.New(before.GetFinalizers()...).Equal(sets.New(after.GetFinalizers()...))
}

func specMoved(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration()
}

func labelsMoved(before, after client.Object) bool {
	return !maps.Equal(before.GetLabels(), after.GetLabels())
}

// annotationMoved compares the annotations below a prefix without copying them: it runs on every event.
func annotationMoved(prefix string) func(before, after client.Object) bool {
	missingOrOther := func(some, others map[string]string) bool {
		for key, value := range some {
			if !strings.HasPrefix(key, prefix) {
				continue
			}
			if other, found := others[key]; !found || other != value {
				return true
			}
		}
		return false
	}
	return func(before, after client.Object) bool {
		old, now := before.GetAnnotations(), after.GetAnnotations()
		return missingOrOther(old, now) || missingOrOther(now, old)
	}
}

// observedMoved compares meaning: times and quantities by value, an absent list as an empty one.
func observedMoved(before, after client.Object) bool {
	switch old := before.(type) {
	case *v1alpha1.Server:
		now, ok := after.(*v1alpha1.Server)
		return ok && !apiequality.Semantic.DeepEqual(old.Status.Observed, now.Status.Observed)
	case *v1alpha1.BMC:
		now, ok := after.(*v1alpha1.BMC)
		return ok && !apiequality.Semantic.DeepEqual(old.Status.Observed, now.Status.Observed)
	case *v1alpha1.Cloud:
		now, ok := after.(*v1alpha1.Cloud)
		return ok && !apiequality.Semantic.DeepEqual(old.Status.Observed, now.Status.Observed)
	}
	return false
}

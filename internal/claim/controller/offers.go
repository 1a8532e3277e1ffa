// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// offers passes the servers that may be had now and could not before, by what matching looks at. Whatever else moves of a free server (its
// health, its indicator) concerns no claim: with a thousand of them waiting each such change would wake a thousand.
func offers(settings lifecycle.Settings) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		before, after := update.ObjectOld.(*v1alpha1.Server), update.ObjectNew.(*v1alpha1.Server)
		was, is := claim.Assess(before, settings), claim.Assess(after, settings)
		if was.Identity != is.Identity {
			return true // another server with the old one is a duplicate no more
		}
		return is.Available && (!was.Available || matchesOtherwise(before, after))
	}}
}

func matchesOtherwise(before, after *v1alpha1.Server) bool {
	return !maps.Equal(before.Labels, after.Labels) || !slices.Equal(before.Spec.Taints, after.Spec.Taints) ||
		before.Spec.Unschedulable != after.Spec.Unschedulable ||
		!apiequality.Semantic.DeepEqual(hardwareOf(before), hardwareOf(after))
}

func hardwareOf(s *v1alpha1.Server) *v1alpha1.Hardware {
	if s.Status.Observed == nil {
		return nil
	}
	return s.Status.Observed.Hardware
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// bmcPicture is the region of a BMC after a discovery.
func bmcPicture(facts provider.BMCFacts) *v1alpha1.BMCObserved {
	return &v1alpha1.BMCObserved{
		Reachable: true,
		UUID:      v1alpha1.Fact(facts.UUID),
		Vendor:    v1alpha1.Fact(facts.Vendor),
		Model:     v1alpha1.Fact(facts.Model),
		Firmware:  v1alpha1.Fact(facts.Firmware),
		Systems:   systemsOf(facts.Systems),
	}
}

// systemsOf keys systems by Id. The list is a map in the schema: an Id that a BMC tells twice would have the whole write
// refused, and one without an Id cannot be named.
func systemsOf(systems []provider.SystemSummary) []v1alpha1.ObservedSystem {
	var told []v1alpha1.ObservedSystem
	for _, system := range systems {
		if system.ID == "" {
			continue
		}
		told = append(told, v1alpha1.ObservedSystem{
			ID:           v1alpha1.Fact(system.ID),
			UUID:         v1alpha1.Fact(system.UUID),
			SerialNumber: v1alpha1.Fact(system.Serial),
			CanReset:     system.CanReset,
		})
	}
	slices.SortStableFunc(told, compareSystems)
	told = slices.CompactFunc(told, func(a, b v1alpha1.ObservedSystem) bool { return a.ID == b.ID })
	return bounded(told, maxSystems)
}

func compareSystems(a, b v1alpha1.ObservedSystem) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.UUID, b.UUID))
}

// bmcFailed is the region of a BMC after failures: what it is and what is behind it stays as last seen.
func bmcFailed(before *v1alpha1.BMCObserved, f failure) *v1alpha1.BMCObserved {
	picture := &v1alpha1.BMCObserved{}
	if before != nil {
		picture = before.DeepCopy()
	}
	picture.Reachable = false
	picture.Reason, picture.Message = v1alpha1.Fact(f.reason), v1alpha1.Message(f.message)
	return picture
}

// bmcStanding is how the region speaks of a BMC.
func bmcStanding(observed *v1alpha1.BMCObserved) standing {
	switch {
	case observed == nil:
		return standingUnknown
	case observed.Reachable:
		return standingGood
	}
	return standingBad
}

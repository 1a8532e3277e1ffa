// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// SameManager says that two BMC objects speak of one management controller, as far as the monitor has seen: they tell the same UUID, and
// a system that both know. Some vendors ship one UUID with every BMC: where a system of one Id has two UUIDs or two serial numbers these
// are two BMCs, whatever they tell of themselves.
func SameManager(a, b *v1alpha1.BMC) bool {
	if a.Name == b.Name || managerOf(a) == "" || !strings.EqualFold(managerOf(a), managerOf(b)) {
		return false
	}
	shared := false
	for _, system := range a.Status.Observed.Systems {
		at := slices.IndexFunc(b.Status.Observed.Systems, func(other v1alpha1.ObservedSystem) bool { return other.ID == system.ID })
		if at < 0 {
			continue
		}
		other := b.Status.Observed.Systems[at]
		if differ(system.UUID, other.UUID) || differ(system.SerialNumber, other.SerialNumber) {
			return false
		}
		shared = true
	}
	return shared
}

func managerOf(bmc *v1alpha1.BMC) string {
	if bmc.Status.Observed == nil {
		return ""
	}
	return bmc.Status.Observed.UUID
}

func differ(a, b string) bool { return a != "" && b != "" && !strings.EqualFold(a, b) }

// OtherObjectsOf are the names of the other BMC objects that speak of the same management controller, sorted, by the cache.
func OtherObjectsOf(ctx context.Context, cache client.Reader, bmc *v1alpha1.BMC) ([]string, error) {
	manager := managerOf(bmc)
	if manager == "" {
		return nil, nil
	}
	var list v1alpha1.BMCList
	if err := cache.List(ctx, &list, client.MatchingFields{index.BMCManager: strings.ToLower(manager)}); err != nil {
		return nil, fmt.Errorf("list the BMCs of manager %s: %w", manager, err)
	}
	var others []string
	for i := range list.Items {
		if SameManager(bmc, &list.Items[i]) {
			others = append(others, list.Items[i].Name)
		}
	}
	slices.Sort(others)
	return others, nil
}

// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func bmcSeen(name, manager string, systems ...v1alpha1.ObservedSystem) *v1alpha1.BMC {
	return &v1alpha1.BMC{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     v1alpha1.BMCStatus{Observed: &v1alpha1.BMCObserved{UUID: manager, Systems: systems}},
	}
}

// B157: one controller with two objects is told by its UUID, and a UUID that a vendor gives to all of them is not taken for one.
func TestTwoObjectsOfOneManager(t *testing.T) {
	const manager, other = "7bf28e4a-0d89-87d4-8209-1ec5f8968faa", "7bf28e4a-0d89-87d4-8209-1ec5f8968fab"
	one := bmcSeen("one", manager, v1alpha1.ObservedSystem{ID: "1", UUID: "u", SerialNumber: "s"})
	for name, c := range map[string]struct {
		bmc  *v1alpha1.BMC
		want bool
	}{
		"the same":                         {bmcSeen("two", manager, v1alpha1.ObservedSystem{ID: "1", UUID: "U", SerialNumber: "s"}), true},
		"the same, which tells less":       {bmcSeen("two", manager, v1alpha1.ObservedSystem{ID: "1"}), true},
		"the same in capitals":             {bmcSeen("two", "7BF28E4A-0D89-87D4-8209-1EC5F8968FAA", v1alpha1.ObservedSystem{ID: "1"}), true},
		"another manager":                  {bmcSeen("two", other, v1alpha1.ObservedSystem{ID: "1", UUID: "u"}), false},
		"a manager without a UUID":         {bmcSeen("two", "", v1alpha1.ObservedSystem{ID: "1", UUID: "u"}), false},
		"a vendor's UUID, another machine": {bmcSeen("two", manager, v1alpha1.ObservedSystem{ID: "1", UUID: "v"}), false},
		"a vendor's UUID, another serial":  {bmcSeen("two", manager, v1alpha1.ObservedSystem{ID: "1", SerialNumber: "t"}), false},
		"nothing is known behind it":       {bmcSeen("two", manager), false},
		"no system in common":              {bmcSeen("two", manager, v1alpha1.ObservedSystem{ID: "2"}), false},
		"not looked at":                    {&v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: "two"}}, false},
		"itself":                           {one, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SameManager(one, c.bmc); got != c.want {
				t.Errorf("SameManager is %t", got)
			}
			if SameManager(c.bmc, one) != c.want {
				t.Error("and not the same the other way round")
			}
		})
	}
}

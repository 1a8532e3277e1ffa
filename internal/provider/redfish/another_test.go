// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// P11: a system named by its Redfish Id alone may be another machine by now (the BMC's endpoint was changed, a node was swapped). It is
// left alone where it tells another serial number than the one that was seen; a BMC that tells none at the moment is no such thing.
func TestAnotherMachineBehindTheSameIDIsLeftAlone(t *testing.T) {
	seen := provider.Expect{Power: provider.PowerOn, Serial: "S-1"}
	for _, row := range []struct {
		name, told string
		refused    bool
	}{
		{"the same", "S-1", false},
		{"none told", "", false},
		{"another", "S-2", true},
	} {
		f := newFake(t, func(s object) { s["PowerState"], s["SerialNumber"] = "On", row.told })
		_, err := f.connect().Actor().ShutDown(t.Context(), fakeRef, seen)
		if row.refused {
			wantError(t, err, provider.Mismatch, provider.ReasonStateMismatch)
			equal(t, row.name+": resets", 0, len(resets(f)))
		} else {
			equal(t, row.name+": resets", 1, len(resets(f))) // whatever the fake BMC answers to it
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider/conformance"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestConformanceWithOddDocuments runs the suite over BMCs whose documents are not quite what the specification says.
func TestConformanceWithOddDocuments(t *testing.T) {
	odd := map[string]sim.Behaviour{
		"numbers as text (B135)":            {NumbersAsText: true},
		"the last page names itself (B137)": {PagesLoop: true},
		"members change their order (B158)": {ShuffleMembers: true},
		"tags that are empty (B131)":        {EmptyTags: true, RequireIfMatch: true},
		"tags that do not change (B037)":    {StaleTags: true},
		"tags of compressed answers (B128)": {GzipTags: true, RequireIfMatch: true},
	}
	for _, shape := range []sim.ErrorShape{
		sim.ErrorText, sim.ErrorNoInfo, sim.ErrorOneInfo, sim.ErrorTextInfo, sim.ErrorBare, sim.ErrorEmpty, sim.ErrorNothing,
	} {
		odd["refusals: "+string(shape)+" (B138)"] = sim.Behaviour{ErrorShape: shape, RefuseNoopReset: true, RequireIfMatch: true}
	}
	for name, mood := range odd {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, start conformance.Start) conformance.Machine {
				profile := sim.Conforming()
				profile.PageSize = 3
				return newMachine(t, start, sim.BMCSpec{Profile: &profile, Behaviour: mood})
			})
		})
	}
}

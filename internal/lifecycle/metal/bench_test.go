// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"

	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// BenchmarkDecide: what a pass over a settled, claimed server costs before anything is written.
func BenchmarkDecide(b *testing.B) {
	v := lt.View(lt.Running)
	b.ReportAllocs()
	for b.Loop() {
		metal.Decide(v)
	}
}

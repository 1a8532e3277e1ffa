// SPDX-License-Identifier: Apache-2.0

// Package restore drills restores as users do them: kubectl exports, something is lost, kubectl restores. Each drill asks backup-check
// first what would happen, and then compares: what Holdfast reports with what was predicted of each object, and what reached machines and
// clouds, by their own logs, with the effects that were predicted. Everywhere: no power-off, no image, no VM deleted or made twice.
package restore

import (
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{}}, func(s *harness.Suite) { suite = s }))
}

// SPDX-License-Identifier: Apache-2.0

// Package lifecycle leads servers through their lives on the whole stack: a real API server, simulated BMCs, and the operator with
// the rights that an installation gives it. Its tests share one manager, so each of them is also a crowd for the others.
package lifecycle

import (
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{}}, func(s *harness.Suite) { suite = s }))
}

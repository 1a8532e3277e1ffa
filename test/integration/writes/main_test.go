// SPDX-License-Identifier: Apache-2.0

// Package writes counts what the operator writes: to the API server, by its audit log, and to BMCs, by their own logs. Its tests run
// one after the other, each with a manager of its own, for what is counted is everything.
package writes

import (
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{}, func(s *harness.Suite) { suite = s }))
}

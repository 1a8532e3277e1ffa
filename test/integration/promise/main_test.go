// SPDX-License-Identifier: Apache-2.0

// Package promise tries the promise with managers that are killed, doubled, late, or cut off from the API server: no loss, age or race
// makes the operator power off, image or duplicate a machine that carries a workload. Its tests run one after the other, each with
// managers of its own.
package promise

import (
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{}, func(s *harness.Suite) { suite = s }))
}

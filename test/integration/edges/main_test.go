// SPDX-License-Identifier: Apache-2.0

// Package edges tries with the whole operator that what is used cannot go: clouds, classes, SSH certificate authorities, and the secrets
// with their credentials.
package edges

import (
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{}}, func(s *harness.Suite) { suite = s }))
}

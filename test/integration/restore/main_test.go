// SPDX-License-Identifier: Apache-2.0

// Package restore drills restores as users do them: kubectl exports, something is lost, kubectl restores. Each drill asks backup-check
// first what would happen, and then compares: what Holdfast reports with what was predicted of each object, and what reached machines and
// clouds, by their own logs, with the effects that were predicted. Everywhere: no power-off, no image, no VM deleted or made twice.
package restore

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/holdfast-dev/holdfast/test/harness"
)

// suite is where most drills are; other is a second control plane, for what must not happen to the others' cluster.
var suite, other *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var err error
	// Before anything runs: it sets up the logging of the whole process.
	if other, err = harness.Start(context.Background(), harness.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := other.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return harness.Main(m, harness.Options{Manager: []harness.Override{}}, func(s *harness.Suite) { suite = s })
}

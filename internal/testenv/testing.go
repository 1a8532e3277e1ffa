// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// TB is what this package needs of testing.TB; the interface keeps package testing
// out of the binary that dev mode is part of.
type TB interface {
	Helper()
	Cleanup(cleanup func())
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run starts a control plane for one test and stops it at its end. A package with
// several tests shares one through [Main].
func Run(tb TB, options Options) *Environment {
	tb.Helper()
	env, err := Start(tb.Context(), options)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if err := env.Stop(); err != nil {
			tb.Errorf("%v", err)
		}
	})
	return env
}

// Main starts one control plane for all tests of a package, gives it to them
// through use, runs them and stops it. It returns the exit code for TestMain:
//
//	func TestMain(m *testing.M) {
//		os.Exit(testenv.Main(m, testenv.Options{…}, func(e *testenv.Environment) { env = e }))
//	}
func Main(tests interface{ Run() int }, options Options, use func(*Environment)) int {
	env, err := Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	use(env)
	code := tests.Run()
	if err := env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

const (
	pollInterval = 50 * time.Millisecond
	// pollDeadline is far above what a fact takes, so that a loaded machine does
	// not fail a test; a test that passes never waits for it.
	pollDeadline = 3 * time.Minute
)

// Eventually polls until check returns nil, and fails the test with the last error
// when it has not after three minutes. The check gets a context that ends then.
func Eventually(tb TB, what string, check func(context.Context) error) {
	tb.Helper()
	var last error
	err := wait.PollUntilContextTimeout(tb.Context(), pollInterval, pollDeadline, true,
		func(ctx context.Context) (bool, error) {
			last = check(ctx)
			return last == nil, nil
		})
	if err != nil {
		tb.Fatalf("%s: %v; last: %v", what, err, last)
	}
}

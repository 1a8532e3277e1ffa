// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// A manager keeps within what its container is allowed, and leaves alone what is set in its environment.
func TestAManagerKeepsWithinItsMemory(t *testing.T) {
	const unlimited = math.MaxInt64
	for _, c := range []struct {
		name, file, gogc, limit string
		wantPercent             int
		wantLimit               int64
		fails                   bool
	}{
		{name: "a limit", file: "1000000000\n", wantPercent: gcPercent, wantLimit: 900_000_000},
		{name: "no limit", file: "max\n", wantPercent: gcPercent, wantLimit: unlimited},
		{name: "no control group", wantPercent: gcPercent, wantLimit: unlimited},
		{name: "GOGC is set", file: "1000000000", gogc: "200", wantPercent: 100, wantLimit: 900_000_000},
		{name: "GOMEMLIMIT is set", file: "1000000000", limit: "1GiB", wantPercent: gcPercent, wantLimit: unlimited},
		{name: "no number", file: "much", wantPercent: gcPercent, wantLimit: unlimited, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer debug.SetGCPercent(debug.SetGCPercent(100))
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(unlimited))
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.limit)
			file := filepath.Join(t.TempDir(), "memory.max")
			if c.file != "" {
				if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := tuneMemory(file); (err != nil) != c.fails {
				t.Error(err)
			}
			if percent := debug.SetGCPercent(100); percent != c.wantPercent {
				t.Errorf("collects at %d %%, want %d", percent, c.wantPercent)
			}
			if limit := debug.SetMemoryLimit(-1); limit != c.wantLimit {
				t.Errorf("limit %d, want %d", limit, c.wantLimit)
			}
		})
	}
}

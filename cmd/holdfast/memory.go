// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// How a manager's memory is collected, unless GOGC and GOMEMLIMIT say otherwise. Most of its heap is the cache, which stays: with the
// runtime's own default the process takes twice of it.
const (
	gcPercent = 50
	// limitShare of what the control group allows is what the runtime tries to stay within, collecting more often instead of being
	// killed; the rest is for what it does not count.
	limitShare = 0.9
)

// memoryMax is where a control group of version 2 tells its processes what they are allowed.
const memoryMax = "/sys/fs/cgroup/memory.max"

// tuneMemory sets both. What is set in the environment stands.
func tuneMemory(limitFile string) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	limit, err := allowedMemory(limitFile)
	if err != nil || limit == 0 {
		return err
	}
	debug.SetMemoryLimit(int64(limitShare * float64(limit)))
	return nil
}

// allowedMemory is the limit of the control group in bytes; 0 where there is none.
func allowedMemory(file string) (int64, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the limit of memory: %w", err)
	}
	text := strings.TrimSpace(string(content))
	if text == "max" {
		return 0, nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit <= 0 || limit == math.MaxInt64 {
		return 0, fmt.Errorf("the limit of memory, %q in %s, is no number of bytes", text, file)
	}
	return limit, nil
}

// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"
)

// none is the address of what does not listen.
const none = "0"

// How closely profiles look at waiting, where they are served at all: each wait for a channel or a lock is sampled in proportion to its
// length, one a millisecond waited, and one contended lock in a hundred. Both cost less than can be measured.
const (
	blockProfileRate     = time.Millisecond
	mutexProfileFraction = 100
)

// validateProfiling refuses to serve profiles to anybody but the machine itself: a heap holds credentials, and a profile can be asked for
// without end. In a cluster the way in is kubectl port-forward, which needs a right of its own.
func (o Options) validateProfiling() error {
	if !o.profiled() {
		return nil
	}
	host, _, err := net.SplitHostPort(o.ProfilingAddress)
	if err != nil {
		return fmt.Errorf("pprof address: %w", err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("pprof address: %q is not on the loopback interface", o.ProfilingAddress)
	}
	return nil
}

func (o Options) profiled() bool { return o.ProfilingAddress != "" && o.ProfilingAddress != none }

// profileWaiting has the process remember where it waits, for the profiles "block" and "mutex". It is one setting for the whole process.
func profileWaiting() {
	runtime.SetBlockProfileRate(int(blockProfileRate.Nanoseconds()))
	runtime.SetMutexProfileFraction(mutexProfileFraction)
}

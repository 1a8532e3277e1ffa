// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"pgregory.net/rapid"
)

type movingClock struct{ at time.Time }

func (c *movingClock) now() time.Time { return c.at }

// TestPortNamesAreReadBack: what is written into a port's name is what is read from it, whatever the server's name ends with (B250).
func TestPortNamesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?`).Draw(t, "server")
		index := rapid.IntRange(0, 15).Draw(t, "index")
		millis := rapid.Int64Range(1_700_000_000_000, 2_700_000_000_000).Draw(t, "milliseconds")
		clock := &movingClock{at: time.UnixMilli(millis)}
		stamp := newLeases(clock.now, 20*time.Second).take()
		p := &ports.Port{Name: portName(server, index, stamp)}
		if got, ok := indexOf(p); !ok || got != index {
			t.Fatalf("index of %q is %d, %v", p.Name, got, ok)
		}
		if got := stampOf(p); got != stamp {
			t.Fatalf("stamp of %q is %q, want %q", p.Name, got, stamp)
		}
		if at, ok := takenAt(stamp); !ok || at.UnixMilli() != millis {
			t.Fatalf("stamp %q was taken at %s, want %d", stamp, at, millis)
		}
		renamed := &ports.Port{Name: "by hand", Tags: portTags(ref(), index)}
		if got, ok := indexOf(renamed); !ok || got != index {
			t.Fatalf("index of a renamed port is %d, %v", got, ok)
		}
	})
}

func TestNamesThatSayNothing(t *testing.T) {
	l := newLeases(time.Now, time.Second)
	for _, name := range []string{"", "web-1", "web-1-0", "web-1-0-short", "web-1-0-UPPERCASE000", "web-x-000000000000", "web-1-0-0123456789"} {
		p := &ports.Port{Name: name}
		if _, ok := indexOf(p); ok {
			t.Errorf("%q tells an index", name)
		}
		if l.left(p) != 0 {
			t.Errorf("%q bears a lease", name)
		}
	}
}

// TestALeaseLapses: it is respected by others for its time, used for less, and ended early only by the process that took it.
func TestALeaseLapses(t *testing.T) {
	clock := &movingClock{at: time.Unix(1_790_000_000, 0)}
	mine, others := newLeases(clock.now, 20*time.Second), newLeases(clock.now, 20*time.Second)
	const leaseUse, leaseTime = 20 * time.Second, time.Minute
	stamp := mine.take()
	p := &ports.Port{Name: portName("web", 0, stamp)}
	if left := others.left(p); left != leaseTime {
		t.Errorf("%s are left of a new lease, want %s", left, leaseTime)
	}
	if !mine.usable(stamp) {
		t.Error("a new lease cannot be used")
	}
	clock.at = clock.at.Add(leaseUse)
	if mine.usable(stamp) {
		t.Error("an old lease is still used")
	}
	if left := others.left(p); left != leaseTime-leaseUse {
		t.Errorf("%s are left, want %s", left, leaseTime-leaseUse)
	}
	mine.settle(stamp)
	if mine.left(p) != 0 || others.left(p) == 0 {
		t.Error("a settled lease is over for who settled it, and for nobody else")
	}
	clock.at = clock.at.Add(leaseTime)
	if others.left(p) != 0 {
		t.Error("a lease does not lapse")
	}
	clock.at = clock.at.Add(-10 * leaseTime)
	if others.left(p) != 0 {
		t.Error("a stamp from far in the future holds")
	}
}

// TestSettledLeasesAreForgotten: the memory of them is bounded by their time.
func TestSettledLeasesAreForgotten(t *testing.T) {
	clock := &movingClock{at: time.Unix(1_790_000_000, 0)}
	l := newLeases(clock.now, 20*time.Second)
	for range 100 {
		l.settle(l.take())
		clock.at = clock.at.Add(6 * time.Second)
	}
	if n := len(l.settled); n > 12 {
		t.Errorf("%d settled leases are remembered", n)
	}
}

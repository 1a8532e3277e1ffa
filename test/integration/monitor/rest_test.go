// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/monitor"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// writesOfMonitors counts the writes to the API server under the monitor's identity, but for its lease.
func writesOfMonitors(t *testing.T) int {
	t.Helper()
	events, err := testenv.ReadAudit(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	for _, event := range events {
		if event.ImpersonatedUser == nil || event.ImpersonatedUser.Username != config.MonitorUsername || !testenv.IsWrite(event) {
			continue
		}
		if event.ObjectRef != nil && event.ObjectRef.Resource == "leases" {
			continue
		}
		writes++
		if event.ObjectRef == nil || event.ObjectRef.Subresource != "status" {
			t.Errorf("the monitor wrote %s", event.RequestURI)
		}
	}
	return writes
}

// TestRestWritesNothing: P8, counted from the audit log: one write for each object when it is enrolled, none over many looks, none
// after a restart.
func TestRestWritesNothing(t *testing.T) {
	const fleet, looks = 30, 10
	r := newRack()
	before := writesOfMonitors(t)
	first := open(t, r, nil, nil)
	var bmcs []*scripted
	for i := range fleet {
		bmcs = append(bmcs, r.enroll(t, fmt.Sprintf("rest%02d", i)))
	}
	lookedAt := func(what string) {
		t.Helper()
		start := make([]int, fleet)
		for i, bmc := range bmcs {
			start[i] = bmc.looked()
		}
		testenv.Eventually(t, what, func(context.Context) error {
			for i, bmc := range bmcs {
				if seen := bmc.looked() - start[i]; seen < looks {
					return fmt.Errorf("BMC %d: %d looks", i, seen)
				}
			}
			return nil
		})
	}
	for i := range fleet {
		eventuallySeen(t, fmt.Sprintf("rest%02d", i), "first picture", reachable)
	}
	enrolled := writesOfMonitors(t) - before
	if enrolled != 2*fleet {
		t.Errorf("%d writes to enroll %d BMCs with a server each, want %d", enrolled, fleet, 2*fleet)
	}
	lookedAt("ten looks at each")
	first.stop()
	open(t, r, nil, nil)
	lookedAt("ten looks at each after a restart")
	after := writesOfMonitors(t) - before
	t.Logf("%d BMCs: %d writes when enrolled, %d over %d looks at each and a restart", fleet, enrolled, after-enrolled, 2*looks)
	if after != enrolled {
		t.Errorf("%d writes at rest and over a restart, want 0", after-enrolled)
	}
}

// TestOneMonitorLooks: two that are elected by the same lease never look at once; the second takes over when the first stops.
func TestOneMonitorLooks(t *testing.T) {
	elected := func(name string) func(manager.Manager, *monitor.Monitor) manager.Runnable {
		return func(mgr manager.Manager, m *monitor.Monitor) manager.Runnable {
			lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, monitor.LeaseName,
				resourcelock.ResourceLockConfig{Identity: name}, mgr.GetConfig(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return monitor.Elected(m, lock, monitor.DefaultTerm())
		}
	}
	firstRack, secondRack := newRack(), newRack()
	seenByFirst := firstRack.enroll(t, "elected")
	seenBySecond := &scripted{facts: seenByFirst.facts}
	secondRack.bmcs["elected"] = seenBySecond
	first := open(t, firstRack, elected("first"), nil)
	eventuallySeen(t, "elected", "first picture", reachable)
	open(t, secondRack, elected("second"), nil)
	at := seenByFirst.looked()
	testenv.Eventually(t, "ten looks by the first", func(context.Context) error {
		if looks := seenByFirst.looked() - at; looks < 10 {
			return fmt.Errorf("%d looks", looks)
		}
		return nil
	})
	if looks := seenBySecond.looked(); looks != 0 {
		t.Errorf("%d looks by the one that is not elected", looks)
	}
	first.stop()
	at = seenByFirst.looked()
	testenv.Eventually(t, "looks by the second", func(context.Context) error {
		if seenBySecond.looked() == 0 {
			return fmt.Errorf("none")
		}
		return nil
	})
	if after := seenByFirst.looked(); after != at {
		t.Errorf("%d looks by the first after it stopped", after-at)
	}
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// LeaseName names the lease of the monitor. It is its own, whether the monitor runs in the manager or as a Deployment beside it,
// so that one at a time looks however the two are arranged.
const LeaseName = "holdfast-monitor"

// Term is the times of a lease, as controller-runtime's managers have them.
type Term struct {
	// Lease is how long the others wait for a leader that is not heard of; Renew, less than it, how long a leader tries to be heard; Retry
	// the pause from one try to the next.
	Lease, Renew, Retry time.Duration
}

// DefaultTerm is that of controller-runtime's managers.
func DefaultTerm() Term {
	return Term{Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second}
}

// Elected returns a Runnable that runs the monitor whenever it holds the lock: its own, not that of the manager that starts it. A
// monitor that loses the lock ends its visits and stands for election again.
func Elected(monitor *Monitor, lock resourcelock.Interface, term Term) manager.Runnable {
	return &elected{monitor: monitor, lock: lock, term: term}
}

type elected struct {
	monitor *Monitor
	lock    resourcelock.Interface
	term    Term
	// looking is held while the monitor looks: the elector does not wait for what it started, and two terms must not overlap.
	looking sync.Mutex
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: the lock of its own is enough.
func (e *elected) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (e *elected) Start(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(e.config(fail))
		if err != nil {
			return fmt.Errorf("monitor: %w", err)
		}
		elector.Run(ctx)
	}
	e.looking.Lock()
	defer e.looking.Unlock()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

func (e *elected) config(fail context.CancelCauseFunc) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Name:          LeaseName,
		Lock:          e.lock,
		LeaseDuration: e.term.Lease,
		RenewDeadline: e.term.Renew,
		RetryPeriod:   e.term.Retry,
		// The visits end with the term. One that is about to write when the next monitor begins loses by its resourceVersion.
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				e.looking.Lock()
				defer e.looking.Unlock()
				if err := e.monitor.Start(leading); err != nil && leading.Err() == nil {
					fail(err)
				}
			},
			OnStoppedLeading: func() {},
		},
	}
}

// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// Override changes the options that a manager of a test runs with.
type Override func(*operator.Options)

// Manager is one run of the operator.
type Manager struct {
	// Metrics are those of this manager alone.
	Metrics *prometheus.Registry
	// Faults strike its requests to the API server.
	Faults *APIFaults

	cancel context.CancelFunc
	done   chan struct{}
	err    error // read after done
}

// The waits of managers in tests: machines live in blinks there.
const (
	GracePeriod    = 15 * time.Second
	BootDeadline   = 20 * time.Second
	EffectDeadline = time.Second
	SlowPoll       = time.Second
	FastPoll       = 50 * time.Millisecond
)

// StartManager starts a manager under the operator's own name and rights, without leader election: several may run at a time, which
// is what the promise has to stand.
func (s *Suite) StartManager(overrides ...Override) (*Manager, error) {
	m := &Manager{Metrics: prometheus.NewRegistry(), Faults: &APIFaults{}, done: make(chan struct{})}
	options := operator.Defaults()
	options.Config = s.Env.Impersonate(config.OperatorUsername, config.ServiceAccountGroups()...)
	options.Config.Wrap(m.Faults.wrap)
	options.Registerer = m.Metrics
	options.MetricsAddress, options.ProbeAddress = "0", "0"
	options.LeaderElection.Enabled = false
	options.Settings.GracePeriod = GracePeriod
	options.Settings.BootDeadline = BootDeadline
	options.Settings.EffectDeadline = EffectDeadline
	options.Cadence.Slow, options.Cadence.Fast = SlowPoll, FastPoll
	options.Cadence.Discovery = 5 * SlowPoll
	options.Cadence.RetryFirst, options.Cadence.RetryLast = FastPoll, SlowPoll
	options.Cadence.DeniedFirst, options.Cadence.DeniedLast = 5*SlowPoll, 5*SlowPoll
	options.Cadence.Clouds.Slow, options.Cadence.Clouds.Floor = SlowPoll, FastPoll
	options.Cadence.Clouds.Full, options.Cadence.Clouds.FullFast = 2*SlowPoll, SlowPoll
	options.FlipsPerMinute = 6000
	options.Workers = 8
	for _, override := range overrides {
		override(&options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	s.mu.Lock()
	s.managers = append(s.managers, m)
	s.mu.Unlock()
	go func() {
		defer close(m.done)
		if m.err = operator.Run(ctx, options); m.err == nil && ctx.Err() == nil {
			m.err = errors.New("it ended by itself")
		}
	}()
	return m, nil
}

// Stop ends the manager and waits until it has. A nil manager was never started.
func (m *Manager) Stop() error {
	if m == nil {
		return nil
	}
	m.cancel()
	<-m.done
	if m.err != nil && !errors.Is(m.err, context.Canceled) {
		return fmt.Errorf("manager: %w", m.err)
	}
	return nil
}

// StrikeAll arms a fault at every manager there is. The returned function disarms it and tells how often it struck.
func (s *Suite) StrikeAll(fault APIFault) (disarm func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var disarms []func() int
	for _, m := range s.managers {
		disarms = append(disarms, m.Faults.Strike(fault))
	}
	return func() int {
		struck := 0
		for _, disarm := range disarms {
			struck += disarm()
		}
		return struck
	}
}

// Manage runs a manager until the test ends, or until the returned manager is stopped before.
func (k *Kit) Manage(overrides ...Override) *Manager {
	k.T.Helper()
	manager, err := k.StartManager(overrides...)
	if err != nil {
		k.T.Fatal(err)
	}
	k.T.Cleanup(func() {
		if err := manager.Stop(); err != nil {
			k.T.Error(err)
		}
	})
	return manager
}

// SPDX-License-Identifier: Apache-2.0

// Package operator wires: from options to a manager that runs the controllers asked for. Everything that runs is in one list.
package operator

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/monitor"
)

// Options of a manager process.
type Options struct {
	// Config reaches the API server.
	Config *rest.Config
	// Namespace of the operator: where the credentials of BMCs and clouds are, and the leases.
	Namespace string
	// ClusterID is who may act; "" for the UID of the namespace kube-system.
	ClusterID string
	// Settings of the lifecycle; ClusterID in it is set from the above.
	Settings lifecycle.Settings
	// Controllers to run, by name; empty for all.
	Controllers []string
	// LeaderElection so that one process of several acts. Off in tests and dev mode with one process.
	LeaderElection LeaderElection
	// Registerer of the metrics. The one that the endpoint serves; several managers in one process need one each.
	Registerer prometheus.Registerer
	// MetricsAddress and ProbeAddress to listen on; "0" for not at all.
	MetricsAddress string
	ProbeAddress   string
	// ProfilingAddress to serve profiles on, in the form of net/http/pprof: of the loopback interface, or "0" for not at all.
	ProfilingAddress string
	// Cadence of the monitor.
	Cadence monitor.Cadence
	// FlipsPerMinute is how many changes of one server's picture wake it at once within a minute; more are delayed, never dropped.
	FlipsPerMinute int
	// Workers of the server controller.
	Workers int
	// QPS and Burst of requests to the API server.
	QPS   float32
	Burst int
	// CloudQPS is how many requests a second one cloud is sent, on average; bursts may be twice that.
	CloudQPS float64
}

// LeaderElection says whether and under which lease a process waits to be the one that acts.
type LeaderElection struct {
	Enabled       bool
	ID            string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// Defaults are the defaults of the manager's flags.
func Defaults() Options {
	return Options{
		Namespace:        "holdfast-system",
		Settings:         lifecycle.DefaultSettings(""),
		Registerer:       metrics.Registry,
		MetricsAddress:   ":8080",
		ProbeAddress:     ":8081",
		ProfilingAddress: none,
		Cadence:          monitor.DefaultCadence(),
		FlipsPerMinute:   20,
		Workers:          32,
		QPS:              500,
		Burst:            1000,
		CloudQPS:         50,
		LeaderElection: LeaderElection{
			Enabled: true, ID: "holdfast",
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		},
	}
}

func (o Options) validate() error {
	for _, name := range o.Controllers {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("no controller is named %q: there are %v", name, Names())
		}
	}
	if o.Workers < 1 || o.FlipsPerMinute < 1 {
		return fmt.Errorf("workers (%d) and flips a minute (%d) must be at least 1", o.Workers, o.FlipsPerMinute)
	}
	if o.Settings.CreateAttempts < 0 {
		return fmt.Errorf("create attempts (%d) must not be negative", o.Settings.CreateAttempts)
	}
	if err := o.validateProfiling(); err != nil {
		return err
	}
	return o.validateDurations()
}

// validateDurations refuses times that would switch a protection off: without an effect deadline no power-on waits until a power-off that
// may still be on the wire cannot be (R5).
func (o Options) validateDurations() error {
	for _, d := range []struct {
		name  string
		least time.Duration
		value time.Duration
	}{
		{"effect deadline", time.Second, o.Settings.EffectDeadline},
		{"boot deadline", time.Second, o.Settings.BootDeadline},
		{"power-off grace", 0, o.Settings.GracePeriod},
		{"create backoff", time.Second, o.Settings.CreateBackoff},
		{"poll", time.Millisecond, o.Cadence.Slow},
		{"fast poll", time.Millisecond, o.Cadence.Fast},
	} {
		if d.value < d.least {
			return fmt.Errorf("%s: %s is less than %s", d.name, d.value, d.least)
		}
	}
	return nil
}

func (o Options) runs(name string) bool {
	return len(o.Controllers) == 0 || slices.Contains(o.Controllers, name)
}

// acts says that something runs that waits for the manager's lease; the monitor has one of its own.
func (o Options) acts() bool {
	return slices.ContainsFunc(Names(), func(name string) bool { return name != Monitor && o.runs(name) })
}

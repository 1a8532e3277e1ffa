// SPDX-License-Identifier: Apache-2.0

// Package openstack leads virtual servers through their lives on real services: Keystone, Nova, Neutron and Glance, a real API server,
// and the operator with the rights that an installation gives it. `make e2e-openstack` starts the services and runs it; without them
// every test says that it was skipped.
//
// Each test has a project of its own, which the operator reaches through a proxy of its own. After each step a judge that shares no
// code with the operator compares what Nova and Neutron list with what should exist, and reads Nova's own memory of what it was asked
// for. Tests that strike a whole service run one after the other; those that strike at their own proxy run beside each other.
package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

var (
	stack *lab.Stack // nil where none was asked for
	suite *harness.Suite
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	found, err := lab.Find(context.Background())
	switch {
	case errors.Is(err, lab.ErrNotAsked):
		return m.Run() // every test skips
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stack = found
	return harness.Main(m, harness.Options{Manager: []harness.Override{paceOfACloud}}, func(s *harness.Suite) { suite = s })
}

// paceOfACloud suits services that take a second where a simulator takes a millisecond, and share two cores with everything else.
func paceOfACloud(o *operator.Options) {
	o.Settings.EffectDeadline = 30 * time.Second
	o.Settings.Backstop = 15 * time.Second
	o.Settings.CreateBackoff = time.Second
	o.Cadence.Fast = 500 * time.Millisecond
	o.Cadence.RetryFirst, o.Cadence.RetryLast = 500*time.Millisecond, 4*time.Second
	o.Cadence.DeniedFirst, o.Cadence.DeniedLast = 4*time.Second, 4*time.Second
	clouds := &o.Cadence.Clouds
	clouds.Slow, clouds.Full, clouds.FullFast = 4*time.Second, 12*time.Second, 4*time.Second
	clouds.About = 20 * time.Second
	clouds.LookDeadline = 10 * time.Second
}

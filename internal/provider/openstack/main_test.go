// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain: nothing of a closed pool goes on, no connection and no timer (B059).
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

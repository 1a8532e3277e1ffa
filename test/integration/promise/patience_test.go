// SPDX-License-Identifier: Apache-2.0

package promise

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// B018: a release right after a maintenance that switched the machine off waits until Off has been seen for one effect deadline, for a
// BMC may say Off of a machine that runs; and for nothing else: no rest before a power-on that nobody wants, no interval of an effect
// that another one has overtaken (R5).
func TestAReleaseWaitsForOffToStayAndForNothingElse(t *testing.T) {
	const deadline = 6 * time.Second
	k := suite.Kit(t, "patience")
	k.Manage(func(o *operator.Options) {
		o.Settings.EffectDeadline = deadline
		o.Settings.GracePeriod = operator.Defaults().Settings.GracePeriod
		o.FlipsPerMinute = operator.Defaults().FlipsPerMinute
	})
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	maintenance := k.Maintain(machine.Name, func(m *v1alpha1.ServerMaintenance) { m.Spec.Power = v1alpha1.PowerOff })
	off := time.Now()
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilReady(maintenance)
	k.Delete(maintenance)
	k.UntilGone(maintenance)
	k.Delete(claim)
	k.UntilGone(claim)
	took := time.Since(off)
	t.Logf("released %s after the machine was to go off", took.Round(time.Millisecond))
	if took > 2*deadline {
		t.Errorf("released after %s, with an effect deadline of %s", took, deadline)
	}
}

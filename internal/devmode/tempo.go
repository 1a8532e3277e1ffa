// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Tempo is how fast simulated machines and VMs live, and how often settled ones are looked at.
type Tempo struct {
	Machines sim.Timing
	// Netboot is what the network boots: an installer.
	Netboot sim.Program
	// Cloud is how long a cloud takes for its VMs.
	Cloud openstack.Timing
	// Poll is the monitor's pace for settled machines, and for clouds whose VMs are settled.
	Poll time.Duration
}

// Lively is for people who watch: about ten seconds from power-on to a running system.
func Lively() Tempo {
	return Tempo{Machines: sim.DefaultTiming(), Netboot: sim.DefaultProgram(), Cloud: openstack.DefaultTiming(), Poll: 3 * time.Second}
}

// Quick is for scripts: every step of a machine takes a fraction of a second.
func Quick() Tempo {
	const blink = 200 * time.Millisecond
	return Tempo{
		Machines: sim.Timing{PowerOn: blink, PowerOff: blink, Shutdown: 2 * blink, POST: blink, OSBoot: blink, Pause: blink, BMCBoot: time.Second},
		Netboot:  sim.Program{Duration: 2 * blink, Then: sim.ThenReboot},
		Cloud: openstack.Timing{
			Schedule: blink, Spawn: 2 * blink, Rebuild: 2 * blink, PowerOn: blink, PowerOff: blink, Reboot: blink, Delete: blink,
		},
		Poll: time.Second,
	}
}

// operatorOptions are the manager's defaults with waits that suit machines that boot in seconds, not minutes.
func (t Tempo) operatorOptions() operator.Options {
	options := operator.Defaults()
	options.Settings.GracePeriod = 10 * time.Second
	options.Settings.BootDeadline = 20 * time.Second
	options.Settings.EffectDeadline = time.Second
	options.Settings.CreateBackoff = time.Second
	options.Cadence.Slow = t.Poll
	options.Cadence.Fast = 50 * time.Millisecond
	options.Cadence.Clouds.Slow, options.Cadence.Clouds.Floor = t.Poll, 100*time.Millisecond
	options.FlipsPerMinute = 600           // a day of a machine passes in a minute
	options.LeaderElection.Enabled = false // there is one
	options.MetricsAddress, options.ProbeAddress = "0", "0"
	return options
}

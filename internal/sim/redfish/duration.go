// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"time"
)

// timingWire is Timing as JSON.
type timingWire struct {
	PowerOn, PowerOff, Shutdown, POST, OSBoot, Pause, BMCBoot Duration
}

// MarshalJSON implements json.Marshaler.
func (t Timing) MarshalJSON() ([]byte, error) {
	return json.Marshal(timingWire{
		Duration(t.PowerOn), Duration(t.PowerOff), Duration(t.Shutdown), Duration(t.POST),
		Duration(t.OSBoot), Duration(t.Pause), Duration(t.BMCBoot),
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Timing) UnmarshalJSON(data []byte) error {
	var w timingWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*t = Timing{
		PowerOn: w.PowerOn.Std(), PowerOff: w.PowerOff.Std(), Shutdown: w.Shutdown.Std(), POST: w.POST.Std(),
		OSBoot: w.OSBoot.Std(), Pause: w.Pause.Std(), BMCBoot: w.BMCBoot.Std(),
	}
	return nil
}

func seconds(n int) Duration { return Duration(time.Duration(n) * time.Second) }

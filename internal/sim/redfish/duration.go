// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration that is written "1.5s" in JSON.
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) std() time.Duration { return time.Duration(d) }

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
		PowerOn: w.PowerOn.std(), PowerOff: w.PowerOff.std(), Shutdown: w.Shutdown.std(), POST: w.POST.std(),
		OSBoot: w.OSBoot.std(), Pause: w.Pause.std(), BMCBoot: w.BMCBoot.std(),
	}
	return nil
}

func seconds(n int) Duration { return Duration(time.Duration(n) * time.Second) }

// SPDX-License-Identifier: Apache-2.0

package clock

import (
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

// Std is the duration as package time has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

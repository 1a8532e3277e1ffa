// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"testing"
	"time"
)

// R5: a time or a number that would switch a protection off, or divide by nothing, is refused before anything runs.
func TestOptionsThatSwitchAProtectionOffAreRefused(t *testing.T) {
	if err := Defaults().validate(); err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	for name, change := range map[string]func(*Options){
		"no effect deadline": func(o *Options) { o.Settings.EffectDeadline = 0 },
		"no boot deadline":   func(o *Options) { o.Settings.BootDeadline = 0 },
		"negative grace":     func(o *Options) { o.Settings.GracePeriod = -time.Second },
		"no poll":            func(o *Options) { o.Cadence.Slow = 0 },
		"no fast poll":       func(o *Options) { o.Cadence.Fast = 0 },
		"no flips":           func(o *Options) { o.FlipsPerMinute = 0 },
		"no workers":         func(o *Options) { o.Workers = 0 },
		"unknown controller": func(o *Options) { o.Controllers = []string{"servers"} },
	} {
		options := Defaults()
		change(&options)
		if err := options.validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

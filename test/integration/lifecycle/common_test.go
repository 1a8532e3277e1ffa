// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-dev/holdfast/test/harness"
)

const time10 = 10 * time.Minute

// restarted: the machine was seen going off and on again since mark.
func restarted(k *harness.Kit, mark harness.Mark, machine *harness.Machine) func(context.Context) error {
	return func(context.Context) error {
		seen := ""
		for _, e := range k.Since(mark, machine).PowerChanges {
			seen += e.To + " "
		}
		if machine.Power() != "On" || seen == "" {
			return fmt.Errorf("power %s, went %s", machine.Power(), seen)
		}
		return nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import "fmt"

// Reach is how a BMC answers on the network.
type Reach string

// How a BMC may answer.
const (
	ReachUp Reach = "up"
	// ReachRefused ends all connections and refuses new ones. What was received before is still carried out.
	ReachRefused Reach = "refused"
	// ReachSilent swallows what is sent and never answers. What was swallowed is never acted upon.
	ReachSilent Reach = "silent"
)

// SetReach pulls or plugs the BMC's network cable. It also ends a reboot in progress.
func (b *BMC) SetReach(to Reach) error {
	if to != ReachUp && to != ReachRefused && to != ReachSilent {
		return fmt.Errorf("redfish rack: reach %q is not one of up, refused, silent", to)
	}
	defer b.rack.enter()()
	b.rack.cancel(b.restart)
	b.restart = nil
	b.record(Event{At: b.rack.now(), Kind: EventBMC, From: string(b.reach), To: string(to), cause: cause{by: byHand}})
	return b.setReach(to)
}

// Reach returns how the BMC answers now.
func (b *BMC) Reach() Reach {
	defer b.rack.enter()()
	return b.reach
}

func (b *BMC) setReach(to Reach) error {
	if b.reach == to {
		return nil
	}
	if to == ReachRefused {
		b.closeListeners()
	} else if err := b.reopenListeners(); err != nil {
		return fmt.Errorf("redfish rack: BMC %q: %w", b.spec.Name, err)
	}
	b.reach = to
	switch to {
	case ReachSilent:
		for c := range b.conns {
			c.silent.Store(true)
		}
	case ReachRefused:
		b.cutConns()
	case ReachUp:
		b.cutConns() // only silent ones can be left
	}
	return nil
}

func (b *BMC) cutConns() {
	for _, c := range b.takeConns() {
		c.reset()
	}
}

func (b *BMC) takeConns() []*simConn {
	taken := make([]*simConn, 0, len(b.conns))
	for c := range b.conns {
		taken = append(taken, c)
	}
	b.conns = map[*simConn]struct{}{}
	return taken
}

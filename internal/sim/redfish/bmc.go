// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// BMC is one simulated management controller.
type BMC struct {
	rack      *Rack
	spec      BMCSpec
	profile   Profile
	behaviour Behaviour
	address   netip.Addr
	machines  []*Machine

	reach     Reach
	since     time.Time // when it last restarted
	life      int       // counts restarts
	restart   *clock.Appointment
	listeners map[scheme]*bmcListener // with OwnListeners, the open ones
	ports     map[scheme]uint16       // with OwnListeners, fixed
	conns     map[*simConn]struct{}
	streams   map[chan []byte]struct{}
	identity  identity
	account   account
	sessions  sessions
	tasks     tasks
	faults    []*Fault
	faultSeq  int
	noticeSeq int  // of event streams
	shuffled  bool // collections are the other way round
}

func newBMC(r *Rack, spec BMCSpec, address netip.Addr) (*BMC, error) {
	spec.Username = orElse(spec.Username, "admin")
	spec.Password = orElse(spec.Password, "password")
	profile := Conforming()
	if spec.Profile != nil {
		profile = *spec.Profile
	}
	spec.UUID = orElse(spec.UUID, profile.UUIDs.ofBMC(spec.Name))
	b := &BMC{
		rack: r, spec: spec, profile: profile, behaviour: spec.Behaviour, address: address,
		conns: map[*simConn]struct{}{}, streams: map[chan []byte]struct{}{}, reach: ReachUp,
		account: account{username: spec.Username, password: spec.Password},
	}
	systems := spec.Systems
	if len(systems) == 0 {
		systems = []MachineSpec{{}}
	}
	for i, system := range systems {
		if i == 0 {
			system.ID = orElse(system.ID, profile.SystemID)
			system.UUID = orElse(system.UUID, profile.UUIDs.ofFirstSystem(spec))
		}
		system.ID = orElse(system.ID, fmt.Sprint(i+1))
		if b.machine(system.ID) != nil || slices.Contains(profile.Trays, system.ID) {
			return nil, fmt.Errorf("redfish rack: BMC %q: two systems have the id %q", spec.Name, system.ID)
		}
		b.machines = append(b.machines, newMachine(b, system))
	}
	return b, nil
}

// Name returns the name the BMC was added under.
func (b *BMC) Name() string { return b.spec.Name }

// Address returns the BMC's loopback address.
func (b *BMC) Address() netip.Addr { return b.address }

// Endpoint returns the BMC's URL, https where the rack serves it.
func (b *BMC) Endpoint() string {
	if b.rack.config.HTTPS != "" {
		return b.url(schemeHTTPS)
	}
	return b.url(schemeHTTP)
}

// PlainEndpoint returns the BMC's http URL, empty where the rack does not serve it.
func (b *BMC) PlainEndpoint() string {
	if b.rack.config.HTTP == "" {
		return ""
	}
	return b.url(schemeHTTP)
}

func (b *BMC) url(s scheme) string {
	return fmt.Sprintf("%s://%s", s, netip.AddrPortFrom(b.address, b.port(s)))
}

// Machine returns the machine with that Redfish Id, nil where there is none.
func (b *BMC) Machine(id string) *Machine { return b.machine(id) }

// Machines returns the machines behind the BMC, in the order of its collection.
func (b *BMC) Machines() []*Machine { return append([]*Machine(nil), b.machines...) }

func (b *BMC) machine(id string) *Machine {
	for _, m := range b.machines {
		if m.id == id {
			return m
		}
	}
	return nil
}

// Reboot restarts the BMC as its manager's reset does: unreachable for a while, its sessions and tasks
// forgotten; machines are not touched.
func (b *BMC) Reboot() {
	defer b.rack.enter()()
	b.reboot(b.rack.now(), cause{by: byHand})
}

func (b *BMC) reboot(at time.Time, why cause) {
	b.record(Event{At: at, Kind: EventBMC, Detail: "rebooting", cause: why})
	b.loseMemory()
	_ = b.setReach(ReachRefused) // closing cannot fail
	b.rack.cancel(b.restart)
	b.restart = b.rack.schedule(at.Add(b.timing().BMCBoot), b.comeUp)
}

func (b *BMC) comeUp(at time.Time) {
	if b.setReach(ReachUp) != nil { // its port is taken for the moment
		b.restart = b.rack.schedule(at.Add(time.Second), b.comeUp)
		return
	}
	b.restart = nil
	b.since = at
	b.record(Event{At: at, Kind: EventBMC, Detail: "up"})
}

// loseMemory is what a restart of the BMC forgets.
func (b *BMC) loseMemory() {
	b.life++
	b.sessions.clear()
	b.tasks.clear(b.rack)
	b.account.failures, b.account.lockedTill = 0, time.Time{}
}

// CutPower takes the mains away from the whole chassis: the machines are off at once and the BMC is gone.
func (b *BMC) CutPower() {
	defer b.rack.enter()()
	now := b.rack.now()
	b.record(Event{At: now, Kind: EventBMC, Detail: "power cut", cause: cause{by: byPowerCut}})
	b.rack.cancel(b.restart)
	b.restart = nil
	b.loseMemory()
	_ = b.setReach(ReachRefused) // closing cannot fail
	for _, m := range b.machines {
		m.cutPower(now)
	}
}

// ReturnPower gives the mains back: the BMC boots, and machines follow their restore policies at once.
func (b *BMC) ReturnPower() {
	defer b.rack.enter()()
	now := b.rack.now()
	b.record(Event{At: now, Kind: EventBMC, Detail: "power returned", cause: cause{by: byPowerReturn}})
	for _, m := range b.machines {
		m.returnPower(now)
	}
	b.rack.cancel(b.restart)
	b.restart = b.rack.schedule(now.Add(b.timing().BMCBoot), b.comeUp)
}

// blank reports whether the BMC, just restarted, does not know yet how its machines are (B018).
func (b *BMC) blank() bool {
	lasts := b.behaviour.BlankAfterReboot.Std()
	return lasts > 0 && !b.since.IsZero() && b.rack.now().Before(b.since.Add(lasts))
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// Cloud is a simulated OpenStack: identity, compute, network and image service behind one listener.
type Cloud struct {
	config   Config
	timing   Timing
	base     string // http(s)://host:port
	listener net.Listener
	server   *http.Server
	mux      *http.ServeMux
	control  *controlServer
	ca       *wire.Authority // nil without TLS
	saver    *saver
	serving  sync.WaitGroup
	closing  chan struct{}
	agenda   *clock.Agenda // its lock guards all below

	behaviour Behaviour
	quotas    Quotas
	offer     offer
	world     world
	made      *made
	tokens    map[string]*token
	revoked   time.Time // when tokens were last revoked, all or a user's
	random    *rand.Rand
	faults    []*Fault
	faultSeq  int
	mishaps   []*Mishap
	requests  requestLog
	events    []Event
	cause     cause // of what happens now
}

// Start starts a cloud. Close it when done.
func Start(config Config) (*Cloud, error) {
	inventory := DefaultInventory()
	if config.Inventory != nil {
		inventory = *config.Inventory
	}
	if config.Clock == nil {
		config.Clock = clock.Wall()
	}
	c := &Cloud{
		config: config, timing: DefaultTiming(), behaviour: config.Behaviour, quotas: inventory.Quotas,
		closing: make(chan struct{}), tokens: map[string]*token{},
		random: rand.New(rand.NewPCG(config.Seed, config.Seed)), //nolint:gosec // faults must repeat, not surprise
		made:   newMade(),
	}
	if config.Timing != nil {
		c.timing = *config.Timing
	}
	c.saver = &saver{cloud: c, dir: config.StateDir}
	c.agenda = clock.NewAgenda(config.Clock)
	c.requests = requestLog{limit: config.RequestLog, totals: map[Total]int{}}
	if c.requests.limit == 0 {
		c.requests.limit = 50_000
	}
	if err := c.open(inventory); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open furnishes the cloud and lets clients in.
func (c *Cloud) open(inventory Inventory) error {
	if err := c.furnish(inventory); err != nil {
		return err
	}
	if err := c.load(); err != nil {
		return err
	}
	c.mux = c.routes()
	if err := c.listen(); err != nil {
		return err
	}
	return c.startControl()
}

// enter takes the cloud's lock, after everything that is due has been done. The returned function leaves:
//
//	defer c.enter()()
func (c *Cloud) enter() (leave func()) { return c.agenda.Enter() }

// now is the moment that all that happens under one lock happens at.
func (c *Cloud) now() time.Time { return c.agenda.Now() }

// after has run called when d has passed since at. The world is saved afterwards.
func (c *Cloud) after(at time.Time, d time.Duration, run func(at time.Time)) *clock.Appointment {
	return c.agenda.Schedule(at.Add(d), func(at time.Time) {
		run(at)
		c.markDirty()
	})
}

// url is the address of something in the cloud.
func (c *Cloud) url(path string) string { return c.base + path }

// AuthURL is the address of the identity service, for auth_url of a clouds.yaml.
func (c *Cloud) AuthURL() string { return c.url("/identity/v3") }

// Behave lets edit change how the services answer.
func (c *Cloud) Behave(edit func(*Behaviour)) {
	defer c.enter()()
	edit(&c.behaviour)
}

// Behaviour returns how the services answer now.
func (c *Cloud) Behaviour() Behaviour {
	defer c.enter()()
	return c.behaviour
}

// SetQuotas lets edit change the quotas of every project. What is there already stays.
func (c *Cloud) SetQuotas(edit func(*Quotas)) {
	defer c.enter()()
	edit(&c.quotas)
}

// Quotas returns the quotas of every project.
func (c *Cloud) Quotas() Quotas {
	defer c.enter()()
	return c.quotas
}

// Close stops serving, cuts all connections and saves the state where it is kept.
func (c *Cloud) Close() error {
	if !c.agenda.Close() {
		return nil
	}
	close(c.closing)
	var errs []error
	if c.server != nil {
		errs = append(errs, c.server.Close())
	}
	errs = append(errs, c.control.close())
	c.serving.Wait()
	if err := c.saver.close(); err != nil {
		errs = append(errs, fmt.Errorf("openstack simulator: state: %w", err))
	}
	return errors.Join(errs...)
}

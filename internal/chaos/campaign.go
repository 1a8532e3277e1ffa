// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
)

// campaign is one run.
type campaign struct {
	options  Options
	plan     Plan
	faults   map[string]Fault
	world    *world
	managers *managers
	sight    *sight
	journal  *journal
	tenants  *tenants
	seats    map[string]*seat
	compare  []func() error

	// gate keeps asks away while the past is brought back, see tenants. plane is held by whoever stops etcd or the API server.
	gate    sync.RWMutex
	plane   sync.Mutex
	scratch string // the folder of snapshots
	// snapshots are those that are kept, the oldest first; guarded by plane.
	snapshots []snapshot

	tally tally
	// amnesia are the tenants whose machine may be forgotten.
	amnesia amnesia
	// maintained are the machines under a maintenance that is not over.
	maintained names
}

// Run runs a campaign, writes its report and tells whether it was passed. An error is one of the campaign itself.
func Run(ctx context.Context, options Options) (passed bool, failure error) {
	if err := options.validate(); err != nil {
		return false, err
	}
	report, err := conduct(ctx, options, Faults(), MakePlan(options))
	return err == nil && report.passed(), err
}

// conduct runs a campaign of these faults by this plan.
func conduct(ctx context.Context, options Options, faults []Fault, plan Plan) (r *report, failure error) {
	if err := os.MkdirAll(options.Dir, 0o750); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "holdfast-chaos-")
	if err != nil {
		return nil, err
	}
	defer func() { failure = errors.Join(failure, os.RemoveAll(scratch)) }()
	c := &campaign{options: options, plan: plan, scratch: scratch, journal: &journal{}, seats: map[string]*seat{}, faults: map[string]Fault{}}
	for _, f := range faults {
		c.faults[f.Name] = f
	}
	defer func() { failure = errors.Join(failure, c.close()) }()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	if r, err = c.run(ctx); err != nil {
		return nil, err
	}
	return r, c.tell(r)
}

func (c *campaign) start(ctx context.Context) (err error) {
	c.say("starting a control plane, %d machines and a cloud", c.options.machines())
	if c.world, err = startWorld(ctx, c.options); err != nil {
		return err
	}
	rack, cloud := watch.NewRack(c.world.rack), watch.NewCloud(c.world.cloud)
	c.journal.drains = []func() ([]judge.Event, error){rack.Drain, cloud.Drain}
	c.compare = []func() error{rack.Compare, cloud.Compare}
	c.sight = newSight(c.world.admin)
	c.tenants = newTenants(c.world, c.journal, &c.gate)
	for _, s := range seatsOf(c.options.Servers) {
		c.seats[s.name] = s
	}
	c.managers, err = startManagers(c.world, c.options)
	return err
}

// run is the campaign from the first look to the verdict.
func (c *campaign) run(ctx context.Context) (*report, error) {
	looking, stopLooking := context.WithCancel(ctx)
	defer stopLooking()
	var around sync.WaitGroup
	defer around.Wait()
	defer stopLooking()
	around.Go(func() { c.sight.watch(looking) })
	around.Go(func() { c.keep(looking) })
	around.Go(func() { sweep(looking, c) })

	r := &report{options: c.options, plan: c.plan}
	if err := c.enrolled(ctx); err != nil {
		return nil, err
	}
	c.say("all machines that are free are available; %d faults within %s", len(c.plan), c.options.Duration)
	if err := c.trouble(ctx); err != nil {
		return nil, err
	}
	c.say("the faults are over: everything must come to rest or be held")
	if err := c.settle(ctx, r); err != nil {
		return nil, err
	}
	stopLooking()
	around.Wait()
	return r, c.verdict(r)
}

// keep takes over what the simulators did while it is young.
func (c *campaign) keep(ctx context.Context) {
	for pause(ctx, second) {
		if err := c.journal.drain(); err != nil {
			c.tally.fail(fmt.Sprintf("the record has a gap: %v", err))
		}
	}
}

// enrolled waits until all machines can be claimed but those that run for a stranger.
func (c *campaign) enrolled(ctx context.Context) error {
	free := 0
	for i := range c.options.machines() {
		if !isStranger(i) {
			free++
		}
	}
	within := 30*second + time.Duration(c.options.Servers)*second
	for deadline := time.Now().Add(within); time.Now().Before(deadline) && pause(ctx, lookPause); {
		ready := 0
		for _, server := range seen[*v1alpha1.Server](c.sight) {
			if server.Status.Phase == v1alpha1.PhaseAvailable && isTrue(server, v1alpha1.ConditionReady) {
				ready++
			}
		}
		if ready >= free {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("not all machines are available after %s", within), ctx.Err())
}

// trouble is the part with faults. Tenants and a person live on through it.
func (c *campaign) trouble(ctx context.Context) error {
	living, stop := context.WithTimeout(ctx, c.options.Duration)
	defer stop()
	var all sync.WaitGroup
	for i := range len(c.seats) {
		s := c.seats[seatName(i)]
		random := rand.New(rand.NewPCG(c.options.Seed, uint64(i)+1)) //nolint:gosec // tenants must live again as they did
		all.Go(func() {
			if err := s.live(living, c.tenants, c.sight, random); err != nil {
				c.tally.fail(fmt.Sprintf("%s: %v", s.name, err))
			}
		})
	}
	all.Go(func() { newPerson(c, patience).live(living) })
	c.strike(living, &all)
	all.Wait()
	return ctx.Err()
}

// strike does one fault after another, each when its time has come, and does not wait for any.
func (c *campaign) strike(living context.Context, all *sync.WaitGroup) {
	begun := time.Now()
	for _, step := range c.plan {
		if !pause(living, time.Until(begun.Add(step.At))) {
			break
		}
		all.Go(func() { c.suffer(living, c.faults[step.Fault], step) })
	}
	<-living.Done()
}

// suffer does one fault, and takes it back when it has lasted, or when all faults end.
func (c *campaign) suffer(living context.Context, fault Fault, step Step) {
	undo, err := fault.do(living, c, step)
	switch {
	case errors.Is(err, errNothing):
		c.tally.count(fault.Name, "nobody")
	case err != nil:
		c.tally.count(fault.Name, "failed")
		c.note("%s: %v", step, err)
	default:
		c.tally.count(fault.Name, "done")
		c.note("%s", step)
	}
	if undo == nil {
		return
	}
	pause(living, step.Lasts)
	ending, cancel := context.WithTimeout(context.WithoutCancel(living), undoDeadline)
	defer cancel()
	if err := persist(ending, undo); err != nil {
		c.tally.fail(fmt.Sprintf("%s was not taken back: %v", step, err))
	}
}

// undoDeadline bounds how long is tried to take a fault back: longer than a restore of the whole cluster, which is in the way of all asks.
const undoDeadline = restoreDeadline + time.Minute

// say tells whoever watches, note writes into the campaign's log.
func (c *campaign) say(format string, arguments ...any) {
	c.note(format, arguments...)
	if c.options.Progress != nil {
		fmt.Fprintf(c.options.Progress, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, arguments...))
	}
}

func (c *campaign) note(format string, arguments ...any) {
	c.tally.log(time.Now().Format("15:04:05.000") + " " + fmt.Sprintf(format, arguments...))
}

func (c *campaign) close() error {
	var failures []error
	if c.managers != nil {
		failures = append(failures, c.managers.close())
	}
	if c.world != nil {
		failures = append(failures, c.world.close())
	}
	return errors.Join(failures...)
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Step is one fault at one moment.
type Step struct {
	// At is counted from the begin of the faults.
	At time.Duration
	// Fault is a name in [Faults].
	Fault string
	// Target is who is struck, by a name that is the same in each run; empty for the cluster as a whole.
	Target string
	// Lasts is how long until it is taken back.
	Lasts time.Duration
	// Pick decides all else: which of several ways, of which age.
	Pick uint64
}

// String is a line of a printed plan.
func (s Step) String() string {
	return fmt.Sprintf("%8s %-24s %-10s %5s  %016x", s.At.Round(time.Millisecond), s.Fault, s.Target, s.Lasts.Round(100*time.Millisecond), s.Pick)
}

// Plan is what is done when. It is a pure function of the options' seed, duration and number of servers: a seed tells all.
type Plan []Step

// String is the plan, a line a step.
func (p Plan) String() string {
	lines := make([]string, len(p))
	for i, step := range p {
		lines[i] = step.String()
	}
	return strings.Join(lines, "\n")
}

// pace is the mean pause between two faults among fifty servers; more servers have more of them.
const pace = 900 * time.Millisecond

// MakePlan plans a campaign: every fault at least once where there is time, and by its weight beyond.
func MakePlan(options Options) Plan {
	random := rand.New(rand.NewPCG(options.Seed, uint64(options.Servers))) //nolint:gosec // a plan must repeat, not surprise
	faults := slices.DeleteFunc(Faults(), func(f Fault) bool { return !options.takes(f) })
	var plan Plan
	pause := pace * 50 / time.Duration(max(25, min(options.Servers, 150)))
	count := int(options.Duration / pause)
	for i := range count {
		// Somewhere within its share of the time, so that the plan is even and two faults may still fall together.
		at := time.Duration((float64(i) + 1.5*random.Float64()) * float64(pause))
		if f := choose(faults, random); at < options.Duration && f.Every == 0 {
			plan = append(plan, f.step(at, options, random))
		}
	}
	for _, f := range faults {
		plan = append(plan, f.regular(options, random)...)
		if !slices.ContainsFunc(plan, func(s Step) bool { return s.Fault == f.Name }) {
			at := time.Duration(random.Float64() * float64(options.Duration))
			if f.Recovers {
				at = (options.Duration + at) / 2 // by then there is a snapshot to restore, if any is taken
			}
			plan = append(plan, f.step(at, options, random))
		}
	}
	slices.SortStableFunc(plan, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return plan
}

// regular are the steps of a fault that has a rhythm instead of a weight: anywhere within each of its spans, if the span fits.
func (f Fault) regular(options Options, random *rand.Rand) Plan {
	var plan Plan
	every := f.Every
	if f.Recovers {
		every = scaled(every, options.Servers)
	}
	for from := every; every > 0 && from <= options.Duration; from += every {
		at := from - time.Duration(random.Float64()*float64(every)/2)
		plan = append(plan, f.step(at, options, random))
	}
	return plan
}

// scaled is a time that is longer the more servers there are than fifty: they all share one API server.
func scaled(t time.Duration, servers int) time.Duration {
	return t * time.Duration(max(50, servers)) / 50
}

func choose(faults []Fault, random *rand.Rand) Fault {
	total := 0
	for _, f := range faults {
		total += f.Weight
	}
	at := random.IntN(total)
	for _, f := range faults {
		if at -= f.Weight; at < 0 {
			return f
		}
	}
	return faults[len(faults)-1]
}

func (f Fault) step(at time.Duration, options Options, random *rand.Rand) Step {
	return Step{
		At: at, Fault: f.Name, Target: f.On.name(options, random),
		Lasts: f.Least + time.Duration(random.Float64()*float64(f.Most-f.Least)), Pick: random.Uint64(),
	}
}

// Target is what kind of thing a fault strikes.
type Target int

// What faults strike.
const (
	OnCluster Target = iota
	OnMachine        // a machine, by the name of its BMC
	OnSeat           // whatever a tenant's seat has claimed now
	OnManager        // one of the two
)

func (t Target) name(options Options, random *rand.Rand) string {
	switch t {
	case OnMachine:
		return machineName(random.IntN(options.machines()))
	case OnSeat:
		return seatName(random.IntN(len(seatsOf(options.Servers))))
	case OnManager:
		return managerName(random.IntN(managerCount))
	case OnCluster:
	}
	return ""
}

func machineName(i int) string { return fmt.Sprintf("m-%03d", i) }

const seatPrefix = "seat-"

func seatName(i int) string { return fmt.Sprintf("%s%03d", seatPrefix, i) }

func managerName(i int) string { return fmt.Sprintf("manager-%d", i) }

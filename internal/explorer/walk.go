// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"math/rand/v2"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// WalkWorld is the world that is walked at random: everything there is, far more of it than can be explored to the end.
func WalkWorld() World {
	return World{
		Name: "walk", About: "two claims, two machines and a maintenance, and everybody who may do anything",
		Servers: 2, Claims: 2, Enrolled: true,
		Policy: v1alpha1.MaintenanceOwnerApproval, MaintenancePower: v1alpha1.PowerOff,
		Deeds: []Deed{
			CreateClaim, DeleteClaim, ClaimPower, Restart, DeleteServer, ForceRelease, CreateMaintenance, DeleteMaintenance, Approve, Cordon, Pause,
		}, People: 12,
		Harms:   []Harm{WipeStatus, OldStatus, DropLedger, DropClaimLedger, LoseServer, LoseClaim, RestoreServer, RestoreClaim, OldServer, HandOn, PowerCycle},
		Adverse: 2, Tenant: 4, Stalls: 4, StallEffects: true, StallWrites: true, StallLooks: true, Lag: true,
	}
}

// longestWalk is how many steps a walk takes before the next begins.
const longestWalk = 400

// Walk plays a world at random, walk after walk, until a bound of the options (MaxStates counts steps) ends it: wider than can be explored, never to the end. A seed
// gives the same walks each time.
func Walk(w World, b Brain, seed uint64, o Options) Result {
	start := time.Now()
	q := &stroll{explorer: newExplorer(w, b), options: o, told: search.Told{}}
	q.result.World = w.Name
	for walk := uint64(0); !o.Over(q.result, 0) && (o.MaxStates == 0 || q.result.Transitions < o.MaxStates); walk++ {
		q.walk(rand.New(rand.NewPCG(seed, walk))) //nolint:gosec // a walk must be replayable, not secret
		q.forget()
	}
	q.result.States, q.result.Took = q.result.Transitions, time.Since(start)
	return q.result
}

// stroll is walks under way.
type stroll struct {
	*explorer
	options Options
	result  Result
	told    search.Told
}

// report keeps one violation of a kind. Where it is one of the state itself, how things go on is told too.
func (q *stroll) report(b breach, path []uint16, ofState bool) {
	tell := q.Tell
	if ofState {
		tell = q.TellRest
	}
	q.told.Report(&q.result, b.told(), func() []Line { return tell(path) })
}

// walk takes one walk.
func (q *stroll) walk(random *rand.Rand) {
	s := q.initial()
	s.tidy()
	var taken []uint16
	for len(taken) < longestWalk {
		next, nth, broken := q.stride(&s, random)
		if nth == search.NoStep {
			break
		}
		q.result.Transitions++
		taken = append(taken, nth)
		q.result.Depth = max(q.result.Depth, len(taken))
		if broken != unbroken {
			q.report(broken, taken, false)
			return
		}
		s = next
		s.tidy()
	}
	if q.options.Rest {
		if broken := q.restless(s); broken != unbroken {
			q.report(broken, taken, true)
		}
	}
}

// stride is one step at random: each successor is as likely as any other.
func (q *stroll) stride(s *State, random *rand.Rand) (chosen State, nth uint16, broken breach) {
	nth = search.NoStep
	count := 0
	q.successors(s, func(next *State, m move) {
		count++
		if random.IntN(count) == 0 {
			chosen, nth, broken = *next, uint16(count-1), m.broken
		}
	})
	return chosen, nth, broken
}

// mostKept bounds what is remembered between walks.
const mostKept = 400_000

// forget starts the memory anew once it is large: walks seldom meet.
func (q *stroll) forget() {
	if len(q.serverChoices.list)+len(q.claimChoices.list)+len(q.rests) < mostKept {
		return
	}
	q.explorer = newExplorer(q.world, q.brain)
}

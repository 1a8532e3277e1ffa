// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Walker is a game that can be walked at random.
type Walker[S comparable] interface {
	Game[S]
	// Spends says that a step spends what the world has of people, adversary, stalls and chance: somebody interferes.
	Spends(before, after *S) bool
	// Remembers is how much is kept of what was decided and seen so far.
	Remembers() int
}

// Walks are walks at random.
type Walks struct {
	// Seed gives the same walks each time. From is the number of the first of them: a single walk is found again by both.
	Seed, From uint64
	// Options bound them: MaxStates is how many steps, Depth how long a walk is (0: 400 steps).
	Options
}

const (
	// longestWalk is how many steps a walk takes before the next begins.
	longestWalk = 400
	// calmSteps is how many steps are taken, in the mean, before somebody interferes again where somebody could: what interferes is spread
	// over a walk, and things have time to get somewhere in between.
	calmSteps = 5
	// mostKept bounds what is remembered between walks: they seldom meet.
	mostKept = 400_000
)

// Walk plays a game at random, walk after walk, until a bound ends it: wider than can be explored, never to the end. begin makes the game
// anew.
func Walk[S comparable](world string, begin func() Walker[S], w Walks) Result {
	start := time.Now()
	q := &walking[S]{game: begin(), walks: w, told: Told{}}
	q.result.World = world
	for number := w.From; !w.Over(q.result, 0) && (w.MaxStates == 0 || q.result.Transitions < w.MaxStates); number++ {
		q.walk(number)
		if q.game.Remembers() > mostKept {
			q.decided += q.game.Decisions()
			q.game = begin()
		}
	}
	q.result.States, q.result.Decisions, q.result.Took = q.result.Transitions, q.decided+q.game.Decisions(), time.Since(start)
	return q.result
}

// walking is walks under way.
type walking[S comparable] struct {
	game    Walker[S]
	walks   Walks
	decided int
	result  Result
	told    Told
}

// walk takes one walk.
func (q *walking[S]) walk(number uint64) {
	random := rand.New(rand.NewPCG(q.walks.Seed, number)) //nolint:gosec // a walk must be replayable, not secret
	length := q.walks.Depth
	if length == 0 {
		length = longestWalk
	}
	s := q.game.Start()
	q.game.Tidy(&s)
	var taken []uint16
	for len(taken) < length {
		next, nth := q.stride(&s, random, func(nth uint16, broken Breach) {
			q.report(number, broken, append(slices.Clone(taken), nth), q.game.Tell)
		})
		if nth == NoStep || q.ended() {
			break
		}
		q.result.Transitions++
		taken = append(taken, nth)
		q.result.Depth = max(q.result.Depth, len(taken))
		s = next
		q.game.Tidy(&s)
	}
	if !q.walks.Rest || q.ended() {
		return
	}
	if broken := q.game.Restless(s); broken != (Breach{}) {
		q.report(number, broken, taken, q.game.TellRest)
	}
}

// ended says that a violation ends the walks.
func (q *walking[S]) ended() bool { return len(q.result.Violations) > 0 && !q.walks.All }

// report keeps one violation of a kind, and says by what it is found again.
func (q *walking[S]) report(number uint64, b Breach, path []uint16, tell func([]uint16) []Line) {
	known := len(q.result.Violations)
	q.told.Report(&q.result, b, func() []Line { return tell(path) })
	if len(q.result.Violations) > known {
		q.result.Violations[known].Replay = fmt.Sprintf("SEED=%d FROM=%d WORLD=%s, step %d", q.walks.Seed, number, q.result.World, len(path))
	}
}

// one is a step that was drawn out of several, each as likely as any other.
type one[S comparable] struct {
	count int
	state S
	nth   uint16
}

func (o *one[S]) draw(random *rand.Rand, next *S, nth uint16) {
	if o.count++; random.IntN(o.count) == 0 {
		o.state, o.nth = *next, nth
	}
}

// stride is one step at random: of those that interfere, now and then; else of the others. A step that breaks something is told to breaks,
// and never taken: every step that could be taken is checked, whichever is.
func (q *walking[S]) stride(s *S, random *rand.Rand, breaks func(nth uint16, broken Breach)) (chosen S, nth uint16) {
	var calm, spending one[S]
	number := uint16(0)
	q.game.Moves(s, func(next *S, b Breach) {
		switch {
		case b != (Breach{}):
			breaks(number, b)
		case q.game.Spends(s, next):
			spending.draw(random, next, number)
		default:
			calm.draw(random, next, number)
		}
		number++
	})
	take := &calm
	if calm.count == 0 || (spending.count > 0 && random.IntN(1+calmSteps) == 0) {
		take = &spending
	}
	if take.count == 0 {
		return chosen, NoStep
	}
	return take.state, take.nth
}

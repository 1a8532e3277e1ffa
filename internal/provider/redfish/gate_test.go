// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// TestGateHandsOnByPriority: an acting call overtakes every waiting look, a logout overtakes both (B236, B163).
func TestGateHandsOnByPriority(t *testing.T) {
	g := &gate{}
	first := g.enqueue(looking)
	if err := first.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting := map[string]*ticket{
		"look 1": g.enqueue(looking), "look 2": nil, "act": g.enqueue(acting), "logout": g.enqueue(leaving),
	}
	waiting["look 2"] = g.enqueue(looking)
	first.leave()
	for _, name := range []string{"logout", "act", "look 1", "look 2"} {
		if err := waiting[name].wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for other, next := range waiting {
			if other != name && next != nil && hasTurn(next) {
				t.Errorf("%s has its turn together with %s", other, name)
			}
		}
		waiting[name].leave()
		waiting[name] = nil
	}
}

func hasTurn(t *ticket) bool {
	select {
	case <-t.turn:
		return true
	default:
		return false
	}
}

// TestGateGivesUpItsPlace: whoever stops waiting delays nobody, also when the turn comes in that moment.
func TestGateGivesUpItsPlace(t *testing.T) {
	g := &gate{}
	holder, quitter, last := g.enqueue(looking), g.enqueue(acting), g.enqueue(looking)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if quitter.wait(ended) == nil {
		t.Fatal("waited although the context had ended")
	}
	late := g.enqueue(acting)
	holder.leave()
	late.giveUp() // its turn came, and it does not want it
	if err := last.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	last.leave()
	if g.taken || slices.ContainsFunc(g.waiting[:], func(q []chan struct{}) bool { return len(q) > 0 }) {
		t.Error("the gate is not free in the end")
	}
}

// TestGateIsExclusive: whatever the mix of callers, never two at a time, and all get their turn.
func TestGateIsExclusive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		callers := rapid.SliceOfN(rapid.IntRange(0, priorities-1), 1, 40).Draw(t, "priorities")
		impatient := rapid.SliceOfN(rapid.Bool(), len(callers), len(callers)).Draw(t, "impatient")
		g := &gate{}
		var inside, served atomic.Int32
		var wg sync.WaitGroup
		for i, p := range callers {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if impatient[i] {
					cancel()
				}
				place := g.enqueue(priority(p))
				if place.wait(ctx) != nil {
					return
				}
				if inside.Add(1) != 1 {
					t.Errorf("two in the lane")
				}
				served.Add(1)
				inside.Add(-1)
				place.leave()
			})
		}
		wg.Wait()
		patient := int32(0)
		for _, quits := range impatient {
			if !quits {
				patient++
			}
		}
		if served.Load() < patient || g.taken {
			t.Errorf("%d served of %d patient ones; taken %v", served.Load(), patient, g.taken)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/explorer"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/explorer/vm"
)

// options are what was asked for.
type options struct {
	worlds, kinds string
	moves         int
	walk          time.Duration
	seed          uint64
}

// everyKind is the word for every kind of move of the adversary.
const everyKind = "every"

// plan is what is explored, and what is walked.
func (o options) plan() (search.Plan, search.Strolls, error) {
	plan := search.Plan{Worlds: o.explored()}
	strolls := search.Strolls{Worlds: walked(), Long: o.walk, Walks: search.Walks{
		Seed: o.seed, Options: search.Options{MaxStates: stepsOfAWalk, Rest: true, All: true},
	}}
	if o.kinds != "" && o.kinds != everyKind {
		return plan, strolls, fmt.Errorf("kinds %q: there is %q", o.kinds, everyKind)
	}
	if o.walk > 0 {
		plan.Worlds, strolls.Walks.MaxStates = nil, 0
	}
	if o.worlds != "" {
		return o.choose(plan, strolls)
	}
	if o.walk == 0 {
		plan.Mutants = mutants()
	}
	return plan, strolls, nil
}

// choose keeps the worlds that are named.
func (o options) choose(plan search.Plan, strolls search.Strolls) (search.Plan, search.Strolls, error) {
	chosen := strings.Split(o.worlds, ",")
	var names []string
	for _, w := range plan.Worlds {
		names = append(names, w.Name)
	}
	for _, w := range strolls.Worlds {
		names = append(names, w.Name)
	}
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			return plan, strolls, fmt.Errorf("there is no world %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	plan.Worlds = slices.DeleteFunc(plan.Worlds, func(w search.World) bool { return !slices.Contains(chosen, w.Name) })
	strolls.Worlds = slices.DeleteFunc(strolls.Worlds, func(w search.Stroll) bool { return !slices.Contains(chosen, w.Name) })
	return plan, strolls, nil
}

// explored are the worlds of machines, then those of virtual servers.
func (o options) explored() []search.World {
	var all []search.World
	for _, w := range explorer.Worlds() {
		if o.kinds == everyKind {
			w.Harms, w.Adverse = explorer.EveryHarm(), max(1, w.Adverse)
		}
		if o.moves > 0 && w.Adverse > 0 {
			w.Adverse = o.moves
		}
		all = append(all, w.Planned())
	}
	for _, w := range vm.Worlds() {
		if o.kinds == everyKind {
			w.Harms, w.Adverse = w.EveryHarm(), max(1, w.Adverse)
		}
		if o.moves > 0 && w.Adverse > 0 {
			w.Adverse = o.moves
		}
		all = append(all, w.Planned())
	}
	return all
}

// walked are the larger worlds.
func walked() []search.Stroll {
	var all []search.Stroll
	for _, w := range explorer.WalkWorlds() {
		all = append(all, search.Stroll{Name: w.Name, Walk: func(walks search.Walks) search.Result { return explorer.Walk(w, explorer.Production(), walks) }})
	}
	for _, w := range vm.WalkWorlds() {
		all = append(all, search.Stroll{Name: w.Name, Walk: func(walks search.Walks) search.Result { return vm.Walk(w, vm.Production(), walks) }})
	}
	return all
}

func mutants() []search.Mutant {
	var all []search.Mutant
	for _, m := range explorer.Mutants() {
		all = append(all, m.Planned())
	}
	for _, m := range vm.Mutants() {
		all = append(all, m.Planned())
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package explorer

import "github.com/holdfast-dev/holdfast/internal/explorer/search"

// Catch is how a mutant was found out.
type Catch struct {
	Mutant Mutant
	// Result of the exploration that found it, or of the last one that did not.
	Result Result
	// Caught by a violation.
	Caught bool
}

// Hunt explores a mutant's worlds until one shows what is missing.
func Hunt(m Mutant, o Options) Catch {
	o.Rest = m.Rest
	result := search.Hunt(m.Worlds, func(name string) Result {
		w, known := WorldNamed(name)
		if !known {
			panic("no world " + name)
		}
		b := Production()
		m.Apply(&b)
		return Explore(w, b, o)
	})
	return Catch{Mutant: m, Result: result, Caught: len(result.Violations) > 0}
}

// Planned is the world as a plan has it.
func (w World) Planned() search.World {
	return search.World{Name: w.Name, Explore: func(o Options) Result { return Explore(w, Production(), o) }}
}

// Planned is the mutant as a plan has it.
func (m Mutant) Planned() search.Mutant {
	return search.Mutant{Clause: m.Clause, Behind: m.Behind, Hunt: func(o Options) Result { return Hunt(m, o).Result }}
}

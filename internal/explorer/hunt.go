// SPDX-License-Identifier: Apache-2.0

package explorer

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
	caught := Catch{Mutant: m}
	for _, name := range m.Worlds {
		w, known := WorldNamed(name)
		if !known {
			panic("no world " + name)
		}
		b := Production()
		m.Apply(&b)
		if caught.Result = Explore(w, b, o); len(caught.Result.Violations) > 0 {
			caught.Caught = true
			return caught
		}
	}
	return caught
}

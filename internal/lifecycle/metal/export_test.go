// SPDX-License-Identifier: Apache-2.0

package metal

// ClauseNames are the names of all clauses, in order, each once: what the table tests must show.
func ClauseNames() []string {
	var names []string
	seen := map[string]bool{}
	add := func(list steps) {
		for _, c := range list {
			if !seen[c.Name] {
				seen[c.Name] = true
				names = append(names, c.Name)
			}
		}
	}
	add(before)
	add(first)
	for _, r := range table {
		add(r.steps)
	}
	return names
}

// Row is a row of the phase table, for people.
type Row struct{ Number, Text, Phase string }

// Rows are the rows of the phase table, in order.
func Rows() []Row {
	rows := make([]Row, len(table))
	for i, r := range table {
		rows[i] = Row{r.number, r.text, string(r.phase)}
	}
	return rows
}

// LastAlwaysApplies says of every phase whether its last clause applies always: Decide is total by construction.
func LastAlwaysApplies() map[string]bool {
	out := map[string]bool{}
	for _, r := range table {
		last := r.steps[len(r.steps)-1]
		out[string(r.phase)+" "+r.number] = last.When(&state{})
	}
	return out
}

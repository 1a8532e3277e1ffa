// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// report is what a campaign came to.
type report struct {
	options                     Options
	plan                        Plan
	tally                       *tally
	judged                      judge.Report
	settledAfter, answeredAfter time.Duration
	atRest, atEnd               outcome
	rested, answered            bool // within the time that the campaign allows
	ends                        int
}

// passed says that no rule was broken, that all came to rest, and that what was planned was done: a campaign without faults shows nothing.
func (r *report) passed() bool {
	return len(r.judged.Violations) == 0 && r.judged.Settled && len(r.tally.failures) == 0 && r.rested && r.answered &&
		r.atEnd.machines >= r.options.machines() && len(r.neverDone()) == 0
}

// oftenEnough is how often a fault is planned that must be done at least once: one that is planned less often may find nobody to strike.
const oftenEnough = 3

// neverDone are the faults that were planned often enough, and of which none was done; and restores of the whole cluster, if any was planned.
func (r *report) neverDone() []string {
	planned := map[string]int{}
	for _, step := range r.plan {
		planned[step.Fault]++
	}
	var missing []string
	restores, restored := 0, 0
	for _, f := range Faults() {
		if f.Recovers {
			restores, restored = restores+planned[f.Name], restored+r.tally.faults[f.Name]["done"]
		}
	}
	if restores > 0 && restored == 0 && planned[snapshotFault] > 0 {
		missing = append(missing, fmt.Sprintf("a restore of the whole cluster: planned %d times", restores))
	}
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		if counts := r.tally.faults[name]; planned[name] >= oftenEnough && counts["done"] == 0 {
			missing = append(missing, fmt.Sprintf("%s: planned %d times, nobody to strike %d, failed %d",
				name, planned[name], counts["nobody"], counts["failed"]))
		}
	}
	return missing
}

// String is how all objects are, in a line.
func (r outcome) String() string {
	parts := []string{fmt.Sprintf("%d ready", r.ready), fmt.Sprintf("%d waiting for a machine", r.waiting)}
	for _, reason := range slices.Sorted(maps.Keys(r.held)) {
		parts = append(parts, fmt.Sprintf("%d held: %s", r.held[reason], reason))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d on their way", len(r.unsettled))), ", ")
}

// tell writes the report, and the whole record into the campaign's folder.
func (c *campaign) tell(r *report) error {
	out := io.Discard
	if c.options.Out != nil {
		out = c.options.Out
	}
	r.print(out)
	var failures []error
	verdict, err := json.MarshalIndent(r.judged, "", "  ")
	failures = append(failures, err, c.save("verdict.json", string(verdict)), c.journal.save(c.options.Dir), c.saveObjects(),
		c.save("plan.txt", c.plan.String()), c.save("campaign.log", strings.Join(c.tally.lines, "\n")))
	if r.passed() {
		fmt.Fprintf(out, "\npassed: seed %d\n", c.options.Seed)
		return errors.Join(failures...)
	}
	fmt.Fprintf(out, "\nFAILED: seed %d. The same plan again:\n\n\t%s\n\nLogs, objects, the plan and the whole record are in %s\n",
		c.options.Seed, c.options.again(), c.options.Dir)
	return errors.Join(failures...)
}

func (c *campaign) save(name, content string) error {
	return os.WriteFile(filepath.Join(c.options.Dir, name), []byte(content+"\n"), 0o600)
}

// saveObjects keeps how all objects were at the end.
func (c *campaign) saveObjects() error {
	var all strings.Builder
	for _, o := range c.sight.all() {
		o = o.DeepCopyObject().(object)
		o.SetManagedFields(nil)
		text, err := yaml.Marshal(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "--- # %s\n%s", idOf(o), text)
	}
	return c.save("objects.yaml", all.String())
}

func (r *report) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nfault\tdone\tnobody to strike\tnot done\n")
	total := map[string]int{}
	for _, f := range Faults() {
		counts := r.tally.faults[f.Name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", f.Name, counts["done"], counts["nobody"], counts["failed"])
		for outcome, n := range counts {
			total[outcome] += n
		}
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\n", total["done"], total["nobody"], total["failed"])
	fmt.Fprintf(table, "\nwhat was asked for and what happened\ttimes\n")
	for _, kind := range slices.Sorted(maps.Keys(r.judged.Counts)) {
		fmt.Fprintf(table, "%s\t%d\n", kind, r.judged.Counts[kind])
	}
	fmt.Fprintf(table, "\nholds answered by a person\ttimes\n")
	for _, reason := range slices.Sorted(maps.Keys(r.tally.answers)) {
		fmt.Fprintf(table, "%s\t%d\n", reason, r.tally.answers[reason])
	}
	_ = table.Flush() // as far as out takes it
	fmt.Fprintf(out, "\nat rest or held %s after the last fault: %s\n", r.settledAfter.Round(100*time.Millisecond), r.atRest)
	fmt.Fprintf(out, "all holds answered %s later: %s\n", r.answeredAfter.Round(100*time.Millisecond), r.atEnd)
	fmt.Fprintf(out, "managers that ended by themselves: %d\n", r.ends)
	r.printTrouble(out)
}

func (r *report) printTrouble(out io.Writer) {
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(out, "\n%s\n", title)
		for _, line := range lines {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	list("on their way after the first wait:", r.atRest.unsettled)
	list("on their way at the end:", r.atEnd.unsettled)
	if there, all := r.atEnd.machines, r.options.machines(); there < all {
		list("machines without a Server at the end:", []string{fmt.Sprintf("%d of %d have one", there, all)})
	}
	list("faults that were planned and never done:", r.neverDone())
	list("the campaign itself:", r.tally.failures)
	excused := map[string]int{}
	for _, v := range r.judged.Excused {
		excused[v.Rule+" "+v.How]++
	}
	for _, how := range slices.Sorted(maps.Keys(excused)) {
		fmt.Fprintf(out, "\nwithin a limit that is named (%d times, see verdict.json): %s", excused[how], how)
	}
	for _, v := range r.judged.Violations {
		fmt.Fprintf(out, "\nVIOLATION: %s", v)
	}
	fmt.Fprintf(out, "\nviolations: %d, within a limit that is named: %d\n", len(r.judged.Violations), len(r.judged.Excused))
}

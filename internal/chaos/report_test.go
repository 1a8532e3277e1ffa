// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// rightReport is of a campaign that is passed.
func rightReport() *report {
	r := &report{
		options: Options{Servers: leastServers}, tally: &tally{}, judged: judge.Report{Settled: true}, rested: true, answered: true,
		atEnd: outcome{machines: machinesOf(leastServers)},
	}
	for range oftenEnough {
		r.plan = append(r.plan, Step{Fault: "move"})
	}
	r.tally.count("move", "nobody")
	r.tally.count("move", "done")
	return r
}

// A campaign is passed where rules hold, all came to rest, and faults were done: each of these is asked for.
func TestACampaignIsPassedForWhatItShows(t *testing.T) {
	if !rightReport().passed() {
		t.Fatal("a campaign in which all is right is not passed")
	}
	for name, spoil := range map[string]func(*report){
		"a violation":                        func(r *report) { r.judged.Violations = []judge.Violation{{}} },
		"the end was not judged":             func(r *report) { r.judged.Settled = false },
		"the campaign failed":                func(r *report) { r.tally.fail("a gap") },
		"it never rested":                    func(r *report) { r.rested = false },
		"holds were not answered":            func(r *report) { r.answered = false },
		"nothing was seen":                   func(r *report) { r.atEnd = outcome{} },
		"a fault was planned and never done": func(r *report) { r.tally.faults["move"]["done"] = 0 },
		"no restore that was planned was done": func(r *report) {
			r.plan = append(r.plan, Step{Fault: snapshotFault}, Step{Fault: "restore-snapshot"})
			r.tally.count("restore-snapshot", "nobody")
		},
		"a fault was planned and never struck": func(r *report) { r.tally.faults = nil },
	} {
		r := rightReport()
		if spoil(r); r.passed() {
			t.Errorf("%s, and the campaign is passed", name)
		}
	}
}

// A fault that was never done is named; one that is planned less often may find nobody.
func TestFaultsThatWereNeverDoneAreNamed(t *testing.T) {
	r := rightReport()
	r.tally.faults = nil
	r.tally.count("move", "failed")
	r.plan = append(r.plan, Step{Fault: "hide-vm"})
	want := []string{"move: planned 3 times, nobody to strike 0, failed 1"}
	if got := r.neverDone(); !slices.Equal(got, want) {
		t.Errorf("never done: %q, want %q", got, want)
	}
	var out strings.Builder
	if r.print(&out); !strings.Contains(out.String(), want[0]) {
		t.Errorf("not told:\n%s", &out)
	}
}

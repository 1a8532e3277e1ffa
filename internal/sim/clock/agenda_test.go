// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAnAgendaKeepsItsOrderAndPace(t *testing.T) {
	c := clock.NewManual(start)
	agenda := clock.NewAgenda(c)
	var got []string
	note := func(what string) func(time.Time) {
		return func(at time.Time) { got = append(got, what+" "+at.Sub(start).String()) }
	}
	leave := agenda.Enter()
	agenda.Schedule(start.Add(2*time.Second), note("second"))
	agenda.Schedule(start.Add(2*time.Second), note("third"))
	dropped := agenda.Schedule(start.Add(time.Second), note("dropped"))
	agenda.Schedule(start.Add(time.Second), func(at time.Time) {
		note("first")(at)
		agenda.Schedule(at.Add(3*time.Second), note("chained"))
	})
	agenda.Cancel(dropped)
	agenda.Cancel(dropped)
	leave()
	if len(got) != 0 {
		t.Fatalf("done before its time: %v", got)
	}
	c.Advance(10 * time.Second) // noticed late, and yet the chain keeps its pace
	if diff := cmp.Diff([]string{"first 1s", "second 2s", "third 2s", "chained 4s"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAClosedAgendaDoesNothingMore(t *testing.T) {
	c := clock.NewManual(start)
	agenda := clock.NewAgenda(c)
	leave := agenda.Enter()
	agenda.Schedule(start.Add(time.Second), func(time.Time) { t.Error("done after the end") })
	leave()
	if !agenda.Close() || agenda.Close() {
		t.Error("an agenda closes once")
	}
	c.Advance(time.Minute)
	agenda.Enter()()
}

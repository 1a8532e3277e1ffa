// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// fleet is n BMCs that are registered and enrolled, and the manager that did it.
type fleet struct {
	*harness.Kit
	n       int
	bmcs    []*sim.BMC
	manager *harness.Process
	// base is the memory of a manager without any server, settled.
	base harness.Usage
	// claimed says that every server has a claim.
	claimed bool
}

// figures of one fleet: table 4.
type figures struct {
	n                 int
	enrolled          time.Duration // from the manager's start until all were Available
	writes            int           // of the operator until then, by the audit log
	busy              time.Duration // processor time of the manager until then
	base, rss         harness.Usage
	claims            int
	bound             time.Duration
	conflicts         float64
	limit             float64 // writes a second that the API server takes
	gogc, memoryLimit float64
}

func (f figures) rate() float64       { return float64(f.writes) / f.enrolled.Seconds() }
func (f figures) share() float64      { return f.rate() / f.limit }
func (f figures) cpu() time.Duration  { return f.busy / time.Duration(f.n) }
func (f figures) kilobytes() float64  { return float64(f.rss.Most-f.base.Now) / 1024 / float64(f.n) }
func (f figures) conflicted() float64 { return f.conflicts / float64(f.claims) }

// fleets takes tables 3, 4 and 5, each fleet on a control plane of its own.
func (r *run) fleets(t *testing.T) {
	var measured []figures
	for _, n := range r.plan.sizes() {
		t.Run(fmt.Sprintf("fleet of %d", n), func(t *testing.T) {
			f, found := r.enroll(t, n)
			if n <= r.plan.claims {
				r.claim(f, &found)
			}
			if r.plan.takes(5) && n == r.plan.wakes {
				r.reactions = r.wakes(f)
				r.tellReactions(t)
			}
			if r.plan.takes(3) && n == r.plan.restart {
				r.tell(t, r.restarted(f))
			}
			f.manager.Stop()
			if r.plan.takes(4) {
				found.limit = r.writeLimit(f)
				measured = append(measured, found)
				r.tell(t, fleetTable(measured))
			}
		})
	}
}

// enroll registers n BMCs, starts a manager over them and waits until all servers are Available.
func (r *run) enroll(t *testing.T, n int) (*fleet, figures) {
	t.Helper()
	suite := r.suite(t, r.lively("full"))
	k := suite.Kit(t, "fleet")
	k.Patience = 2*time.Minute + time.Duration(n)*100*time.Millisecond
	f := &fleet{Kit: k, n: n, base: r.base(k)}
	progress(t, "registering %d BMCs", n)
	f.bmcs = k.RegisterFleet(n)
	before := place(k)
	seen := sight(k, "Available", available)
	started := time.Now()
	f.manager = r.manager(k)
	profile := r.keepCPU(t, f.manager, fmt.Sprintf("enroll-%d.cpu.pprof", n))
	took := seen.until(n, started, nil)
	seen.stop()
	found := figures{
		n: n, enrolled: took[n-1], busy: f.manager.CPU(), rss: f.manager.Memory(), base: f.base,
		gogc: f.manager.Metric("go_gc_gogc_percent"), memoryLimit: f.manager.Metric("go_gc_gomemlimit_bytes"),
	}
	for _, call := range calls(k, before) {
		if !call.IsRead() {
			found.writes++
		}
	}
	profile()
	r.keep(t, f.manager, "heap", fmt.Sprintf("enroll-%d.heap.pprof", n))
	progress(t, "%d BMCs: all Available after %s, half of them after %s; %.1f writes and %s of the manager's processor time a server; RSS at most %d MiB, %d MiB without servers",
		n, seconds(found.enrolled), seconds(quantile(took, 0.5)), float64(found.writes)/float64(n), seconds(found.cpu()), found.rss.Most>>20, found.base.Now>>20)
	return f, found
}

// base is the memory of a manager that has nothing to do.
func (r *run) base(k *harness.Kit) harness.Usage {
	k.T.Helper()
	manager := r.manager(k)
	k.Until("a manager without servers is quiet", quiet(manager))
	usage := manager.Memory()
	manager.Stop()
	return usage
}

// claim has the tenant claim every server of the fleet in one go.
func (r *run) claim(f *fleet, found *figures) {
	f.T.Helper()
	progress(f.T, "%d claims", f.n)
	seen := sight(f.Kit, "bound", bound)
	started := time.Now()
	profile := r.keepCPU(f.T, f.manager, fmt.Sprintf("claim-%d.cpu.pprof", f.n))
	f.ClaimFleet(f.n)
	found.claims, found.bound = f.n, seen.until(f.n, started, nil)[f.n-1]
	seen.stop()
	found.conflicts = f.manager.Metric("holdfast_claim_conflicts_total")
	f.ExpectOneEach(f.n)
	f.claimed = true
	profile()
	r.keep(f.T, f.manager, "heap", fmt.Sprintf("claim-%d.heap.pprof", f.n))
	progress(f.T, "%d claims: all bound after %s, %.0f conflicts", f.n, seconds(found.bound), found.conflicts)
}

// aims of fleets of a size; those of other sizes are told without.
var (
	availableWithin = map[int]time.Duration{200: 20 * time.Second, 1000: time.Minute}
	memoryBelow     = map[int]int64{200: 80 << 20, 1000: 250 << 20}
)

const (
	shareOfLimit     = 0.6
	kilobytesAServer = 60
	growth           = 1.3
	boundWithin      = 30 * time.Second
	conflictShare    = 0.01
)

func fleetTable(measured []figures) Table {
	table := Table{Number: 4, Title: "Fleets: enrolled and claimed"}
	grid := Grid{Head: []string{
		"BMCs", "all Available", "writes a server", "writes a second", "limit of the API server", "share of it", "manager CPU a server", "RSS without servers", "RSS at most",
		"KiB a server", "claims", "all bound", "claims a second", "conflicts",
	}}
	for _, f := range measured {
		table.Aims = append(table.Aims, f.aims()...)
		grid.Row(f.row()...)
	}
	first, last := measured[0], measured[len(measured)-1]
	for _, f := range measured { // growth is told from a thousand on, where there is one
		if f.n <= 1000 {
			first = f
		}
	}
	if last.n > first.n {
		ratio := float64(last.cpu()) / float64(first.cpu())
		table.Aims = append(table.Aims, Aim{
			What: fmt.Sprintf("processor time a server, of %d BMCs against %d", last.n, first.n), Aim: "≤ 1.3 ×",
			Measured: fmt.Sprintf("%.2f × (%s, %s)", ratio, seconds(last.cpu()), seconds(first.cpu())), Met: verdict(ratio <= growth),
		})
	}
	table.Grids = []Grid{grid}
	table.Notes = []string{
		"From the manager's start over BMCs that are registered and not known to it, with the flags named below or those that are the default, until the last Server is Available; writes are the operator's, status.observed included. " +
			"The limit is what the same API server took right after, with the manager stopped: the writes of an enrolment but the creation, to the same Servers and BMCs, by several clients at once and nothing else running. " +
			"A fleet shares the processors with its simulated BMCs and its manager; the limit was measured without them.",
		fmt.Sprintf("The manager ran with GOGC=%.0f and %s. Claims are made by one tenant with a selector that fits every server; conflicts are a claim's lost races for a server.", last.gogc, memoryLimit(last.memoryLimit)),
	}
	return table
}

func memoryLimit(bytes float64) string {
	if bytes <= 0 || bytes > 1<<50 {
		return "no GOMEMLIMIT"
	}
	return fmt.Sprintf("GOMEMLIMIT=%.0f MiB", bytes/(1<<20))
}

func (f figures) aims() []Aim {
	var aims []Aim
	if within, is := availableWithin[f.n]; is {
		aims = append(aims, Aim{
			What: fmt.Sprintf("%d BMCs enrolled → all Available", f.n), Aim: fmt.Sprintf("< %.0f s, or ≥ 60 %% of the write limit", within.Seconds()),
			Measured: fmt.Sprintf("%s; %.0f %%", seconds(f.enrolled), 100*f.share()), Met: verdict(f.enrolled < within || f.share() >= shareOfLimit),
		})
	} else {
		aims = append(aims, Aim{What: fmt.Sprintf("%d BMCs enrolled → all Available", f.n), Aim: "completes", Measured: seconds(f.enrolled), Met: Met})
	}
	if below, is := memoryBelow[f.n]; is {
		aims = append(aims, Aim{
			What: fmt.Sprintf("manager RSS with %d BMCs", f.n), Aim: fmt.Sprintf("< %d MiB", below>>20),
			Measured: fmt.Sprintf("%d MiB", f.rss.Most>>20), Met: verdict(f.rss.Most < below),
		})
	}
	if f.n >= 10_000 {
		aims = append(aims, Aim{
			What: fmt.Sprintf("manager RSS beyond the base, %d BMCs", f.n), Aim: fmt.Sprintf("≤ %d KiB a server", kilobytesAServer),
			Measured: fmt.Sprintf("%.0f KiB", f.kilobytes()), Met: verdict(f.kilobytes() <= kilobytesAServer),
		})
	}
	if f.claims == 0 {
		return aims
	}
	boundAim := Aim{What: fmt.Sprintf("%d claims over %d Available servers → all bound", f.claims, f.n), Aim: "–", Measured: seconds(f.bound), Met: NoAim}
	if f.n >= 1000 {
		boundAim.Aim, boundAim.Met = "< 30 s", verdict(f.bound < boundWithin)
	}
	return append(aims, boundAim, Aim{
		What: fmt.Sprintf("conflicts of %d claims", f.claims), Aim: "< 1 %", Measured: fmt.Sprintf("%.1f %%", 100*f.conflicted()), Met: verdict(f.conflicted() < conflictShare),
	})
}

func (f figures) row() []any {
	row := []any{
		f.n, seconds(f.enrolled), fmt.Sprintf("%.1f", float64(f.writes)/float64(f.n)), fmt.Sprintf("%.0f", f.rate()), fmt.Sprintf("%.0f/s", f.limit),
		fmt.Sprintf("%.0f %%", 100*f.share()), seconds(f.cpu()), fmt.Sprintf("%d MiB", f.base.Now>>20), fmt.Sprintf("%d MiB", f.rss.Most>>20), fmt.Sprintf("%.0f", f.kilobytes()),
	}
	if f.claims == 0 {
		return append(row, "–", "–", "–", "–")
	}
	return append(row, f.claims, seconds(f.bound), fmt.Sprintf("%.0f", float64(f.claims)/f.bound.Seconds()), fmt.Sprintf("%.0f", f.conflicts))
}

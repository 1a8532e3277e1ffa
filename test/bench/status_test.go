// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// unchangedWithin is the aim for a pass that has nothing new to report.
const unchangedWithin = 20 * time.Microsecond

// reported is one way to report, as the command statuspeers measures it.
type reported struct {
	Name        string  `json:"name"`
	Nanoseconds float64 `json:"nanoseconds"`
	Allocations int64   `json:"allocations"`
	Bytes       int64   `json:"bytes"`
	Requests    float64 `json:"requests"`
	Processor   float64 `json:"processor"`
}

// status sets the status library beside its peers: table 6. They are in a module of their own, for what they depend on.
func (r *run) status(t *testing.T) {
	if r.plan.benchtime == "" {
		t.Skip("a tiny run builds no module but this one")
	}
	suite := r.suite(t, r.lively("full"))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, suite.Env.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	progress(t, "measuring the status library beside its peers")
	command := exec.CommandContext(t.Context(), "go", "run", "-C", "../../hack/statuspeers", ".", "-benchtime", r.plan.benchtime)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	output, err := command.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("statuspeers: %v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	var ways []reported
	if err := json.Unmarshal(output, &ways); err != nil || len(ways) == 0 {
		t.Fatalf("statuspeers: %v: %s", err, output)
	}
	r.tell(t, statusTable(ways))
}

// statusTable: the first of the ways is the library's.
func statusTable(ways []reported) Table {
	own := ways[0]
	took := time.Duration(own.Processor)
	table := Table{
		Number: 6, Title: "A pass that has nothing new to report",
		Aims: []Aim{
			{What: "`status`, unchanged, processor time", Aim: "< 20 µs", Measured: micro(own.Processor), Met: verdict(took < unchangedWithin)},
			{What: "requests sent by it", Aim: "0", Measured: fmt.Sprintf("%.0f", own.Requests), Met: verdict(own.Requests == 0), Count: true},
		},
		Notes: []string{
			"All report on the same Server, of thirty annotations and an inventory of 32 parts, at the same API server: six conditions that say what they said before. Processor time is the process's own, collection of garbage included, and is what does not depend on who else runs. Setting the conditions is part of what is measured, reading the object is not.",
		},
	}
	grid := Grid{Head: []string{"way", "processor time a pass", "times `status`", "time a pass", "allocations", "bytes", "requests"}}
	for _, way := range ways {
		grid.Row(way.Name, micro(way.Processor), fmt.Sprintf("%.1f ×", way.Processor/own.Processor), micro(way.Nanoseconds), way.Allocations, way.Bytes, fmt.Sprintf("%.0f", way.Requests))
	}
	table.Grids = []Grid{grid}
	return table
}

func micro(nanoseconds float64) string { return fmt.Sprintf("%.1f µs", nanoseconds/1000) }

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
)

// buildHoldfast builds the managers' binary.
func buildHoldfast(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "holdfast")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/holdfast")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build holdfast: %v\n%s", err, output)
	}
	return binary
}

// A campaign must be able to fail: somebody who switches off a tenant's machine, past Holdfast and in nobody's name, is found by the judge;
// and it is the only thing that is found in a campaign that has a few faults else.
func TestAPowerOffInNobodysNameIsReported(t *testing.T) {
	if os.Getenv("CHAOS_CHECK") == "" {
		t.Skip("a whole campaign: make chaos-check")
	}
	const victim = "m-000"
	sabotage := Fault{Name: "sabotage", do: func(ctx context.Context, c *campaign, _ Step) (func(context.Context) error, error) {
		return nil, c.sabotage(ctx, victim)
	}}
	var out bytes.Buffer
	options := Options{
		Seed: 1, Duration: 25 * time.Second, Servers: leastServers, Settle: time.Minute,
		Binary: buildHoldfast(t), Dir: t.TempDir(), Out: &out, Only: []string{"wipe-status", "kill-manager"},
	}
	plan := append(MakePlan(options), Step{At: options.Duration / 10, Fault: sabotage.Name})
	slices.SortFunc(plan, func(a, b Step) int { return int(a.At - b.At) })
	r, err := conduct(t.Context(), options, append(Faults(), sabotage), plan)
	if err != nil {
		t.Fatal(err)
	}
	id := watch.MachineID(victim, "1")
	found := slices.ContainsFunc(r.judged.Violations, func(v judge.Violation) bool { return v.Rule == "I1" && v.Machine == id })
	others := slices.ContainsFunc(r.judged.Violations, func(v judge.Violation) bool { return v.Machine != id })
	if !found || others || r.passed() || !strings.Contains(out.String(), "make chaos SEED=1") {
		t.Errorf("the sabotage was found: %t, something else: %t, the campaign was passed: %t\n%s", found, others, r.passed(), out.String())
	}
}

// sabotage waits until somebody runs on a machine and takes its power away over its BMC, as a program with the password would.
func (c *campaign) sabotage(ctx context.Context, name string) error {
	machine := c.world.machine(name)
	for machine.Status().Progress != "OSRunning" {
		if !pause(ctx, lookPause) {
			return ctx.Err()
		}
	}
	url := fmt.Sprintf("%s/redfish/v1/Systems/%s/Actions/ComputerSystem.Reset", machine.BMC().Endpoint(), machine.ID())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"ResetType":"ForceOff"}`))
	if err != nil {
		return err
	}
	request.SetBasicAuth(username, firstPassword)
	request.Header.Set("Content-Type", "application/json")
	client := c.world.rack.Client()
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the BMC answers %s", response.Status)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Package tour takes visitors through the life of servers: a script of steps, each of which does something, as a person or a disaster
// would, and checks what came of it by counting: power calls and other writes in the request logs of the simulated BMCs and cloud, installs
// in the log of the machines, VMs in the cloud's own lists, writes of the operator in the API server's audit log.
package tour

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/devmode"
)

// step is one stop of the tour.
type step struct {
	name string
	run  func(context.Context, *tour) error
}

// steps in order. Each leaves behind what the next ones build on.
var steps = []step{
	{"enroll four BMCs", enroll},
	{"claim a server by name, and one by labels", claimTwo},
	{"a tenant powers its machine off", tenantPowersOff},
	{"status wiped, and replaced by an older copy", loseStatus},
	{"manager restarted", restartManager},
	{"Server object lost while its tenant runs", loseServer},
	{"server and claim lost, restored from a backup", restoreBoth},
	{"server restored from before its claim", restoreOlder},
	{"memory cannot be forged or dropped", guardMemory},
	{"maintenance, once the tenant agrees", maintain},
	{"restart", restart},
	{"release", release},
	{"cordon", cordon},
	{"deletions that wait", deleteInUse},
	{"register a cloud", registerCloud},
	{"claim a VM", claimVM},
	{"status of the VM wiped", loseStatusOfVM},
	{"manager restarted beside the VM", restartManager},
	{"VM's server and claim lost, restored from a backup", restoreVM},
	{"a VM without a claim, rebuilt", rebuildVM},
	{"a VM that cannot be made", failVM},
	{"the Cloud is in use", deleteCloudInUse},
	{"everything in the cloud deleted", deleteAllVMs},
	{"at rest", rest},
}

// tour is a tour under way.
type tour struct {
	stack *devmode.Stack
	out   io.Writer
	// admin may do everything; restorer has the role holdfast-admin (it may restore), tenant the role holdfast-tenant in its namespace.
	admin, restorer, tenant client.Client
	// kept are copies of objects as a backup would have them, by what they were taken of.
	kept map[string]client.Object
	// workerServer is the server that was made for the claim worker.
	workerServer string
	// keptStatus is the status of a server before it was claimed, as JSON.
	keptStatus []byte
}

// Run takes the tour on a fresh stack without a manager, which it starts. The first step that fails ends it.
func Run(ctx context.Context, stack *devmode.Stack, out io.Writer) error {
	t := &tour{stack: stack, out: out, admin: stack.Admin, kept: map[string]client.Object{}}
	if err := t.people(ctx); err != nil {
		return err
	}
	begun := time.Now()
	for i, s := range steps {
		started := time.Now()
		fmt.Fprintf(out, "\n%2d/%d  %s\n", i+1, len(steps), s.name)
		if err := t.stop(ctx, s); err != nil {
			fmt.Fprintf(out, "       FAILED  %v\n", err)
			t.evidence(context.WithoutCancel(ctx))
			return fmt.Errorf("step %d, %s: %w", i+1, s.name, err)
		}
		fmt.Fprintf(out, "       took    %s\n", time.Since(started).Round(100*time.Millisecond))
	}
	fmt.Fprintf(out, "\n%d steps, all checks passed, in %s\n", len(steps), time.Since(begun).Round(100*time.Millisecond))
	return nil
}

// stop makes one stop; a manager that ends by itself ends it too.
func (t *tour) stop(ctx context.Context, s step) error {
	if err := s.run(ctx, t); err != nil {
		select {
		case <-t.stack.ManagerEnded():
			return errors.Join(err, t.stack.StopManager())
		default:
			return err
		}
	}
	return nil
}

// did tells what was done, saw what was looked at besides.
func (t *tour) did(format string, args ...any) { t.line("did", format, args...) }
func (t *tour) saw(format string, args ...any) { t.line("saw", format, args...) }

func (t *tour) line(kind, format string, args ...any) {
	fmt.Fprintf(t.out, "       %-7s %s\n", kind, fmt.Sprintf(format, args...))
}

// checked tells what was checked, or fails.
func (t *tour) checked(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	t.line("checked", "%s: %v", what, got)
	return nil
}

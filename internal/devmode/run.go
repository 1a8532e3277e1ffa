// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run starts everything, tells people how to reach it, and narrates until ctx ends, which is no error.
func Run(ctx context.Context, options Options, out io.Writer) (err error) {
	out = &lines{out: out}
	fmt.Fprintln(out, "starting a control plane, a rack of simulated BMCs and a simulated cloud")
	started := time.Now()
	stack, err := Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(out, "stopping; the state stays")
		err = errors.Join(err, stack.Close())
	}()
	names, err := stack.Enroll(ctx)
	if err != nil {
		return err
	}
	if err := stack.EnrollCloud(ctx); err != nil {
		return err
	}
	stack.welcome(out, names, time.Since(started))
	if err := stack.StartManager(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return (&narrator{stack: stack, now: time.Now, out: out}).run(ctx)
	})
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-stack.ManagerEnded():
			return errEnded // and Close tells why
		}
	})
	return group.Wait()
}

// welcome says what runs and what can be done with it.
func (s *Stack) welcome(out io.Writer, bmcs []string, took time.Duration) {
	kubectl, err := s.Env.Assets.Kubectl()
	if err != nil {
		kubectl = "kubectl (make kubectl builds one)"
	}
	fmt.Fprintf(out, `started in %s: %d BMCs and the cloud %s registered

  export KUBECONFIG=%s
  %s get bmc,cloud,sclass,srv,sclaim,smaint -A

  the machines, to be played with beside their BMCs (a tenant switches %s off):
    curl %s/bmcs/%s/machines/%s/tenant -d '{"do": "power-off"}'

  a VM of the class %s in the simulated cloud, and what people do to VMs beside Kubernetes (its system stops):
    %s create -f - <<< '{"apiVersion": "holdfast.dev/v1alpha1", "kind": "ServerClaim", "metadata": {"name": "worker"}, "spec": {"className": "%s"}}'
    %s get sclaim worker
    curl %s/servers/<its server>/do -d '{"do": "stop-guest"}'

  state %s, log %s
  Ctrl-C stops; the next start goes on from here; --fresh starts anew

`, took.Round(100*time.Millisecond), len(bmcs), CloudName, s.Kubeconfig(), kubectl, bmcs[0], s.Rack.ControlURL(), bmcs[0], s.Machine(bmcs[0]).ID(),
		ClassName, kubectl, ClassName, kubectl, s.Cloud.ControlURL(), s.places.dir, filepath.Join(s.places.dir, "manager.log"))
}

// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// narrator tells in one line each what moves: objects, requests that change something at a BMC or the cloud, machines and VMs.
type narrator struct {
	stack *Stack
	now   func() time.Time
	out   io.Writer
}

// lines is an output that several write to, a line at a time.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (n *narrator) say(what, name, text string) {
	fmt.Fprintf(n.out, "%s  %-8s %-14s %s\n", n.now().Format("15:04:05.0"), what, name, text)
}

// run narrates until ctx ends.
func (n *narrator) run(ctx context.Context) error {
	objects, err := n.watchObjects(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return objects.Start(ctx) })
	group.Go(func() error { return n.follow(ctx) })
	return group.Wait()
}

// follow tells what is new in the logs of rack and cloud, several times a second.
func (n *narrator) follow(ctx context.Context) error {
	const pace = 100 * time.Millisecond
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var rack, cloud logs
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := errors.Join(n.tellRack(&rack), n.tellCloud(&cloud)); err != nil {
				return err
			}
		}
	}
}

func (n *narrator) watchObjects(ctx context.Context) (cache.Cache, error) {
	objects, err := cache.New(n.stack.Env.Config, cache.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("watch objects: %w", err)
	}
	for _, kind := range []client.Object{
		&v1alpha1.BMC{}, &v1alpha1.Cloud{}, &v1alpha1.ServerClass{}, &v1alpha1.Server{}, &v1alpha1.ServerClaim{}, &v1alpha1.ServerMaintenance{},
	} {
		informer, err := objects.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(n.handler()); err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	return objects, nil
}

func (n *narrator) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { n.tell(sight{}, sightOf(object)) },
		UpdateFunc: func(before, after any) {
			n.tell(sightOf(before), sightOf(after))
		},
		DeleteFunc: func(object any) {
			if last, is := object.(toolscache.DeletedFinalStateUnknown); is {
				object = last.Obj
			}
			was := sightOf(object)
			n.say(was.kind, was.name, "gone")
		},
	}
}

// tell says what differs between two sights of an object.
func (n *narrator) tell(before, after sight) {
	for _, line := range after.changes(before) {
		n.say(after.kind, after.name, line)
	}
}

// logs is how far the two logs of a simulator were told.
type logs struct{ request, event uint64 }

func (n *narrator) tellRack(seen *logs) error {
	requests, err := n.stack.Rack.Requests(sim.RequestFilter{After: seen.request})
	if err != nil {
		return err
	}
	for _, r := range requests {
		if r.Status == 0 {
			break // not answered yet: it is told, and those after it, the next time
		}
		seen.request = r.Seq
		if changes(r) {
			n.say("request", r.BMC, fmt.Sprintf("%s %s %s → %d", r.Method, strings.TrimPrefix(r.Path, "/redfish/v1/"), r.Body, r.Status))
		}
	}
	for _, e := range n.stack.Rack.MachineLog(sim.EventFilter{After: seen.event}) {
		seen.event = e.Seq
		if text := happened(e); text != "" {
			n.say("machine", e.BMC, text)
		}
	}
	return nil
}

// changes tells whether a request changes anything but sessions.
func changes(r sim.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.Contains(r.Path, "/Sessions")
}

// happened says what a machine does; "" for what the request before it says already.
func happened(e sim.Event) string {
	by := ""
	if e.By != "" {
		by = " (" + e.By + ")"
	}
	switch e.Kind {
	case sim.EventPower:
		return e.To + by
	case sim.EventRestart:
		return "restarts" + by
	case sim.EventBoot:
		return fmt.Sprintf("boots %s from %s", e.Detail, e.Source)
	case sim.EventBootFailed:
		return fmt.Sprintf("finds nothing to boot at %s", e.Source)
	case sim.EventRunning:
		return e.Detail + " is up"
	case sim.EventInstall:
		return e.Detail + " is installed on its disk"
	case sim.EventBMC, sim.EventIgnored:
		return e.Detail + by
	}
	return ""
}

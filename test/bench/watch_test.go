// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// sightings are the moments at which servers of a fleet were first seen to be as wanted. They come from one watch: listing a large fleet
// again and again would slow down what is measured.
type sightings struct {
	k    *harness.Kit
	what string
	stop func() // ends the watch: it reads each change of each server, which costs those who are measured next

	mu    sync.Mutex
	first map[string]time.Time
	lost  error // why the watch that there was last could not be opened
}

// sight watches the fleet of a kit until it is stopped, or the test ends. Servers that are as wanted already are seen at once.
func sight(k *harness.Kit, what string, wanted func(*v1alpha1.Server) bool) *sightings {
	k.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s := &sightings{k: k, what: what, first: map[string]time.Time{}, stop: func() {
		cancel()
		<-done
	}}
	go func() {
		defer close(done)
		// The API server ends the watch of who is slow to read. A new one begins with what there is.
		for ctx.Err() == nil {
			stream, err := k.Admin.Watch(ctx, &v1alpha1.ServerList{}, client.MatchingLabels{"test": k.Name})
			s.opened(err)
			if err != nil {
				<-time.After(100 * time.Millisecond)
				continue
			}
			s.follow(stream.ResultChan(), wanted)
		}
	}()
	k.T.Cleanup(s.stop)
	return s
}

func (s *sightings) opened(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = err
}

func (s *sightings) follow(events <-chan watch.Event, wanted func(*v1alpha1.Server) bool) {
	for event := range events {
		server, is := event.Object.(*v1alpha1.Server)
		if !is || event.Type == watch.Deleted || !wanted(server) {
			continue
		}
		s.mu.Lock()
		if _, seen := s.first[server.Name]; !seen {
			s.first[server.Name] = time.Now()
		}
		s.mu.Unlock()
	}
}

// until waits until n servers were seen as wanted and returns how long after the start that was for each of them, quickest first. It tells
// now and then how far they are.
func (s *sightings) until(n int, started time.Time, which func(server string) bool) []time.Duration {
	s.k.T.Helper()
	var took []time.Duration
	told := time.Now()
	s.k.Until(fmt.Sprintf("%d servers %s", n, s.what), func(context.Context) error {
		err := s.enough(n)
		if err == nil {
			took, err = s.since(started, which)
		}
		if err == nil && len(took) < n {
			err = fmt.Errorf("%d are", len(took))
		}
		if err != nil && time.Since(told) > 20*time.Second {
			told = time.Now()
			progress(s.k.T, "waiting until %d servers are %s: %v", n, s.what, err)
		}
		return err
	})
	return took
}

// enough is a cheap first look at whether there can be n.
func (s *sightings) enough(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.first) < n {
		return fmt.Errorf("%d are", len(s.first))
	}
	return nil
}

func (s *sightings) since(started time.Time, which func(string) bool) ([]time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var took []time.Duration
	for name, at := range s.first {
		if which == nil || which(name) {
			took = append(took, max(0, at.Sub(started)))
		}
	}
	slices.Sort(took)
	return took, s.lost
}

// available, bound and booted are what servers are waited for to be.
func available(s *v1alpha1.Server) bool { return s.Status.Phase == v1alpha1.PhaseAvailable }
func bound(s *v1alpha1.Server) bool     { return s.Spec.ClaimRef != nil }
func booted(s *v1alpha1.Server) bool {
	return bound(s) && s.Status.Phase == v1alpha1.PhaseReserved && meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionReady)
}

// running is what a booted machine is seen to be once its system is up, by a look at the slow pace.
func running(s *v1alpha1.Server) bool {
	return booted(s) && s.Status.Observed != nil && s.Status.Observed.BootProgress == "OSRunning"
}

// quantile of durations that are sorted; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

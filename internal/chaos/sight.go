// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// object is what kinds of Holdfast have in common.
type object interface {
	client.Object
	StatusConditions() *[]metav1.Condition
}

// id tells objects of all kinds apart, and the same object after it was restored.
type id struct {
	kind string
	client.ObjectKey
}

func (i id) String() string {
	return i.kind + " " + strings.TrimPrefix(i.ObjectKey.String(), "/")
}

func idOf(o client.Object) id {
	kind := ""
	switch o.(type) {
	case *v1alpha1.Server:
		kind = "server"
	case *v1alpha1.ServerClaim:
		kind = "claim"
	case *v1alpha1.BMC:
		kind = "bmc"
	case *v1alpha1.Cloud:
		kind = "cloud"
	case *v1alpha1.ServerMaintenance:
		kind = "maintenance"
	}
	return id{kind, client.ObjectKeyFromObject(o)}
}

// sight is what the API server tells, looked at every moment, and what it told before.
type sight struct {
	api client.Reader

	mu  sync.Mutex
	now map[id]object
	// past are earlier versions of each object, the oldest first. What is in it is never changed.
	past map[id][]object
	last map[id]time.Time // when it was seen
	at   time.Time
}

func newSight(api client.Reader) *sight {
	return &sight{api: api, now: map[id]object{}, past: map[id][]object{}, last: map[id]time.Time{}}
}

const (
	lookPause = 500 * time.Millisecond
	// mostPast is how many versions of an object are kept.
	mostPast = 40
	// forgotten is how long after it was last seen an object is kept.
	forgotten = 3 * time.Minute
)

// watch looks until ctx ends.
func (s *sight) watch(ctx context.Context) {
	for pause(ctx, lookPause) {
		_ = s.look(ctx) // the next look may succeed
	}
}

// look reads all objects of the campaign.
func (s *sight) look(ctx context.Context) error {
	at := time.Now()
	seen := map[id]object{}
	for _, list := range []client.ObjectList{
		&v1alpha1.ServerList{}, &v1alpha1.ServerClaimList{}, &v1alpha1.BMCList{}, &v1alpha1.CloudList{}, &v1alpha1.ServerMaintenanceList{},
	} {
		if err := s.api.List(ctx, list); err != nil {
			return err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return err
		}
		for _, item := range items {
			o := item.(object)
			seen[idOf(o)] = o
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.at = seen, at
	for i, o := range seen {
		s.last[i] = at
		past := s.past[i]
		if len(past) > 0 && past[len(past)-1].GetResourceVersion() == o.GetResourceVersion() {
			continue
		}
		s.past[i] = append(past[max(0, len(past)-mostPast+1):], o)
	}
	for i, last := range s.last {
		if at.Sub(last) > forgotten {
			delete(s.past, i)
			delete(s.last, i)
		}
	}
	return nil
}

// lookedAt is when the last look began that succeeded.
func (s *sight) lookedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// fresh says that the last look was a moment ago.
func (s *sight) fresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.at) < 4*lookPause
}

// get is an object as it was last seen; nil where there was none.
func (s *sight) get(i id) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now[i]
}

// all are all objects as they were last seen, in order.
func (s *sight) all() []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(maps.Values(s.now))
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(idOf(a).String(), idOf(b).String()) })
	return all
}

// older is an earlier version of an object that suits, chosen by pick; nil where there is none.
func (s *sight) older(i id, pick uint64, suits func(object) bool) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var suited []object
	for _, o := range s.past[i] {
		if suits(o) {
			suited = append(suited, o)
		}
	}
	if len(suited) == 0 {
		return nil
	}
	return suited[pick%uint64(len(suited))].DeepCopyObject().(object)
}

// newest is the newest version of an object that suits; nil where there is none.
func (s *sight) newest(i id, suits func(object) bool) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range slices.Backward(s.past[i]) {
		if suits(o) {
			return o
		}
	}
	return nil
}

// seen of one kind, by name.
func seen[T object](s *sight) map[string]T {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]T{}
	for i, o := range s.now {
		if typed, ok := o.(T); ok {
			found[i.Name] = typed
		}
	}
	return found
}

// server of that name; nil where there is none.
func (s *sight) server(name string) *v1alpha1.Server {
	server, _ := s.get(id{"server", client.ObjectKey{Name: name}}).(*v1alpha1.Server)
	return server
}

// claim of that name; nil where there is none.
func (s *sight) claim(name string) *v1alpha1.ServerClaim {
	claim, _ := s.get(id{"claim", client.ObjectKey{Namespace: namespace, Name: name}}).(*v1alpha1.ServerClaim)
	return claim
}

// condition of an object, for the spec as it is; nil where there is none.
func condition(o object, kind string) *metav1.Condition {
	found := meta.FindStatusCondition(*o.StatusConditions(), kind)
	if found == nil || found.ObservedGeneration != o.GetGeneration() {
		return nil
	}
	return found
}

func isTrue(o object, kind string) bool {
	found := condition(o, kind)
	return found != nil && found.Status == metav1.ConditionTrue
}

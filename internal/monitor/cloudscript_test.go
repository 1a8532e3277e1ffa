// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

const ownCluster = "cluster-a"

// sky is the clouds of a world.
type sky struct {
	mu     sync.Mutex
	clouds map[string]*scriptedCloud
	forgot []string
	err    error // of the way to a cloud
}

// ForCloud implements CloudObservers.
func (s *sky) ForCloud(_ context.Context, cloud *v1alpha1.Cloud) (provider.CloudObserver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	scripted, found := s.clouds[cloud.Name]
	if !found {
		return nil, fmt.Errorf("no such cloud in this world: %s", cloud.Name)
	}
	return scripted, nil
}

// Forget implements CloudObservers.
func (s *sky) Forget(_ context.Context, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = append(s.forgot, name)
}

// scriptedCloud is a cloud that answers as a test says, and notes what it was asked.
type scriptedCloud struct {
	mu        sync.Mutex
	instances map[string]provider.InstanceFacts
	changed   map[string]time.Time // when an instance changed last, as the cloud counts changes
	hidden    map[string]bool      // in no listing, as in a cell that is down
	mute      bool                 // no listing tells a fault, as of VMs that no host took
	ports     map[string]provider.PortFacts
	floating  map[string]provider.FloatingIPFacts
	cloud     provider.CloudFacts
	failing   error            // every answer
	broken    map[string]error // answers of one kind, or about one thing by id
	panics    bool
	hangs     bool
	loose     bool   // lists what others own too, as clouds do that know no filter by tag
	before    func() // runs when a listing of instances is asked for, before it is made
	during    func() // runs while a listing of instances is being made
	calls     []cloudCall
}

type cloudCall struct {
	at    time.Time
	what  string
	id    string
	since time.Time
}

func newScriptedCloud() *scriptedCloud {
	return &scriptedCloud{
		instances: map[string]provider.InstanceFacts{}, changed: map[string]time.Time{}, hidden: map[string]bool{},
		ports: map[string]provider.PortFacts{}, floating: map[string]provider.FloatingIPFacts{}, broken: map[string]error{},
		cloud: provider.CloudFacts{ProjectID: "p1", Project: "shop", ComputeMicroversion: "2.90", Instances: provider.QuotaUse{Used: 1, Limit: 10}},
	}
}

func (c *scriptedCloud) set(change func(*scriptedCloud)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// vm puts a VM there, or changes it, in a way that counts as a change.
func (c *scriptedCloud) vm(id string, change func(*provider.InstanceFacts)) {
	c.set(func(c *scriptedCloud) {
		facts, found := c.instances[id]
		if !found {
			facts = provider.InstanceFacts{
				ID: id, Identity: "identity-of-" + id, Owner: ownCluster, State: "ACTIVE", Power: provider.PowerOn,
				LaunchedAt: noon.Add(300 * time.Millisecond), CreatedAt: noon, Addresses: []string{"192.0.2.7"},
			}
		}
		if change != nil {
			change(&facts)
		}
		c.instances[id], c.changed[id] = facts, time.Now()
	})
}

// vanish takes a VM away: a listing of changes has its row, without tags.
func (c *scriptedCloud) vanish(id string) {
	c.vm(id, func(f *provider.InstanceFacts) { f.Deleted, f.State, f.Identity, f.Owner = true, "DELETED", "", "" })
}

func (c *scriptedCloud) asked() []cloudCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func countCalls(calls []cloudCall) map[string]int {
	count := map[string]int{}
	for _, call := range calls {
		count[call.what]++
	}
	return count
}

// ticks are the moments at which instances were listed.
func ticks(calls []cloudCall) []time.Time {
	var at []time.Time
	for _, call := range calls {
		if call.what == lookInstances || call.what == lookChanges {
			at = append(at, call.at)
		}
	}
	return at
}

func (c *scriptedCloud) answer(ctx context.Context, call cloudCall) error {
	c.mu.Lock()
	call.at = time.Now()
	c.calls = append(c.calls, call)
	failing, panics, hangs := c.failing, c.panics, c.hangs
	failing = cmp.Or(failing, c.broken[call.what], c.broken[call.id])
	c.mu.Unlock()
	switch {
	case panics:
		panic("scripted")
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	}
	return failing
}

// Cloud implements provider.CloudObserver.
func (c *scriptedCloud) Cloud(ctx context.Context) (provider.CloudFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookCloud}); err != nil {
		return provider.CloudFacts{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cloud, nil
}

// Project implements provider.CloudObserver.
func (c *scriptedCloud) Project(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cloud.ProjectID, nil
}

// ListInstances implements provider.CloudObserver.
func (c *scriptedCloud) ListInstances(ctx context.Context, owner string, since time.Time) ([]provider.InstanceFacts, error) {
	what := lookChanges
	if since.IsZero() {
		what = lookInstances
	}
	if err := c.answer(ctx, cloudCall{what: what, since: since}); err != nil {
		return nil, err
	}
	c.mu.Lock()
	before := c.before
	c.mu.Unlock()
	if before != nil {
		before()
	}
	c.mu.Lock()
	var rows []provider.InstanceFacts
	for id, facts := range c.instances {
		switch {
		case c.hidden[id], since.IsZero() && facts.Deleted, !since.IsZero() && c.changed[id].Before(since):
		case facts.Deleted || facts.Owner == owner || c.loose:
			if c.mute {
				facts.Fault = ""
			}
			rows = append(rows, facts)
		}
	}
	during := c.during
	c.mu.Unlock()
	if during != nil {
		during()
	}
	return rows, nil
}

// ListPorts implements provider.CloudObserver.
func (c *scriptedCloud) ListPorts(ctx context.Context, owner string) ([]provider.PortFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookPorts}); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var rows []provider.PortFacts
	for id, facts := range c.ports {
		if (facts.Owner == owner || c.loose) && !c.hidden[id] {
			rows = append(rows, facts)
		}
	}
	return rows, nil
}

// ListFloatingIPs implements provider.CloudObserver.
func (c *scriptedCloud) ListFloatingIPs(ctx context.Context, owner string) ([]provider.FloatingIPFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookFloatingIPs}); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var rows []provider.FloatingIPFacts
	for id, facts := range c.floating {
		if (facts.Owner == owner || c.loose) && !c.hidden[id] {
			rows = append(rows, facts)
		}
	}
	return rows, nil
}

func found[T any](things map[string]T, id string) (T, error) {
	facts, there := things[id]
	if !there {
		return facts, &provider.Error{Class: provider.NotFound, Reason: provider.ReasonInstanceNotFound, Message: "no such thing"}
	}
	return facts, nil
}

// Instance implements provider.CloudObserver.
func (c *scriptedCloud) Instance(ctx context.Context, id string) (provider.InstanceFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookInstance, id: id}); err != nil {
		return provider.InstanceFacts{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	facts, err := found(c.instances, id)
	if err == nil && facts.Deleted {
		return found(map[string]provider.InstanceFacts{}, id)
	}
	return facts, err
}

// Port implements provider.CloudObserver.
func (c *scriptedCloud) Port(ctx context.Context, id string) (provider.PortFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookPort, id: id}); err != nil {
		return provider.PortFacts{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return found(c.ports, id)
}

// FloatingIP implements provider.CloudObserver.
func (c *scriptedCloud) FloatingIP(ctx context.Context, id string) (provider.FloatingIPFacts, error) {
	if err := c.answer(ctx, cloudCall{what: lookFloatingIP, id: id}); err != nil {
		return provider.FloatingIPFacts{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return found(c.floating, id)
}

// connect makes a Cloud with servers that have one VM each: vm1, vm2 and so on.
func (w *world) connect(name string, servers int) *scriptedCloud {
	scripted := newScriptedCloud()
	w.sky.mu.Lock()
	w.sky.clouds[name] = scripted
	w.sky.mu.Unlock()
	for i := range servers {
		id := vmID(name, i)
		scripted.vm(id, nil)
		w.replace(newVirtual(name, id, func(s *v1alpha1.Server) { s.Annotations[ledger.KeyProviderID] = id }))
	}
	w.put(newCloud(name))
	return scripted
}

func vmID(cloud string, i int) string { return fmt.Sprintf("%s-vm%d", cloud, i+1) }

func newCloud(name string) *v1alpha1.Cloud {
	return &v1alpha1.Cloud{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec:       v1alpha1.CloudSpec{CloudsSecretRef: v1alpha1.LocalObjectReference{Name: name + "-clouds"}, CloudName: name},
	}
}

// newVirtual is the server of a VM, with its identity remembered.
func newVirtual(cloud, name string, change func(*v1alpha1.Server)) *v1alpha1.Server {
	server := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1, Annotations: map[string]string{ledger.KeyIdentity: "identity-of-" + name}},
		Spec:       v1alpha1.ServerSpec{OpenStack: &v1alpha1.OpenStackServer{CloudRef: v1alpha1.LocalObjectReference{Name: cloud}}},
	}
	if change != nil {
		change(server)
	}
	return server
}

func (w *world) cloud(name string) *v1alpha1.CloudObserved {
	w.mu.Lock()
	defer w.mu.Unlock()
	cloud, _ := w.objects["Cloud "+name].DeepCopyObject().(*v1alpha1.Cloud)
	return cloud.Status.Observed
}

// seen is the region of a server.
func (w *world) seen(name string) v1alpha1.ServerObserved {
	observed := w.server(name).Status.Observed
	if observed == nil {
		return v1alpha1.ServerObserved{}
	}
	return *observed
}

// ledgerOf changes one entry of a server's ledger.
func (w *world) ledgerOf(name, entry, value string) {
	w.change(name, func(s *v1alpha1.Server) {
		if value == "" {
			delete(s.Annotations, entry)
			return
		}
		s.Annotations[entry] = value
	})
	synctest.Wait()
}

// gaps are the pauses between moments, sorted.
func gaps(at []time.Time) []time.Duration {
	var between []time.Duration
	for i := 1; i < len(at); i++ {
		between = append(between, at[i].Sub(at[i-1]))
	}
	slices.Sort(between)
	return between
}

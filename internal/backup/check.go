// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/bmc"
)

// Options say what a restore is tried into, and when.
type Options struct {
	// Settings of the manager that will run there. An empty ClusterID is found out: the cluster that the backup was taken of.
	Settings lifecycle.Settings
	// Namespace of the operator, where the credentials are.
	Namespace string
	// SecretsElsewhere says that secrets are not part of the backup because they are kept elsewhere: those that are named are there.
	SecretsElsewhere bool
	// Snapshot says that the objects come back as they were, UIDs and deletions under way included: by a snapshot of etcd, and not by
	// being created.
	Snapshot bool
	// Now is when it is restored.
	Now time.Time
}

// Check says what becomes of each object of a set when it is restored. The error is a fault of this program's: a set never causes one.
func Check(ctx context.Context, set *Set, o Options) (Report, error) {
	c := &check{set: set, options: o}
	report := Report{Cluster: c.nameCluster(), Problems: set.Problems, Others: set.Others}
	c.prepare()
	rounds := max(1, c.rounds())
	plays := make([]*play, rounds)
	for round := range plays {
		var err error
		if plays[round], err = c.play(ctx, round); err != nil {
			return Report{}, err
		}
	}
	report.Objects = c.verdicts(plays)
	report.Findings = c.findings()
	report.Summary = summed(report.Objects)
	return report, nil
}

// check is one check under way.
type check struct {
	set     *Set
	options Options

	there      map[string]bool               // by kind and name, those that a BMC makes not included
	behind     map[string][]*v1alpha1.Server // in the backup, by name of their BMC
	items      []Item                        // one of each kind and name, those that a BMC makes included
	duplicates map[string][]Item             // items that others stand in for, by kind and name
	made       map[string]bool               // names of servers that are in no file: their BMC makes them
	conditions map[string][]condition        // by name of the server
	memories   map[string]ledger.Server      // by name of the server; none for those that cannot be read
	serverOf   map[string]string             // name of the server, by name of the claim
	claims     map[client.ObjectKey]*v1alpha1.ServerClaim
	boundTo    map[string]*v1alpha1.ServerClaim // by the identity that they are bound to
}

// nameCluster finds out who will act: as told, else the cluster whose kube-system is in the backup, else the owner that most ledgers name.
func (c *check) nameCluster() Cluster {
	settings := &c.options.Settings
	if settings.ClusterID != "" {
		return Cluster{ID: settings.ClusterID, From: "as told"}
	}
	if id := c.set.system(); id != "" {
		settings.ClusterID = id
		return Cluster{ID: id, From: "the UID of kube-system in the backup"}
	}
	count, owner := map[string]int{}, ""
	for _, server := range of[*v1alpha1.Server](c.set, KindServer) {
		if id := server.Annotations[ledger.KeyOwner]; id != "" {
			count[id]++
			if owner == "" || count[id] > count[owner] || (count[id] == count[owner] && id < owner) {
				owner = id
			}
		}
	}
	if owner == "" {
		settings.ClusterID = "this-cluster"
		return Cluster{ID: settings.ClusterID, From: "no ledger names one"}
	}
	settings.ClusterID = owner
	return Cluster{ID: owner, From: "the owner that the ledgers name"}
}

// prepare finds, once, what all rounds rest on.
func (c *check) prepare() {
	c.duplicates, c.made = map[string][]Item{}, map[string]bool{}
	seen := map[string]Item{}
	for _, item := range c.set.Items {
		key := item.Kind + " " + item.Name()
		known, twice := seen[key]
		switch {
		case !twice:
			seen[key] = item
			c.items = append(c.items, item)
		case !equality.Semantic.DeepEqual(known.Object, item.Object): // Velero writes each object under two paths
			c.duplicates[key] = append(c.duplicates[key], item)
		}
	}
	c.there = map[string]bool{}
	for key := range seen {
		c.there[key] = true
	}
	c.makeServers()
	c.indexClaims()
	c.conditions, c.memories = map[string][]condition{}, map[string]ledger.Server{}
	for _, server := range c.servers() {
		c.observe(server)
	}
}

// makeServers adds the Servers that BMCs make which have none in the backup: Git holds the BMC alone.
func (c *check) makeServers() {
	c.behind = map[string][]*v1alpha1.Server{}
	for _, server := range c.servers() {
		if server.Spec.Redfish != nil {
			name := server.Spec.Redfish.BMCRef.Name
			c.behind[name] = append(c.behind[name], server)
		}
	}
	for _, item := range c.items {
		exported, is := item.Object.(*v1alpha1.BMC)
		if !is {
			continue
		}
		there := c.behind[exported.Name]
		back := c.options.restored(item).(*v1alpha1.BMC)
		back.Status.Observed = &v1alpha1.BMCObserved{Reachable: true, Systems: systemsOf(exported, there)}
		for _, server := range bmc.ServersOf(back, there) {
			if c.there[KindServer+" "+server.Name] {
				continue
			}
			c.made[server.Name] = true
			c.items = append(c.items, Item{Kind: KindServer, Origin: item.Origin, Object: server})
		}
	}
}

func (c *check) indexClaims() {
	c.claims, c.boundTo, c.serverOf = map[client.ObjectKey]*v1alpha1.ServerClaim{}, map[string]*v1alpha1.ServerClaim{}, map[string]string{}
	for _, item := range c.items {
		if claim, is := item.Object.(*v1alpha1.ServerClaim); is {
			c.claims[client.ObjectKeyFromObject(claim)] = claim
			if identity := claim.Annotations[ledger.KeyBound]; identity != "" {
				c.boundTo[identity] = claim
			}
		}
	}
}

func (c *check) servers() []*v1alpha1.Server {
	var found []*v1alpha1.Server
	for _, item := range c.items {
		if server, is := item.Object.(*v1alpha1.Server); is {
			found = append(found, server)
		}
	}
	return found
}

// observe finds the conditions in which a server's machine may be.
func (c *check) observe(server *v1alpha1.Server) {
	o := observer{server: server, cluster: c.options.Settings.ClusterID, now: c.options.Now, power: server.Spec.Power}
	if memory, err := ledger.ParseServer(server.Annotations); err == nil {
		o.memory = memory
		c.memories[server.Name] = memory
	}
	o.owner = o.memory.Owner
	if o.owner == "" {
		o.owner = o.cluster
	}
	claim := c.claimOf(server, o.identity(), &o)
	if claim != nil {
		o.power = claim.Spec.Power
		c.serverOf[nameOf(claim)] = server.Name
	}
	c.conditions[server.Name] = o.conditions()
}

// claimOf finds the claim that has a server, by either's memory, and tells the observer its identity.
func (c *check) claimOf(server *v1alpha1.Server, identity string, o *observer) *v1alpha1.ServerClaim {
	if bound := c.boundTo[identity]; bound != nil && identity != "" {
		o.claim, o.bound = bound.Annotations[ledger.KeyIdentity], true
	}
	if boot := o.memory.Boot; o.claim == "" && boot != nil {
		o.claim = boot.Claim
	}
	ref := server.Spec.ClaimRef
	if ref == nil {
		return c.boundTo[identity]
	}
	o.claim = ref.Identity
	claim := c.claims[client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}]
	if claim == nil || claim.Annotations[ledger.KeyIdentity] != ref.Identity {
		return nil
	}
	return claim
}

// rounds is how many plays it takes until each server's machine was found in each of its conditions.
func (c *check) rounds() int {
	most := 0
	for _, conditions := range c.conditions {
		most = max(most, len(conditions))
	}
	return most
}

// play restores all, with each machine in the condition whose turn it is, or in the expected one, and plays.
func (c *check) play(ctx context.Context, round int) (*play, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	for _, item := range c.items {
		w.put(c.options.restored(item))
	}
	p := newPlay(w, c.options, c.options.Now)
	for _, item := range c.items {
		c.provide(p, item)
	}
	for _, server := range c.servers() {
		conditions := c.conditions[server.Name]
		found := conditions[0]
		if round < len(conditions) {
			found = conditions[round]
		}
		found.picture = *found.picture.DeepCopy() // each round has machines of its own
		if !p.bmcReachable(server) && !p.cloudReachable(server) {
			found.picture = unreached()
		}
		p.pictures[server.Name] = &found
		p.end(KindServer, server.Name).fresh = server.Annotations[ledger.KeyIdentity] == ""
	}
	for key, claim := range c.claims {
		p.end(KindClaim, key.String()).fresh = claim.Annotations[ledger.KeyIdentity] == ""
	}
	return p, p.run(ctx)
}

// provide lets the monitor look at what BMCs and clouds tell of themselves.
func (c *check) provide(p *play, item Item) {
	switch o := item.Object.(type) {
	case *v1alpha1.BMC:
		seen := &v1alpha1.BMC{}
		_ = p.Get(context.Background(), client.ObjectKeyFromObject(o), seen) // it was put there
		seen.Status.Observed = bmcSeen(o, c.behind[o.Name], p)
		p.put(seen)
	case *v1alpha1.Cloud:
		seen := &v1alpha1.Cloud{}
		_ = p.Get(context.Background(), client.ObjectKeyFromObject(o), seen)
		seen.Status.Observed = cloudSeen(o, p)
		p.put(seen)
	}
}

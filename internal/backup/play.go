// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/access"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// play lets the production decisions work on the restored objects, each server's machine being found in one condition, until nothing is
// to be done any more. One pass does one thing, as in the operator (P4).
type play struct {
	*world
	settings  lifecycle.Settings
	namespace string
	elsewhere bool // secrets are kept elsewhere, and are there
	now       time.Time

	servers      *view.Servers
	claims       *view.Claims
	maintenances *view.Maintenances

	pictures map[string]*condition
	ends     map[string]*end // by kind and name
}

// end is where an object came to rest.
type end struct {
	phase   string
	step    lifecycle.Step
	gates   []lifecycle.Gate
	effects []lifecycle.Effect
	refused string // the reason for which the provider refused what was asked for last
	fresh   bool   // the object came without memory
}

// mostSweeps is how often all objects are looked at. A whole life, from registration to a booted claim, takes thirty.
const mostSweeps = 100

func newPlay(w *world, o Options, now time.Time) *play {
	p := &play{
		world: w, settings: o.Settings, namespace: o.Namespace, elsewhere: o.SecretsElsewhere, now: now,
		pictures: map[string]*condition{}, ends: map[string]*end{},
	}
	p.servers = &view.Servers{Cache: w, API: w, UserData: p, Settings: p.settings}
	p.claims = &view.Claims{Cache: w, API: w, Servers: p.servers, Settings: p.settings}
	p.maintenances = &view.Maintenances{Cache: w, API: w, Settings: p.settings}
	return p
}

// UserData implements view.UserDataReader: what of it is in the backup.
func (p *play) UserData(ctx context.Context, ref lifecycle.UserDataRef) (lifecycle.UserData, error) {
	if p.elsewhere {
		return lifecycle.UserDataReadable, nil
	}
	return access.UserData{API: p.world, Namespace: p.namespace}.UserData(ctx, ref)
}

// run plays until all is at rest. The error is that it does not come to rest, or that a view could not be gathered.
func (p *play) run(ctx context.Context) error {
	for range mostSweeps {
		moved, err := p.sweep(ctx)
		if err != nil || !moved {
			return err
		}
		p.now = p.now.Add(p.settings.EffectDeadline + time.Second) // by the next look all that was on the wire has arrived
	}
	return fmt.Errorf("not at rest after %d passes over each object", mostSweeps)
}

func (p *play) sweep(ctx context.Context) (moved bool, err error) {
	for _, part := range []struct {
		kind client.Object
		pass func(context.Context, client.ObjectKey) (bool, error)
	}{
		{&v1alpha1.ServerMaintenance{}, p.passMaintenance},
		{&v1alpha1.ServerClaim{}, p.passClaim},
		{&v1alpha1.Server{}, p.passServer},
	} {
		for _, key := range p.keys(part.kind) {
			if !p.has(part.kind, key) {
				continue // it went in this sweep
			}
			did, err := part.pass(ctx, key)
			if err != nil {
				return false, fmt.Errorf("%T %s: %w", part.kind, key, err)
			}
			moved = moved || did
		}
	}
	return moved, nil
}

func (p *play) keys(kind client.Object) []client.ObjectKey {
	keys := maps.Keys(p.objects[reflect.TypeOf(kind)])
	return slices.SortedFunc(keys, func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
}

func (p *play) end(kind, name string) *end {
	key := kind + " " + name
	if p.ends[key] == nil {
		p.ends[key] = &end{}
	}
	return p.ends[key]
}

func (p *play) passMaintenance(ctx context.Context, key client.ObjectKey) (bool, error) {
	v, err := p.maintenances.Live(ctx, key.Name, p.now)
	if err != nil {
		return false, err
	}
	d := maintenance.Decide(v)
	e := p.end(KindMaintenance, key.Name)
	e.step, e.gates = d.Step, d.Gates
	return p.write(d.Step, v.Maintenance, d.OnServer), nil
}

func (p *play) passClaim(ctx context.Context, key client.ObjectKey) (bool, error) {
	read, err := p.claims.Live(ctx, key, p.now)
	if err != nil {
		return false, err
	}
	d := claim.Decide(read.View)
	e := p.end(KindClaim, key.String())
	e.phase, e.step, e.gates = string(d.Phase), d.Step, d.Gates
	switch d.Step.Kind {
	case lifecycle.StepCreate:
		made := d.Create.DeepCopy()
		made.UID = newUID(KindServer, made)
		p.put(made)
		return true, nil
	case lifecycle.StepDelete: // for a claim that is being deleted, which only a snapshot brings back
		deleted, now := p.server(d.OnServer).DeepCopy(), metav1.NewTime(p.now)
		deleted.DeletionTimestamp = &now
		p.put(deleted)
		return true, nil
	}
	return p.write(d.Step, read.Claim, d.OnServer), nil
}

// write carries out a step that writes: to the object, or to the server that it names.
func (p *play) write(step lifecycle.Step, object client.Object, onServer string) bool {
	if step.Kind != lifecycle.StepPatch {
		return false
	}
	if onServer != "" {
		object = p.server(onServer)
	}
	p.patch(object, *step.Patch)
	return true
}

func (p *play) patch(object client.Object, patch lifecycle.Patch) {
	changed := object.DeepCopyObject().(client.Object)
	patch.Apply(changed)
	p.put(changed)
}

// passServer lets the monitor look first: a changed picture is its write, and the pass.
func (p *play) passServer(ctx context.Context, key client.ObjectKey) (bool, error) {
	server := p.server(key.Name)
	if p.look(server) {
		return true, nil
	}
	read, err := p.servers.LiveAround(ctx, server.DeepCopy(), p.now)
	if err != nil {
		return false, err
	}
	d := servers.Decide(read.View)
	e := p.end(KindServer, key.Name)
	e.phase, e.step, e.gates = string(d.Phase), d.Step, d.Gates
	if d.Step.Kind != lifecycle.StepAct {
		return p.write(d.Step, server, ""), nil
	}
	found := p.pictures[key.Name]
	if found.refused != "" && d.Step.Effect.Op == lifecycle.OpCreateInstance {
		e.refused = found.refused
		return false, nil
	}
	p.act(server, found, d.Step)
	e.effects = append(e.effects, *d.Step.Effect)
	return true, nil
}

// server is the Server of that name as it stands in the world; nil for none.
func (p *play) server(name string) *v1alpha1.Server {
	server, _ := p.objects[reflect.TypeFor[*v1alpha1.Server]()][client.ObjectKey{Name: name}].(*v1alpha1.Server)
	return server
}

// behind are the Servers that name a BMC.
func (p *play) behind(bmc string) []*v1alpha1.Server {
	var list v1alpha1.ServerList
	if p.List(context.Background(), &list, client.MatchingFields{index.ServerBMC: bmc}) != nil {
		return nil // a world in memory that has the index has no errors
	}
	servers := make([]*v1alpha1.Server, len(list.Items))
	for i := range list.Items {
		servers[i] = &list.Items[i]
	}
	return servers
}

// look writes the picture into the server as the monitor does, taken after its intent had been read (R4). It tells whether it wrote.
func (p *play) look(server *v1alpha1.Server) bool {
	found := p.pictures[server.Name]
	if found == nil { // made in the course of the play
		found = &condition{Condition: VMNone, picture: observer{server: server, now: p.now}.cloudPicture()}
		found.picture.Reachable = p.cloudReachable(server)
		p.pictures[server.Name] = found
	}
	picture := found.picture.DeepCopy()
	if memory, err := ledger.ParseServer(server.Annotations); err == nil && memory.Intent != nil {
		picture.Intent = memory.Intent.ID
	}
	if equality.Semantic.DeepEqual(server.Status.Observed, picture) {
		return false
	}
	seen := server.DeepCopy()
	seen.Status.Observed = picture
	p.put(seen)
	return true
}

// cloudReachable says whether there is what the cloud of a VM is reached with.
func (p *play) cloudReachable(server *v1alpha1.Server) bool {
	cloud := &v1alpha1.Cloud{}
	return server.Spec.OpenStack != nil && p.Get(context.Background(), client.ObjectKey{Name: server.Spec.OpenStack.CloudRef.Name}, cloud) == nil &&
		p.reachable(cloud.Spec.CloudsSecretRef.Name)
}

// bmcReachable says whether there is what the BMC of a machine is reached with.
func (p *play) bmcReachable(server *v1alpha1.Server) bool {
	bmc := &v1alpha1.BMC{}
	return server.Spec.Redfish != nil && p.Get(context.Background(), client.ObjectKey{Name: server.Spec.Redfish.BMCRef.Name}, bmc) == nil &&
		p.reachable(bmc.Spec.CredentialsSecretRef.Name)
}

// reachable says whether the secret with the credentials is there.
func (p *play) reachable(secret string) bool {
	return p.elsewhere || p.has(&metav1.PartialObjectMetadata{}, client.ObjectKey{Namespace: p.namespace, Name: secret})
}

// act carries an effect out and writes its record.
func (p *play) act(server *v1alpha1.Server, found *condition, step lifecycle.Step) {
	made := carryOut(&found.picture, *step.Effect, metav1.NewTime(p.now))
	record := step.Record
	if servers.IsVirtual(server) {
		record = virtual.Recorded(server, step, made)
	}
	if record != nil {
		p.patch(server, *record)
	}
}

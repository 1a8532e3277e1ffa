// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// tenancy is one claim as its tenant knows it, whatever becomes of the object.
type tenancy struct {
	// name of the claim; id is how the record calls it.
	name, id string

	mu     sync.Mutex
	claims bool // its claim was created
	gaveUp bool
	// stranded says that its claim is gone with what came after a snapshot. It keeps its machine, and has nobody to tell that it does not
	// need it any more.
	stranded bool
}

// created says that there is a claim.
func (t *tenancy) created() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claims = true
}

// strand says that the claim is gone for good, where there was one and it is still wanted.
func (t *tenancy) strand() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stranded = t.claims && !t.gaveUp
}

func (t *tenancy) isStranded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stranded
}

// over says that the tenant gave its machine up.
func (t *tenancy) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gaveUp
}

// wants records whether the tenant wants its machine.
func (t *tenancy) wants(gaveUp bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaveUp = gaveUp
}

// tenants are all tenancies there ever were. What a tenant asks for goes through here, so that the record misses nothing.
type tenants struct {
	// api has a tenant's rights; platform makes what is made for tenants.
	api, platform client.Client
	journal       *journal
	// gate is held for reading by whoever asks for something, and for writing while the past is brought back: an ask must not fall between
	// a snapshot and its restore unseen.
	gate *sync.RWMutex

	mu     sync.Mutex
	byName map[string]*tenancy
}

func newTenants(w *world, journal *journal, gate *sync.RWMutex) *tenants {
	return &tenants{api: w.tenant, platform: w.admin, journal: journal, gate: gate, byName: map[string]*tenancy{}}
}

func (t *tenants) get(name string) *tenancy {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byName[name]
}

// each calls a function for all tenancies.
func (t *tenants) each(do func(*tenancy)) {
	t.mu.Lock()
	all := make([]*tenancy, 0, len(t.byName))
	for _, tenancy := range t.byName {
		all = append(all, tenancy)
	}
	t.mu.Unlock()
	for _, tenancy := range all {
		do(tenancy)
	}
}

// begin asks for a machine: a claim of this name, which nobody had before.
func (t *tenants) begin(ctx context.Context, name string, create func(context.Context, *tenancy) error) (*tenancy, error) {
	tenancy := &tenancy{name: name, id: namespace + "/" + name + "#1"}
	t.mu.Lock()
	t.byName[name] = tenancy
	t.mu.Unlock()
	return tenancy, t.ask(ctx, judge.Asked, tenancy, func(ctx context.Context) error {
		if err := create(ctx, tenancy); err != nil {
			return err
		}
		tenancy.created()
		return nil
	})
}

// ask asks for something in the name of a tenant.
func (t *tenants) ask(ctx context.Context, kind judge.Kind, tenancy *tenancy, send func(context.Context) error) error {
	return t.journal.ask(ctx, t.gate, judge.Event{Kind: kind, Tenant: tenancy.id}, send)
}

// giveUp has a tenant, or a person in its place, give its machine up.
func (t *tenants) giveUp(ctx context.Context, tenancy *tenancy) error {
	tenancy.wants(true)
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tenancy.name}}
	return t.ask(ctx, judge.GaveUp, tenancy, func(ctx context.Context) error {
		return client.IgnoreNotFound(t.api.Delete(ctx, claim))
	})
}

// leave has a tenant give its machine up of its own accord, if it still has a claim to delete.
func (t *tenants) leave(ctx context.Context, tenancy *tenancy) error {
	if tenancy.isStranded() {
		return nil
	}
	return t.giveUp(ctx, tenancy)
}

// change changes the spec of a tenant's claim. A claim that is gone, as disasters have it, is not changed, and that is no error.
func (t *tenants) change(ctx context.Context, kind judge.Kind, tenancy *tenancy, spec string) error {
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tenancy.name}}
	patch := client.RawPatch(mergePatch, fmt.Appendf(nil, `{"spec":%s}`, spec))
	return t.ask(ctx, kind, tenancy, func(ctx context.Context) error {
		return client.IgnoreNotFound(t.api.Patch(ctx, claim, patch))
	})
}

// mergePatch is the type of patches that are written out.
const mergePatch = types.MergePatchType

// power asks for a power state.
func (t *tenants) power(ctx context.Context, tenancy *tenancy, power v1alpha1.Power) error {
	kind := judge.AskedOn
	if power == v1alpha1.PowerOff {
		kind = judge.AskedOff
	}
	return t.change(ctx, kind, tenancy, fmt.Sprintf(`{"power":%q}`, power))
}

// restart asks for one restart.
func (t *tenants) restart(ctx context.Context, tenancy *tenancy) error {
	return t.change(ctx, judge.AskedRestart, tenancy, fmt.Sprintf(`{"restartedAt":%q}`, time.Now().UTC().Format(time.RFC3339)))
}

// broughtBack records what a copy of a claim asks for that was put in the place of the present one, or of none: what the API says is what
// the tenant asks, though it asked for it earlier.
func (t *tenants) broughtBack(at time.Time, copied *v1alpha1.ServerClaim) {
	tenancy := t.get(copied.Name)
	if tenancy == nil {
		return
	}
	t.journal.rewrite()
	note := func(kind judge.Kind) {
		t.journal.acked(t.journal.note(judge.Event{At: at, Kind: kind, Tenant: tenancy.id}))
	}
	switch deleted := copied.DeletionTimestamp != nil; {
	case deleted && !tenancy.over():
		tenancy.wants(true)
		note(judge.GaveUp)
	case !deleted && tenancy.over():
		// It has no use for it: whoever leads the tenants deletes it again.
		note(judge.Asked)
	}
	if copied.Spec.Power == v1alpha1.PowerOff {
		note(judge.AskedOff)
	} else {
		note(judge.AskedOn)
	}
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// patience is how long a hold stands before a person answers it while faults go on: longer than what was lost takes to come back.
const patience = 14 * time.Second

// eagerness is how long a person takes who knows that the cluster was restored, and waits for it.
const eagerness = 3 * time.Second

// person answers holds as the runbook says. It may look at machines and ask tenants, and it speaks to Holdfast by annotations and by what
// is deleted or restored.
type person struct {
	*campaign
	patience time.Duration
	only     string // the one reason that is answered; empty: all
	since    map[hold]time.Time
}

// hold is one object that waits for a person.
type hold struct {
	id
	reason string
}

func newPerson(c *campaign, patience time.Duration) *person {
	return &person{campaign: c, patience: patience, since: map[hold]time.Time{}}
}

// live answers holds until ctx ends.
func (p *person) live(ctx context.Context) {
	for pause(ctx, second) {
		p.answer(ctx)
	}
}

// begin has the person answer holds until the returned function is called, which waits for the last answer.
func (p *person) begin(ctx context.Context) (stop func()) {
	helping, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.live(helping)
	}()
	return func() {
		cancel()
		<-done
	}
}

// answer answers what has been held for long enough, and gives each answer as long again to be heard.
func (p *person) answer(ctx context.Context) {
	now := time.Now()
	held := map[hold]object{}
	for _, o := range p.sight.all() {
		if reason := heldFor(o); reason != "" && (p.only == "" || p.only == reason) {
			held[hold{idOf(o), reason}] = o
		}
	}
	maps.DeleteFunc(p.since, func(h hold, _ time.Time) bool { return held[h] == nil })
	for h, o := range held {
		began, known := p.since[h]
		if !known {
			p.since[h] = now
			began = now
		}
		patience := p.patience
		if h.reason == v1alpha1.ReasonRestoredSnapshot {
			patience = min(patience, eagerness)
		}
		if now.Sub(began) < patience {
			continue
		}
		p.since[h] = now.Add(scaled(hearing, p.options.Servers) - patience)
		p.reply(ctx, h, o)
	}
}

// hearing is how long an answer is given before it is repeated, with fifty servers.
const hearing = 8 * time.Second

func (p *person) reply(ctx context.Context, h hold, o object) {
	var err error
	switch o := o.(type) {
	case *v1alpha1.Server:
		answer := serverAnswers[h.reason]
		if answer == nil {
			return
		}
		err = answer(ctx, p, o)
	case *v1alpha1.ServerClaim:
		answer := claimAnswers[h.reason]
		if answer == nil {
			return
		}
		err = answer(ctx, p, o)
	case *v1alpha1.Cloud:
		if h.reason != v1alpha1.ReasonCredentialsInvalid {
			return
		}
		err = p.rotate(ctx, h.id)
	case *v1alpha1.BMC:
		answer := bmcAnswers[h.reason]
		if answer == nil {
			return
		}
		err = answer(ctx, p, o)
	default:
		return
	}
	p.note("a person answers %s, held for %s: %v", h.id, h.reason, err)
	if err == nil {
		p.tally.answered(h.reason)
	}
}

// rotate gives a BMC or the cloud another password, and its Secret too. What was refused for a while is not tried again soon, or accounts
// would be locked; a Secret that changes is.
func (p *person) rotate(ctx context.Context, of id) error {
	step := Step{Target: of.Name, Pick: uint64(time.Now().UnixNano())}
	do := rotateBMCPassword
	if of.kind == "cloud" {
		do = rotateCloudPassword
	}
	write, err := do(ctx, p.campaign, step)
	if err != nil {
		return err
	}
	return write(ctx)
}

// heldFor is the reason for which an object waits for a person; empty where it does not.
func heldFor(o object) string {
	if stalled := condition(o, v1alpha1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		return stalled.Reason
	}
	return ""
}

// annotate speaks to Holdfast.
func (p *person) annotate(ctx context.Context, o object, key, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}})
	if err != nil {
		return err
	}
	return client.IgnoreNotFound(p.world.admin.Patch(ctx, o.DeepCopyObject().(object), client.RawPatch(mergePatch, patch)))
}

// consent puts a consent about a server's machine on the record and gives it; one that names nothing is none, and would excuse on the record
// what it does not allow. Where there is no machine it is about nothing, and the record,
// in which it would be about all machines, does not have it.
func (p *person) consent(ctx context.Context, given judge.Event, server *v1alpha1.Server, key, value string) error {
	if value == "" {
		return errNothing
	}
	if given.Machine = p.world.machineID(server); given.Machine == "" {
		return p.annotate(ctx, server, key, value)
	}
	given.Detail = key
	return p.journal.ask(ctx, &p.gate, given, func(ctx context.Context) error { return p.annotate(ctx, server, key, value) })
}

// clear takes a reference out of a Server's spec.
func (p *person) clear(ctx context.Context, server *v1alpha1.Server, field string) error {
	p.gate.RLock()
	defer p.gate.RUnlock()
	patch := client.RawPatch(mergePatch, fmt.Appendf(nil, `{"spec":{%q:null}}`, field))
	return client.IgnoreNotFound(p.world.admin.Patch(ctx, server.DeepCopy(), patch))
}

// occupant is who has a server's machine and still wants it; nil for nobody. A person sees it on the machine itself; and where the last that was
// seen of a tenant's claim says that it is bound there, though the server knows nothing of it any more, the tenant is asked: its machine may have
// begun to boot and have gone off again, with nothing on its disk yet.
func (p *person) occupant(server *v1alpha1.Server) *tenancy {
	var found *tenancy
	there := p.world.look(server)
	p.tenants.each(func(t *tenancy) {
		if !t.over() && (there.of(t) || found == nil && p.boundElsewhere(t, server)) {
			found = t
		}
	})
	return found
}

// boundElsewhere says that the last copy of a tenant's claim that knew of a machine knew of this one, and that the server is not that claim's.
func (p *person) boundElsewhere(t *tenancy, server *v1alpha1.Server) bool {
	if ref := server.Spec.ClaimRef; ref != nil && ref.Name == t.name {
		return false
	}
	last := p.sight.newest(id{"claim", client.ObjectKey{Namespace: namespace, Name: t.name}}, func(o object) bool {
		return o.GetAnnotations()[ledger.KeyBound] != ""
	})
	return last != nil && last.GetAnnotations()[ledger.KeyBound] == identityOf(server)
}

// tenantOf is the tenant whose claim has a server; nil for none.
func (p *person) tenantOf(server *v1alpha1.Server) *tenancy {
	if ref := server.Spec.ClaimRef; ref != nil {
		return p.tenants.get(ref.Name)
	}
	return nil
}

// vacate has whoever runs on a server's machine, other than but, give it up.
func (p *person) vacate(ctx context.Context, server *v1alpha1.Server, but string) error {
	if t := p.occupant(server); t != nil && t.name != but {
		return p.tenants.giveUp(ctx, t)
	}
	return nil
}

func identityOf(o object) string { return o.GetAnnotations()[ledger.KeyIdentity] }

// asked is the value of an annotation that the message of an object's hold asks for: what a person types. Empty where it asks for none.
func asked(o object, annotation string) string {
	stalled := condition(o, v1alpha1.ConditionStalled)
	if stalled == nil {
		return ""
	}
	_, value, _ := strings.Cut(stalled.Message, annotation+"=")
	value, _, _ = strings.Cut(value, " ")
	return strings.TrimRight(value, ",.;")
}

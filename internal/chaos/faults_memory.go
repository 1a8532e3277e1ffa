// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// struck are the objects about a step's target: a machine's BMC, its Server and the claim that has it, or a seat's claim and its Server.
func (c *campaign) struck(step Step) []object {
	var found []object
	add := func(o object) { found = append(found, o) }
	if strings.HasPrefix(step.Target, seatPrefix) {
		claim := c.claimAt(step, anyClaim)
		if claim == nil {
			return nil
		}
		add(claim)
		if server := c.sight.server(claim.Spec.ServerName); server != nil {
			add(server)
		}
		return found
	}
	if bmc := c.sight.get(id{"bmc", client.ObjectKey{Name: step.Target}}); bmc != nil {
		add(bmc)
	}
	if server := c.sight.server(step.Target); server != nil {
		add(server)
		if ref := server.Spec.ClaimRef; ref != nil && c.sight.claim(ref.Name) != nil {
			add(c.sight.claim(ref.Name))
		}
	}
	return found
}

// claimAt is the claim, as it was last seen, of the seat that a step strikes, or of the next seat that has one that suits; nil where none has.
func (c *campaign) claimAt(step Step, suits func(*v1alpha1.ServerClaim) bool) *v1alpha1.ServerClaim {
	first := c.seats[step.Target].number
	for i := range len(c.seats) {
		now := c.seats[seatName((first+i)%len(c.seats))].tenancy()
		if now == nil {
			continue
		}
		if claim := c.sight.claim(now.name); claim != nil && suits(claim) {
			return claim
		}
	}
	return nil
}

func anyClaim(*v1alpha1.ServerClaim) bool { return true }

func hasServer(claim *v1alpha1.ServerClaim) bool { return claim.Spec.ServerName != "" }

// one of the objects about a step's target.
func (c *campaign) one(step Step) (object, error) {
	all := c.struck(step)
	if len(all) == 0 {
		return nil, errNothing
	}
	return all[step.Pick%uint64(len(all))], nil
}

// The parts of a status, as the patch that takes each away: all of it, what reconcilers wrote, what the monitor wrote.
var statusParts = []string{
	`{"status":null}`,
	`{"status":{"phase":null,"conditions":null,"observedGeneration":null}}`,
	`{"status":{"observed":null}}`,
}

func wipeStatus(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	o, err := c.one(step)
	if err != nil {
		return nil, err
	}
	part := statusParts[step.Pick/7%uint64(len(statusParts))]
	copied := o.DeepCopyObject().(object)
	return nil, gone(c.world.admin.Status().Patch(ctx, copied, client.RawPatch(mergePatch, []byte(part))))
}

// gone takes an object that is not there any more for nobody to strike.
func gone(err error) error {
	if err != nil && client.IgnoreNotFound(err) == nil {
		return errNothing
	}
	return err
}

func anyVersion(object) bool { return true }

func olderStatus(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	o, err := c.one(step)
	if err != nil {
		return nil, err
	}
	old := c.sight.older(idOf(o), step.Pick/7, anyVersion)
	if old == nil {
		return nil, errNothing
	}
	for range 5 { // managers write meanwhile
		current := o.DeepCopyObject().(object)
		if err = c.world.admin.Get(ctx, client.ObjectKeyFromObject(o), current); err != nil {
			return nil, gone(err)
		}
		old.SetResourceVersion(current.GetResourceVersion())
		old.SetUID(current.GetUID())
		if err = c.world.admin.Status().Update(ctx, old.DeepCopyObject().(object)); err == nil {
			return nil, nil
		}
	}
	return nil, err
}

// ledgerOf are the entries of an object's memory.
func ledgerOf(o object) map[string]string {
	entries := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if strings.HasPrefix(key, v1alpha1.LedgerPrefix) {
			entries[key] = value
		}
	}
	return entries
}

// breakLedger replaces an object's memory, as somebody may who breaks the glass.
func (c *campaign) breakLedger(ctx context.Context, o object, step Step, entries map[string]string) error {
	current := o.DeepCopyObject().(object)
	if err := c.world.admin.Get(ctx, client.ObjectKeyFromObject(o), current); err != nil {
		return gone(err)
	}
	annotations := map[string]any{v1alpha1.AnnotationBreakGlass: fmt.Sprintf("%s at %s", step.Fault, step.At)}
	for key := range ledgerOf(current) {
		annotations[key] = nil
	}
	for key, value := range entries {
		annotations[key] = value
	}
	c.forgets(current)
	if t := c.tenants.get(current.GetName()); t != nil && asNew(current, entries) {
		c.journal.note(judge.Event{Kind: judge.Forgot, Tenant: t.id, Detail: step.Fault})
		defer c.amnesia.begins(t)()
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	return gone(c.world.admin.Patch(ctx, current, client.RawPatch(mergePatch, patch)))
}

// asNew says that a claim with this memory is like one that never had a machine: it has none, or one from before its machine that does not
// tell that the object was restored.
func asNew(claim object, entries map[string]string) bool {
	identity := entries[ledger.KeyIdentity]
	return entries[ledger.KeyBound] == "" && (identity == "" || identity == string(claim.GetUID()))
}

// forgets puts on the record that what is remembered of a machine is about to be taken away, or made older.
func (c *campaign) forgets(o object) {
	server, isServer := o.(*v1alpha1.Server)
	if claim, isClaim := o.(*v1alpha1.ServerClaim); isClaim {
		server, isServer = c.sight.server(claim.Spec.ServerName), true
	}
	if !isServer || server == nil {
		return
	}
	if machine := c.world.machineID(server); machine != "" {
		c.journal.note(judge.Event{Kind: judge.Forgot, Machine: machine, Detail: idOf(o).String()})
	}
}

func dropLedger(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	o, err := c.one(step)
	if err != nil {
		return nil, err
	}
	if len(ledgerOf(o)) == 0 {
		return nil, errNothing
	}
	return nil, c.breakLedger(ctx, o, step, nil)
}

func ageLedger(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	o, err := c.one(step)
	if err != nil {
		return nil, err
	}
	old := c.sight.older(idOf(o), step.Pick/7, func(o object) bool { return len(ledgerOf(o)) > 0 && c.tells(o) })
	if old == nil {
		return nil, errNothing
	}
	return nil, c.breakLedger(ctx, o, step, ledgerOf(old))
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// destroy takes an object away as a disaster does: nobody sees it being deleted. Its finalizers go first, and it is deleted in the very
// version that has none.
func (c *campaign) destroy(ctx context.Context, o object) error {
	for {
		current := o.DeepCopyObject().(object)
		if err := c.world.admin.Get(ctx, client.ObjectKeyFromObject(o), current); err != nil {
			return gone(err)
		}
		if current.GetDeletionTimestamp() != nil {
			return errNothing // somebody gave it up meanwhile
		}
		patch := fmt.Appendf(nil, `{"metadata":{"finalizers":null,"resourceVersion":%q}}`, current.GetResourceVersion())
		err := c.world.admin.Patch(ctx, current, client.RawPatch(mergePatch, patch))
		if err == nil {
			version := current.GetResourceVersion()
			err = c.world.admin.Delete(ctx, current, client.Preconditions{ResourceVersion: &version})
		}
		switch {
		case err == nil:
			return nil
		case client.IgnoreNotFound(err) == nil:
			return errNothing
		case !pause(ctx, time.Millisecond):
			return err
		}
	}
}

// asBackup makes of an object what a backup tool restores: no status, and nothing that the API server gives anew.
func asBackup(o object) object {
	kept := o.DeepCopyObject().(object)
	kept.SetUID("")
	kept.SetResourceVersion("")
	kept.SetGeneration(0)
	kept.SetCreationTimestamp(metav1.Time{})
	kept.SetManagedFields(nil)
	const unreported = -1
	switch k := kept.(type) {
	case *v1alpha1.Server:
		k.Status = v1alpha1.ServerStatus{ObservedGeneration: unreported}
	case *v1alpha1.ServerClaim:
		k.Status = v1alpha1.ServerClaimStatus{ObservedGeneration: unreported}
	case *v1alpha1.BMC:
		k.Status = v1alpha1.BMCStatus{ObservedGeneration: unreported}
	}
	return kept
}

// restorable are versions that a backup could hold: not being deleted, and known to Holdfast already. A claim from before that is a new
// claim, which may rightly get another machine.
func restorable(o object) bool {
	if o.GetDeletionTimestamp() != nil {
		return false
	}
	_, isBMC := o.(*v1alpha1.BMC)
	return isBMC || o.GetAnnotations()[ledger.KeyIdentity] != ""
}

// restore creates an object as it was at a time that pick decides. One that is there again meanwhile stays.
func (c *campaign) restore(ctx context.Context, o object, pick uint64) error {
	old := c.sight.older(idOf(o), pick, func(o object) bool { return restorable(o) && c.tells(o) })
	if old == nil {
		old = o
	}
	return c.bringObjectBack(ctx, old)
}

// tells says that a version of an object tells enough for the promise to hold. Where machines keep no stamps, one of a Server in the middle of
// its first boot does not, if the claim still says that it is bound: nothing can tell that the machine has booted since (docs/explorer.md, what is
// not proven).
func (c *campaign) tells(o object) bool {
	server, is := o.(*v1alpha1.Server)
	if !is || server.Spec.Redfish == nil || c.options.stamped() {
		return true
	}
	memory, err := ledger.ParseServer(server.Annotations)
	return err == nil && (memory.Boot == nil || memory.Boot.Stage == ledger.StageBooted)
}

// bringObjectBack creates an object as it was, and puts on the record what that changes. One that is there still, such as a claim whose
// deletion is under way, stays as it is: nothing was asked for again. Where there was no answer it may have been created.
func (c *campaign) bringObjectBack(ctx context.Context, old object) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	at := time.Now()
	c.forgets(old)
	err := c.world.admin.Create(ctx, asBackup(old))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if claim, isClaim := old.(*v1alpha1.ServerClaim); isClaim {
		c.tenants.broughtBack(at, claim)
	}
	return err
}

// lose destroys objects of a seat and restores each, in an order and of an age that pick decides.
func (c *campaign) lose(ctx context.Context, step Step, objects ...object) (func(context.Context) error, error) {
	var lost []object
	var failures []error
	for _, o := range objects {
		if !restorable(o) {
			continue
		}
		switch err := c.destroy(ctx, o); {
		case err == nil:
			lost = append(lost, o)
		case !errors.Is(err, errNothing):
			// It may be destroyed all the same.
			lost, failures = append(lost, o), append(failures, err)
		}
	}
	if len(lost) == 0 {
		return nil, errors.Join(append(failures, errNothing)...)
	}
	random := rand.New(rand.NewPCG(step.Pick, 0)) //nolint:gosec // the plan decides
	random.Shuffle(len(lost), func(i, j int) { lost[i], lost[j] = lost[j], lost[i] })
	return func(ctx context.Context) error {
		var failures []error
		for i, o := range lost {
			if i > 0 && !pause(ctx, time.Duration(random.Float64()*float64(second))) {
				return ctx.Err()
			}
			failures = append(failures, c.restore(ctx, o, random.Uint64()))
		}
		return errors.Join(failures...)
	}, nil
}

// bound are the claim that a step strikes and its Server; nil where there are none.
func (c *campaign) bound(step Step) (*v1alpha1.ServerClaim, *v1alpha1.Server) {
	claim := c.claimAt(step, func(claim *v1alpha1.ServerClaim) bool { return c.sight.server(claim.Spec.ServerName) != nil })
	if claim == nil {
		return nil, nil
	}
	return claim, c.sight.server(claim.Spec.ServerName)
}

func loseServer(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	_, server := c.bound(step)
	if server == nil {
		return nil, errNothing
	}
	return c.lose(ctx, step, server)
}

func loseClaim(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	claim := c.claimAt(step, func(claim *v1alpha1.ServerClaim) bool { return restorable(claim) })
	if claim == nil {
		return nil, errNothing
	}
	return c.lose(ctx, step, claim)
}

// loseEverything loses the BMC first: it would make the Server anew.
func loseEverything(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	claim, server := c.bound(step)
	if server == nil {
		return nil, errNothing
	}
	objects := []object{server, claim}
	if machine := server.Spec.Redfish; machine != nil {
		if bmc := c.sight.get(id{"bmc", client.ObjectKey{Name: machine.BMCRef.Name}}); bmc != nil {
			objects = append([]object{bmc}, objects...)
		}
	}
	return c.lose(ctx, step, objects...)
}

// move takes a Server or claim away and puts it back at once as it was, with another UID.
func move(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	o, err := c.one(step)
	if err != nil {
		return nil, err
	}
	if !restorable(o) {
		return nil, errNothing
	}
	if err := c.destroy(ctx, o); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return c.bringObjectBack(ctx, o) }, nil
}

// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func joined(resets []string) string {
	if len(resets) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(resets)), ", ")
}

func maintain(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	work := &v1alpha1.ServerMaintenance{ObjectMeta: metav1.ObjectMeta{Name: "new-dimm"}}
	work.Spec = v1alpha1.ServerMaintenanceSpec{
		ServerRef: v1alpha1.LocalObjectReference{Name: webServer}, Policy: v1alpha1.MaintenanceOwnerApproval,
		Power: v1alpha1.PowerOff, Reason: "replace a DIMM",
	}
	if err := t.restorer.Create(ctx, work); err != nil {
		return err
	}
	t.did("asked for maintenance of %s, power Off, with the owner's approval", webServer)
	if err := t.condition(ctx, work, v1alpha1.ConditionActive, v1alpha1.ReasonAwaitingApproval); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	if err := annotate(ctx, t.tenant, claimNamed(web), v1alpha1.AnnotationMaintenanceApproved, work.Name); err != nil {
		return err
	}
	t.did("the tenant approves it on the claim")
	if err := t.condition(ctx, work, v1alpha1.ConditionActive, v1alpha1.ReasonActive); err != nil {
		return err
	}
	if err := t.powerIs(ctx, webServer, "Off"); err != nil {
		return err
	}
	if err := t.called(m, 0, webServer+" GracefulShutdown"); err != nil {
		return err
	}
	if err := t.restorer.Delete(ctx, work); err != nil {
		return err
	}
	t.did("ended the maintenance by deleting it")
	if err := t.gone(ctx, work); err != nil {
		return err
	}
	if err := t.runsAgain(ctx, m); err != nil {
		return err
	}
	return t.called(m, 0, webServer+" GracefulShutdown", webServer+" On")
}

// powerIs waits for a machine's true power state.
func (t *tour) powerIs(ctx context.Context, server, power string) error {
	return t.until(ctx, "machine of "+server+" "+power, func(context.Context) error {
		if is := t.stack.Machine(server).Power(); string(is) != power {
			return fmt.Errorf("it is %s", is)
		}
		return nil
	})
}

// conditioned is an object that reports by conditions.
type conditioned interface {
	client.Object
	StatusConditions() *[]metav1.Condition
}

// told names an object as people do.
func told(object client.Object) string {
	kind := reflect.TypeOf(object).Elem().Name()
	return kind + " " + object.GetName()
}

// condition waits until an object reports a condition for a reason.
func (t *tour) condition(ctx context.Context, object conditioned, condition, reason string) error {
	message := ""
	err := t.until(ctx, fmt.Sprintf("%s: %s for %s", object.GetName(), condition, reason), func(ctx context.Context) error {
		if err := t.admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		found := meta.FindStatusCondition(*object.StatusConditions(), condition)
		if found == nil || found.Reason != reason {
			return fmt.Errorf("%+v", found)
		}
		message = found.Message
		return nil
	})
	if err == nil {
		t.saw("%s: %s for %s: %s", told(object), condition, reason, message)
	}
	return err
}

const db = "db"

func cordon(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.cordoned(ctx, `{"spec":{"unschedulable":true}}`); err != nil {
		return err
	}
	claim := claimNamed(db)
	claim.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: webServer}
	if err := t.tenant.Create(ctx, claim); err != nil {
		return err
	}
	t.did("cordoned %s; a tenant claims it by name (%s)", webServer, db)
	if err := t.condition(ctx, claim, v1alpha1.ConditionBound, v1alpha1.ReasonServerNotAvailable); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	if err := t.cordoned(ctx, `{"spec":{"unschedulable":false}}`); err != nil {
		return err
	}
	t.did("uncordoned it")
	if _, err := t.claimReady(ctx, db); err != nil {
		return err
	}
	if err := t.runs(ctx, webServer, db); err != nil {
		return err
	}
	return t.called(m, 1, webServer+" On")
}

func (t *tour) cordoned(ctx context.Context, body string) error {
	return t.restorer.Patch(ctx, serverNamed(webServer), client.RawPatch(types.MergePatchType, []byte(body)))
}

// deleteInUse deletes from the bottom up, what is used before what uses it: each waits, and nothing is lost.
func deleteInUse(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	bmc := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: webServer}}
	server, claim := serverNamed(webServer), claimNamed(db)
	for _, object := range []client.Object{bmc, server} {
		if err := t.restorer.Delete(ctx, object); err != nil {
			return err
		}
	}
	t.did("deleted the BMC %s, and the server behind it, which %s has", bmc.Name, db)
	for _, object := range []conditioned{bmc, server} {
		if err := t.condition(ctx, object, v1alpha1.ConditionReady, v1alpha1.ReasonInUse); err != nil {
			return err
		}
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	if err := t.tenant.Delete(ctx, claim); err != nil {
		return err
	}
	t.did("the tenant deletes the claim %s", db)
	for _, object := range []client.Object{claim, server, bmc} {
		if err := t.gone(ctx, object); err != nil {
			return err
		}
	}
	t.line("checked", "claim, server and BMC are gone")
	return t.called(m, 0, webServer+" GracefulShutdown")
}

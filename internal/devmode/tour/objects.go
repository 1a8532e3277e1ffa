// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// The people of the tour, and where the tenant's claims are.
const (
	restorerName = "restore-operator"
	tenantName   = "tenant"
	namespace    = "default"
)

// people gives them the roles that an installation has for them.
func (t *tour) people(ctx context.Context) error {
	role := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	user := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	}
	for _, binding := range []client.Object{
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: restorerName}, RoleRef: role("holdfast-admin"), Subjects: user(restorerName)},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tenantName}, RoleRef: role("holdfast-tenant"), Subjects: user(tenantName)},
	} {
		if err := t.admin.Create(ctx, binding); err != nil {
			return fmt.Errorf("give %s its role: %w", binding.GetName(), err)
		}
	}
	var err error
	if t.restorer, err = t.stack.As(restorerName, "system:authenticated"); err != nil {
		return err
	}
	t.tenant, err = t.stack.As(tenantName, "system:authenticated")
	return err
}

// Waiting.

const (
	pollInterval = 50 * time.Millisecond
	// patience is far above what anything takes on a machine that is not busy.
	patience = 40 * time.Second
)

// until polls for a fact.
func (t *tour) until(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: not after %s: %w", what, patience, last)
	}
	return nil
}

func (t *tour) server(ctx context.Context, name string) (*v1alpha1.Server, error) {
	server := &v1alpha1.Server{}
	return server, t.admin.Get(ctx, client.ObjectKey{Name: name}, server)
}

func (t *tour) claim(ctx context.Context, name string) (*v1alpha1.ServerClaim, error) {
	claim := &v1alpha1.ServerClaim{}
	return claim, t.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, claim)
}

// serverIs waits until a server says that it is in a phase and ready.
func (t *tour) serverIs(ctx context.Context, name string, phase v1alpha1.ServerPhase) error {
	return t.until(ctx, fmt.Sprintf("server %s %s and Ready", name, phase), func(ctx context.Context) error {
		server, err := t.server(ctx, name)
		if err != nil {
			return err
		}
		if server.Status.Phase != phase || server.Status.Observed == nil {
			return fmt.Errorf("phase %q", server.Status.Phase)
		}
		return ready(server.Status.Conditions, server.Generation, server.Status.ObservedGeneration)
	})
}

// claimReady waits until a claim says that its machine is there to be used, and returns the name of its server.
func (t *tour) claimReady(ctx context.Context, name string) (string, error) {
	server := ""
	err := t.until(ctx, "claim "+name+" Ready", func(ctx context.Context) error {
		claim, err := t.claim(ctx, name)
		if err != nil {
			return err
		}
		server = claim.Spec.ServerName
		return ready(claim.Status.Conditions, claim.Generation, claim.Status.ObservedGeneration)
	})
	return server, err
}

// runs waits until the machine of a server is up with an operating system from its disk, or its VM is, and both objects say so.
func (t *tour) runs(ctx context.Context, server, claim string) error {
	err := t.until(ctx, "machine of "+server+" up", func(context.Context) error { return t.up(server) })
	if err != nil {
		return err
	}
	if err := t.serverIs(ctx, server, v1alpha1.PhaseReserved); err != nil {
		return err
	}
	_, err = t.claimReady(ctx, claim)
	return err
}

// up says, by the machine's or the cloud's own word, what a server lacks to be up.
func (t *tour) up(server string) error {
	machine := t.stack.Machine(server)
	if machine == nil {
		vm, err := t.vm(server)
		if err == nil && vm.Status != "ACTIVE" {
			err = fmt.Errorf("the VM is %s %s", vm.Status, vm.Task)
		}
		return err
	}
	if s := machine.Status(); s.Progress != "OSRunning" || s.Running != s.Disk {
		return fmt.Errorf("power %s, boot progress %s, running %q, on disk %q", s.Power, s.Progress, s.Running, s.Disk)
	}
	return nil
}

func ready(conditions []metav1.Condition, generation, observed int64) error {
	condition := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case observed != generation:
		return fmt.Errorf("generation %d, observed %d", generation, observed)
	case condition == nil:
		return fmt.Errorf("no condition Ready")
	case condition.Status != metav1.ConditionTrue:
		return fmt.Errorf("condition Ready is %s: %s: %s", condition.Status, condition.Reason, condition.Message)
	}
	return nil
}

// stalls waits until an object is stalled for a reason, and returns the message that people read.
func (t *tour) stalls(ctx context.Context, server string, reasons ...string) (string, error) {
	message := ""
	err := t.until(ctx, fmt.Sprintf("server %s held for %v", server, reasons), func(ctx context.Context) error {
		object, err := t.server(ctx, server)
		if err != nil {
			return err
		}
		stalled := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionStalled)
		if stalled == nil || stalled.Status != metav1.ConditionTrue {
			return fmt.Errorf("not stalled, phase %q", object.Status.Phase)
		}
		for _, reason := range reasons {
			if stalled.Reason == reason {
				message = stalled.Reason + ": " + stalled.Message
				return nil
			}
		}
		return fmt.Errorf("stalled for %s: %s", stalled.Reason, stalled.Message)
	})
	return message, err
}

// gone waits until an object does not exist.
func (t *tour) gone(ctx context.Context, object client.Object) error {
	return t.until(ctx, fmt.Sprintf("%T %s gone", object, object.GetName()), func(ctx context.Context) error {
		err := t.admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("there, with finalizers %v", object.GetFinalizers())
	})
}

// Backup and disaster.

// backup keeps a copy of an object as a backup tool would restore it: without status, and without what the API server gives anew.
func (t *tour) backup(ctx context.Context, as string, object client.Object) error {
	if err := t.admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return fmt.Errorf("back %s up: %w", object.GetName(), err)
	}
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(metav1.Time{})
	object.SetManagedFields(nil)
	switch o := object.(type) {
	case *v1alpha1.Server:
		o.Status = v1alpha1.ServerStatus{}
	case *v1alpha1.ServerClaim:
		o.Status = v1alpha1.ServerClaimStatus{}
	}
	t.kept[as] = object
	return nil
}

// restore creates what was kept, as somebody who has the verb restore.
func (t *tour) restore(ctx context.Context, as string) (client.Object, error) {
	object := t.kept[as].DeepCopyObject().(client.Object)
	if err := t.restorer.Create(ctx, object); err != nil {
		return nil, fmt.Errorf("restore %s: %w", as, err)
	}
	return object, nil
}

// destroy takes an object away as a disaster would: no finalizer stops it.
func (t *tour) destroy(ctx context.Context, object client.Object) error {
	if err := t.restorer.Delete(ctx, object); err != nil {
		return fmt.Errorf("delete %s: %w", object.GetName(), err)
	}
	noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := t.restorer.Patch(ctx, object, noFinalizers); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("force the finalizers of %s away: %w", object.GetName(), err)
	}
	return nil
}

// annotate sets an annotation as a person would; an empty value removes it.
func annotate(ctx context.Context, by client.Client, object client.Object, key, value string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		return fmt.Errorf("annotate %s: %w", object.GetName(), err)
	}
	return by.Patch(ctx, object, client.RawPatch(types.MergePatchType, body))
}

func serverNamed(name string) *v1alpha1.Server {
	return &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func claimNamed(name string) *v1alpha1.ServerClaim {
	return &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// SPDX-License-Identifier: Apache-2.0

// Package guard holds the edges between objects: what is used cannot go. A dependency (a BMC, a Cloud, a ServerClass, an SSH certificate
// authority, the secret with somebody's credentials) bears the finalizer holdfast.dev/in-use before its first use, and its controller
// takes the finalizer off only when the API server itself, not a cache, lists no user (P10). Deleting what is used waits, and names the
// users in a condition.
package guard

import (
	"context"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
)

// Recheck is how often a deletion that waits looks for users again, behind the wakes of the users' own deletion.
const Recheck = time.Minute

// Guard puts the finalizer on and takes it off: each time one write, which ends the pass (P4).
type Guard struct {
	// Client writes, by patch with optimistic lock.
	Client client.Client
	// API reads from the API server itself: what lets go rests on it.
	API client.Reader
}

// Put puts the guard on an object. It tells whether there was something to write: the pass ends with it. An object that is being
// deleted gets none: the API server refuses it, and it takes no new user.
func (g Guard) Put(ctx context.Context, object client.Object, message string) (bool, error) {
	return g.write(ctx, object, lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerInUse}, message)
}

// LetGo takes the guard off an object of which the caller has made sure, by g.API, that nobody uses it. It tells whether there was
// something to write.
func (g Guard) LetGo(ctx context.Context, object client.Object, message string) (bool, error) {
	return g.write(ctx, object, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerInUse}, message)
}

// On says that an object bears the guard.
func On(object client.Object) bool {
	return controllerutil.ContainsFinalizer(object, v1alpha1.FinalizerInUse)
}

// Next ends a pass that wrote, or whose write lost a race. The watch mostly brings the next pass, but not each change that wins a race
// wakes the controller (a label, a secret's content), so a timer stands behind it.
func Next(err error) (ctrl.Result, error) {
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: pass.Again}, nil
}

// Waiting is the gate of a deletion that waits for users.
func Waiting(users []User) lifecycle.Gate {
	return lifecycle.Gate{
		Level: lifecycle.Progressing, Reason: v1alpha1.ReasonInUse, Message: "deletion waits for " + named(users) + ": delete them first",
	}
}

func (g Guard) write(ctx context.Context, object client.Object, patch lifecycle.Patch, message string) (bool, error) {
	if !changes(object, patch) {
		return false, nil
	}
	written, err := pass.Write(ctx, g.Client, object, patch)
	if err != nil {
		return true, fmt.Errorf("%s: %w", message, err)
	}
	if written == pass.Done {
		log.FromContext(ctx).Info(message)
	}
	return true, nil
}

// changes tells whether a finalizer patch would change anything.
func changes(object client.Object, patch lifecycle.Patch) bool {
	if patch.AddFinalizer != "" {
		return object.GetDeletionTimestamp().IsZero() && !On(object)
	}
	return On(object)
}

// named lists users for a person, cut after five.
func named(users []User) string {
	const most = 5
	names := make([]string, 0, most)
	for _, user := range users[:min(most, len(users))] {
		names = append(names, user.String())
	}
	if more := len(users) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
)

// A BMC remembers as which object it was enrolled, as a Server does (P11). One that is restored, before its Servers are or without them,
// bears the UID of the object that it was: that a Server is missing then says nothing (P10), and one made anew would know of no disk to
// keep, of no pause and no cordon, and stand in the way of the one to be restored. So none is made until the Servers are there again, or a
// person says that there are none to wait for.

// restored says that the object is not the one that was enrolled, and nobody has said that its Servers are to be made anew.
func restored(bmc *v1alpha1.BMC) bool {
	enrolledAs := bmc.Annotations[ledger.KeyObjectUID]
	return enrolledAs != "" && enrolledAs != string(bmc.UID) && bmc.Annotations[v1alpha1.AnnotationEnrollAnew] != string(bmc.UID)
}

// enroll guards the BMC and remembers as which object, before its first use: a Server confirms its memory only once the guard is there.
func (r *Reconciler) enroll(ctx context.Context, bmc *v1alpha1.BMC) (bool, error) {
	patch := lifecycle.Patch{}
	if !guard.On(bmc) {
		patch.AddFinalizer = v1alpha1.FinalizerInUse
	}
	if bmc.Annotations[ledger.KeyObjectUID] == "" {
		patch.Ledger = ledger.Entries{}.ObjectUID(bmc.UID)
	}
	if patch.AddFinalizer == "" && patch.Ledger == nil {
		return false, nil
	}
	return r.remember(ctx, bmc, patch, "enroll the BMC")
}

// enrolled remembers the object that is there now, once each host that was seen behind it has its Server again. A consent is used up
// by that.
func (r *Reconciler) enrolled(ctx context.Context, bmc *v1alpha1.BMC) (bool, error) {
	consent, asked := bmc.Annotations[v1alpha1.AnnotationEnrollAnew]
	known := bmc.Annotations[ledger.KeyObjectUID] == string(bmc.UID)
	if known && (!asked || consent != string(bmc.UID)) || len(hostsOf(bmc)) == 0 {
		return false, nil
	}
	patch := lifecycle.Patch{Ledger: ledger.Entries{}.ObjectUID(bmc.UID), Remove: []string{v1alpha1.AnnotationEnrollAnew}}
	return r.remember(ctx, bmc, patch, "remember that the restored BMC has its servers")
}

func (r *Reconciler) remember(ctx context.Context, bmc *v1alpha1.BMC, patch lifecycle.Patch, message string) (bool, error) {
	written, err := pass.Write(ctx, r.Client, bmc, patch)
	if err != nil {
		return true, fmt.Errorf("%s: %w", message, err)
	}
	if written == pass.Done {
		log.FromContext(ctx).Info(message)
	}
	return true, nil
}

// awaitingServers is the gate of a restored BMC whose Servers are not there.
func awaitingServers(bmc *v1alpha1.BMC, missing []*v1alpha1.Server) lifecycle.Gate {
	const most = 3
	names := make([]string, 0, most)
	for _, server := range missing[:min(most, len(missing))] {
		names = append(names, server.Name)
	}
	if more := len(missing) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return lifecycle.Gate{
		Level: lifecycle.Stalled, Reason: v1alpha1.ReasonServerMissing,
		Message: fmt.Sprintf("this BMC was restored, and its Servers are not there (%s): what was known of the machines is missing, and none is made anew. "+
			"Ways out: restore the Servers; or, where there are none to restore, kubectl annotate bmc %s %s=%s",
			strings.Join(names, ", "), bmc.Name, v1alpha1.AnnotationEnrollAnew, bmc.UID),
	}
}

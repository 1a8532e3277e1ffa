// SPDX-License-Identifier: Apache-2.0

// Package display copies into one object's report what another's says and its reader should know. It is the one place that reads what a
// reconciler has reported. Nothing is decided from it: a decision has been made when it is asked, and what it adds is conditions and
// gates, which no decision looks at (P1, docs/decisions/0076).
package display

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// refusals are the reasons for which a machine cannot boot, or a VM be made, as its claim asks. They are learned by asking the machine or
// the cloud, and shown on the Server; the one who waits, and can mostly do something about them, is the tenant, who sees the claim.
var refusals = []string{
	v1alpha1.ReasonBootMethodUnsupported, v1alpha1.ReasonMediaRefused,
	v1alpha1.ReasonQuotaExceeded, v1alpha1.ReasonResourceMissing, v1alpha1.ReasonResourceAmbiguous, v1alpha1.ReasonUserDataInvalid,
	v1alpha1.ReasonFoundExisting, v1alpha1.ReasonDuplicateVM, v1alpha1.ReasonCloudTooOld,
	v1alpha1.ReasonEffectFailed,
}

// refusal is what a server says of it now, for the spec as it is: what was said under another claim's is not.
func refusal(server *v1alpha1.Server) (lifecycle.Gate, bool) {
	said := meta.FindStatusCondition(*server.StatusConditions(), v1alpha1.ConditionStalled)
	if said == nil || said.Status != metav1.ConditionTrue || said.ObservedGeneration != server.Generation || !slices.Contains(refusals, said.Reason) {
		return lifecycle.Gate{}, false
	}
	return lifecycle.Gate{Level: lifecycle.Stalled, Reason: said.Reason, Message: said.Message}, true
}

// ReportMoved is the change of a Server by which its claim's report changes.
var ReportMoved = wake.Change{Cause: wake.CauseDependency, Moved: func(before, after client.Object) bool {
	old, wasServer := before.(*v1alpha1.Server)
	now, isServer := after.(*v1alpha1.Server)
	if !wasServer || !isServer {
		return false
	}
	said, _ := refusal(old)
	says, _ := refusal(now)
	return said != says || awaitsPower(old) != awaitsPower(now)
}}

// awaitsPower says that a server said that it waits for nothing but that its claim asks for power.
func awaitsPower(server *v1alpha1.Server) bool {
	said := meta.FindStatusCondition(server.Status.Conditions, v1alpha1.ConditionReady)
	return said != nil && said.Reason == v1alpha1.ReasonPowerNotWanted
}

// WithRefusal gives the report of a claim with what the server that it has says of a boot it refuses, until the claim is booted and has its
// network.
func WithRefusal(c *v1alpha1.ServerClaim, server *v1alpha1.Server, report claim.Decision) claim.Decision {
	if server == nil || server.Spec.ClaimRef == nil || server.Spec.ClaimRef.Identity != c.Annotations[ledger.KeyIdentity] {
		return report
	}
	refused, is := refusal(server)
	at := slices.IndexFunc(report.Conditions, func(told lifecycle.Condition) bool {
		return told.Type == v1alpha1.ConditionBooted && told.Status == string(metav1.ConditionFalse)
	})
	unconnected := slices.ContainsFunc(report.Gates, func(gate lifecycle.Gate) bool { return gate.Reason == v1alpha1.ReasonNetworkUpdating })
	if !is || (at < 0 && !unconnected) {
		return report
	}
	if at >= 0 {
		report.Conditions = slices.Clone(report.Conditions)
		report.Conditions[at].Reason, report.Conditions[at].Message = refused.Reason, refused.Message
	}
	report.Gates = slices.Concat([]lifecycle.Gate{refused}, report.Gates)
	return report
}

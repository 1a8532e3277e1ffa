// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"cmp"
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// remedies are what a person can do about a cloud that cannot be used for a reason that does not pass by itself.
var remedies = map[string]string{
	v1alpha1.ReasonEndpointInvalid:    "correct the auth_url in the clouds.yaml of the secret that spec.cloudsSecretRef names",
	v1alpha1.ReasonCredentialsMissing: "create it with the key clouds.yaml and the entry that spec.cloudName names, or name another one in spec.cloudsSecretRef",
	v1alpha1.ReasonCredentialsInvalid: "correct the secret that spec.cloudsSecretRef names; next to nothing is tried meanwhile, so that no account is locked",
	v1alpha1.ReasonTLSVerifyFailed:    "no credentials were sent: give the cloud's authority in spec.caBundle, or renew its certificate",
	v1alpha1.ReasonCloudTooOld:        "upgrade the cloud's compute service: without tags at creation no VM can be told from another",
	provider.ReasonForbidden:          "give the user of clouds.yaml a role that may do this, or correct the cloud's policy",
	provider.ReasonNotOpenStack:       "correct the auth_url in clouds.yaml, spec.region, or the cloud's catalog",
}

// Describe tells how a cloud stands, from what the monitor found: conditions, and the gates that keep it from being ready. It is pure.
func Describe(cloud *v1alpha1.Cloud) ([]lifecycle.Condition, []lifecycle.Gate) {
	const condition = v1alpha1.ConditionProviderReachable
	observed := cloud.Status.Observed
	switch {
	case observed == nil:
		const message = "nothing was looked at yet"
		return []lifecycle.Condition{{Type: condition, Status: "Unknown", Reason: v1alpha1.ReasonNotObserved, Message: message}},
			[]lifecycle.Gate{{Level: lifecycle.Progressing, Unknown: true, Reason: v1alpha1.ReasonNotObserved, Message: message}}
	case !observed.Reachable:
		gate := unreachable(observed)
		return []lifecycle.Condition{{Type: condition, Status: "False", Reason: gate.Reason, Message: observed.Message}}, []lifecycle.Gate{gate}
	}
	return []lifecycle.Condition{{Type: condition, Status: "True", Reason: v1alpha1.ReasonReachable, Message: told(observed)}}, nil
}

// unreachable says why a cloud is not reached, and what a person can do where one must.
func unreachable(observed *v1alpha1.CloudObserved) lifecycle.Gate {
	gate := lifecycle.Gate{
		Level: lifecycle.Progressing, Reason: cmp.Or(observed.Reason, v1alpha1.ReasonProviderUnreachable), Message: observed.Message,
	}
	if remedy, ours := remedies[observed.Reason]; ours {
		gate.Level = lifecycle.Stalled
		gate.Message = observed.Message + ": " + remedy
	}
	return gate
}

// told is what people ask first of a cloud that works. Quota that is used up is no reason not to be ready: what runs, runs.
func told(observed *v1alpha1.CloudObserved) string {
	return fmt.Sprintf("the last look succeeded: project %s, compute %s",
		cmp.Or(observed.Project, observed.ProjectID, "not told"), cmp.Or(observed.ComputeMicroversion, "not told"))
}

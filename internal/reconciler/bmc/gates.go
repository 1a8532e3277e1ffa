// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"fmt"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// remedies are what a person can do about a BMC that is unreachable for a reason that does not pass by itself.
var remedies = map[string]string{
	v1alpha1.ReasonEndpointInvalid:    "correct spec.endpoint",
	v1alpha1.ReasonCredentialsMissing: "create it with the keys username and password, or name another one in spec.credentialsSecretRef",
	v1alpha1.ReasonCredentialsInvalid: "correct the secret that spec.credentialsSecretRef names; nothing is tried meanwhile, so that no account is locked",
	v1alpha1.ReasonTLSVerifyFailed:    "no credentials were sent: give its authority in spec.tls.caBundle or its fingerprint in spec.tls.pinnedSHA256, or renew it",
	"Forbidden":                       "give the account the role Operator at the BMC, or the BMC the licence that it asks for",
	"NotRedfish":                      "correct spec.endpoint",
}

// unreachable says why a BMC is not reached, and what a person can do where one must.
func unreachable(observed *v1alpha1.BMCObserved) lifecycle.Gate {
	gate := lifecycle.Gate{Level: lifecycle.Progressing, Reason: reasonOf(observed), Message: observed.Message}
	if remedy, ours := remedies[observed.Reason]; ours {
		gate.Level = lifecycle.Stalled
		gate.Message = observed.Message + ": " + remedy
	}
	return gate
}

// reachability reports what the monitor found, as conditions.
func reachability(bmc *v1alpha1.BMC) []lifecycle.Condition {
	observed := bmc.Status.Observed
	switch {
	case observed == nil:
		return []lifecycle.Condition{
			{Type: v1alpha1.ConditionProviderReachable, Status: "Unknown", Reason: v1alpha1.ReasonNotObserved, Message: "nothing was looked at yet"},
			{Type: v1alpha1.ConditionDiscovered, Status: "Unknown", Reason: v1alpha1.ReasonNotObserved, Message: "nothing was looked at yet"},
		}
	case !observed.Reachable:
		return []lifecycle.Condition{
			{Type: v1alpha1.ConditionProviderReachable, Status: "False", Reason: reasonOf(observed), Message: observed.Message},
			discovered(observed),
		}
	default:
		return []lifecycle.Condition{
			{Type: v1alpha1.ConditionProviderReachable, Status: "True", Reason: v1alpha1.ReasonReachable, Message: tlsNote(bmc)},
			discovered(observed),
		}
	}
}

// tlsNote shows an opt-out of verification where people look (B181).
func tlsNote(bmc *v1alpha1.BMC) string {
	if bmc.Spec.TLS != nil && bmc.Spec.TLS.InsecureSkipVerify {
		return "the last look succeeded; the certificate is not verified (tls.insecureSkipVerify)"
	}
	return "the last look succeeded"
}

func discovered(observed *v1alpha1.BMCObserved) lifecycle.Condition {
	if len(observed.Systems) == 0 {
		return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: "False", Reason: v1alpha1.ReasonDiscovering, Message: "no system is known yet"}
	}
	return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: "True", Reason: v1alpha1.ReasonSettled, Message: fmt.Sprintf("%d systems", len(observed.Systems))}
}

func reasonOf(observed *v1alpha1.BMCObserved) string {
	if observed.Reason == "" {
		return v1alpha1.ReasonProviderUnreachable
	}
	return observed.Reason
}

// duplicate holds a BMC that other objects speak of as well: a server made of what is behind it could be another object's already, under
// another name (B157).
func duplicate(others []string) lifecycle.Gate {
	return lifecycle.Gate{
		Level: lifecycle.Stalled, Reason: v1alpha1.ReasonDuplicateBMC,
		Message: "the same management controller is also the BMC " + strings.Join(others, ", ") + ": delete all but one, or correct spec.endpoint; no server is made meanwhile",
	}
}

func gates(bmc *v1alpha1.BMC, conflicts []string) []lifecycle.Gate {
	observed := bmc.Status.Observed
	switch {
	case observed == nil:
		return []lifecycle.Gate{{Level: lifecycle.Progressing, Unknown: true, Reason: v1alpha1.ReasonNotObserved, Message: "nothing was looked at yet"}}
	case !observed.Reachable:
		return []lifecycle.Gate{unreachable(observed)}
	case len(observed.Systems) > 0 && len(hostsOf(bmc)) == 0:
		return []lifecycle.Gate{{Level: lifecycle.Stalled, Reason: v1alpha1.ReasonNoSystems, Message: "no system behind this BMC can be reset: none is a host"}}
	case len(conflicts) > 0:
		return []lifecycle.Gate{{Level: lifecycle.Stalled, Reason: v1alpha1.ReasonConflictingSystem, Message: strings.Join(conflicts, "; ") + ": delete one of the two"}}
	default:
		return nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

func seen(observed *v1alpha1.CloudObserved) *v1alpha1.Cloud {
	return &v1alpha1.Cloud{Status: v1alpha1.CloudStatus{Observed: observed}}
}

func failing(reason string) *v1alpha1.Cloud {
	return seen(&v1alpha1.CloudObserved{Reason: reason, Message: "it is so"})
}

// What passes by itself is waited for; what a person must change stalls, and says what to change. A rate limit is no failure of the
// credentials (B212), an outage clears by itself (B082).
func TestWhatACloudIsHeldFor(t *testing.T) {
	for _, row := range []struct {
		name  string
		cloud *v1alpha1.Cloud
		level lifecycle.Level
		want  string // in the message
	}{
		{"nothing looked at", seen(nil), lifecycle.Progressing, "nothing was looked at"},
		{"outage", failing(provider.ReasonUnreachable), lifecycle.Progressing, "it is so"},
		{"rate limit", failing(provider.ReasonRateLimited), lifecycle.Progressing, "it is so"},
		{"no reason", failing(""), lifecycle.Progressing, "it is so"},
		{"credentials", failing(provider.ReasonCredentialsInvalid), lifecycle.Stalled, "spec.cloudsSecretRef"},
		{"no secret", failing(provider.ReasonCredentialsMissing), lifecycle.Stalled, "clouds.yaml"},
		{"certificate", failing(provider.ReasonTLSVerifyFailed), lifecycle.Stalled, "spec.caBundle"},
		{"endpoint", failing(provider.ReasonEndpointInvalid), lifecycle.Stalled, "auth_url"},
		{"another service", failing(provider.ReasonNotOpenStack), lifecycle.Stalled, "catalog"},
		{"old compute", failing(provider.ReasonCloudTooOld), lifecycle.Stalled, "upgrade"},
	} {
		t.Run(row.name, func(t *testing.T) {
			conditions, gates := Describe(row.cloud)
			if len(gates) != 1 || gates[0].Level != row.level || !strings.Contains(gates[0].Message, row.want) || gates[0].Reason == "" {
				t.Errorf("gates %+v; want one that is %s and says %q", gates, row.level, row.want)
			}
			if len(conditions) != 1 || conditions[0].Status == "True" || conditions[0].Reason != gates[0].Reason {
				t.Errorf("conditions %+v", conditions)
			}
		})
	}
}

func TestAReachableCloudIsReady(t *testing.T) {
	conditions, gates := Describe(seen(&v1alpha1.CloudObserved{Reachable: true, Project: "shop", ComputeMicroversion: "2.90"}))
	if len(gates) != 0 || len(conditions) != 1 || conditions[0].Status != "True" || !strings.Contains(conditions[0].Message, "project shop, compute 2.90") {
		t.Errorf("%+v, %+v", conditions, gates)
	}
}

// A remedy is for a reason that is told: one that no provider gives would never be read.
func TestRemediesAreForReasonsOfProviders(t *testing.T) {
	told := []string{
		provider.ReasonEndpointInvalid, provider.ReasonCredentialsMissing, provider.ReasonCredentialsInvalid,
		provider.ReasonTLSVerifyFailed, provider.ReasonCloudTooOld, provider.ReasonNotOpenStack,
		provider.ReasonForbidden,
	}
	for reason := range maps.Keys(remedies) {
		if !slices.Contains(told, reason) {
			t.Errorf("no provider gives the reason %s", reason)
		}
	}
}

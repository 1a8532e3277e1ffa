// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// systemsOf are the systems behind a BMC: as seen last; else those that its Servers name; else the one that most BMCs have, under a UUID
// that stands for its own.
func systemsOf(b *v1alpha1.BMC, servers []*v1alpha1.Server) []v1alpha1.ObservedSystem {
	if seen := b.Status.Observed; seen != nil && len(seen.Systems) > 0 {
		return seen.Systems
	}
	var named []v1alpha1.ObservedSystem
	for _, server := range servers {
		redfish := server.Spec.Redfish
		named = append(named, v1alpha1.ObservedSystem{ID: cmp.Or(redfish.SystemID, redfish.SystemUUID, "1"), UUID: redfish.SystemUUID, CanReset: true})
	}
	if len(named) > 0 {
		return named
	}
	return []v1alpha1.ObservedSystem{{ID: "1", UUID: ledger.ObjectIdentity(types.UID("system of " + b.Name)), CanReset: true}}
}

// bmcSeen is what the monitor finds at a BMC after the restore.
func bmcSeen(b *v1alpha1.BMC, servers []*v1alpha1.Server, p *play) *v1alpha1.BMCObserved {
	seen := &v1alpha1.BMCObserved{}
	if b.Status.Observed != nil {
		seen = b.Status.Observed.DeepCopy()
	}
	if secret := b.Spec.CredentialsSecretRef.Name; !p.reachable(secret) {
		return &v1alpha1.BMCObserved{Reason: v1alpha1.ReasonCredentialsMissing, Message: missing(p.namespace, secret)}
	}
	seen.Reachable, seen.Reason, seen.Message, seen.Systems = true, "", "", systemsOf(b, servers)
	return seen
}

// cloudSeen is what the monitor finds at a cloud after the restore.
func cloudSeen(c *v1alpha1.Cloud, p *play) *v1alpha1.CloudObserved {
	if secret := c.Spec.CloudsSecretRef.Name; !p.reachable(secret) {
		return &v1alpha1.CloudObserved{Reason: v1alpha1.ReasonCredentialsMissing, Message: missing(p.namespace, secret)}
	}
	return &v1alpha1.CloudObserved{Reachable: true}
}

func missing(namespace, secret string) string {
	return fmt.Sprintf("there is no secret %s/%s", namespace, secret)
}

// unreached is the picture of a server whose provider cannot be asked.
func unreached() v1alpha1.ServerObserved {
	return v1alpha1.ServerObserved{PowerState: v1alpha1.ObservedUnknown, Reason: v1alpha1.ReasonCredentialsMissing}
}

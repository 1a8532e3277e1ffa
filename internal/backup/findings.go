// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Level of a finding.
type Level string

const (
	// Odd is what a person should set right before the backup is needed.
	Odd Level = "at odds"
	// Note is what a person should know.
	Note Level = "note"
)

// Finding is something about the backup itself.
type Finding struct {
	Level Level  `json:"level"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Text  string `json:"text"`
}

// findings are what is at odds within the backup, in order of the objects.
func (c *check) findings() []Finding {
	var found []Finding
	for _, item := range c.items {
		tell := func(level Level, format string, arguments ...any) {
			found = append(found, Finding{Level: level, Kind: item.Kind, Name: item.Name(), Text: fmt.Sprintf(format, arguments...)})
		}
		for _, other := range c.duplicates[item.Kind+" "+item.Name()] {
			tell(Odd, "is there twice: %s is checked, %s is not", item.Origin, other.Origin)
		}
		c.common(item, tell)
		switch o := item.Object.(type) {
		case *v1alpha1.Server:
			c.ofServer(o, tell)
		case *v1alpha1.ServerClaim:
			c.ofClaim(o, tell)
		case *v1alpha1.BMC:
			if o.Annotations[ledger.KeyObjectUID] != "" && len(c.behind[o.Name]) == 0 {
				tell(Odd, "was enrolled, and none of its Servers is in this backup")
			}
		}
	}
	found = append(found, c.identities()...)
	return append(found, c.secrets()...)
}

type teller func(level Level, format string, arguments ...any)

// common is of every kind.
func (c *check) common(item Item, tell teller) {
	if item.Object.GetDeletionTimestamp() != nil && !c.options.Snapshot {
		tell(Odd, "was being deleted when it was exported: it comes back as if nobody had deleted it; delete it again after the restore")
	}
	for _, key := range slices.Sorted(maps.Keys(item.Object.GetAnnotations())) {
		if slices.Contains(consents, key) {
			tell(Odd, "brings the consent %s=%s back into force: take it out of the backup, unless it is still meant", key, item.Object.GetAnnotations()[key])
		}
	}
}

// consents let something go that is held, once. An export may catch one that lies about.
var consents = []string{
	v1alpha1.AnnotationAbandon, v1alpha1.AnnotationAdopt, v1alpha1.AnnotationBootAgain, v1alpha1.AnnotationBooted, v1alpha1.AnnotationChooseAnew,
	v1alpha1.AnnotationEnrollAnew, v1alpha1.AnnotationForceRelease,
	v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationRebuildApproved, v1alpha1.AnnotationResume, v1alpha1.AnnotationRetry, v1alpha1.AnnotationTakeOver,
}

func (c *check) ofServer(server *v1alpha1.Server, tell teller) {
	memory, readable := c.memories[server.Name]
	switch {
	case !readable:
		_, err := ledger.ParseServer(server.Annotations)
		tell(Odd, "has a ledger that cannot be read: %v", err)
	case memory.Identity == "" && !c.made[server.Name]:
		tell(Odd, "has no ledger: what it remembers of its machine is not in this backup")
	case memory.Owner != "" && memory.Owner != c.options.Settings.ClusterID:
		tell(Note, "belongs to the cluster %s, not to the one that it is restored into", memory.Owner)
	}
	if readable && memory.Intent != nil && !c.options.Snapshot {
		tell(Note, "was exported with an effect announced (%s, %s): a restored object drops that", memory.Intent.Op, memory.Intent.Why)
	}
	c.namedBy(server, tell)
	ref := server.Spec.ClaimRef
	if ref == nil {
		return
	}
	claim := c.claims[client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}]
	switch {
	case claim == nil:
		tell(Odd, "is had by the claim %s/%s, which is not in this backup", ref.Namespace, ref.Name)
	case claim.Annotations[ledger.KeyIdentity] != ref.Identity:
		tell(Odd, "is had by the claim %s/%s of the identity %s, and the one in this backup is %s", ref.Namespace, ref.Name, ref.Identity, orNone(claim.Annotations[ledger.KeyIdentity]))
	case claim.Spec.ServerName != "" && claim.Spec.ServerName != server.Name:
		tell(Odd, "is had by the claim %s/%s, which names the server %s", ref.Namespace, ref.Name, claim.Spec.ServerName)
	}
}

// namedBy tells what a server needs that is not in the backup.
func (c *check) namedBy(server *v1alpha1.Server, tell teller) {
	need := func(kind, name string) {
		if !c.there[kind+" "+name] {
			tell(Odd, "needs the %s %s, which is not in this backup", kind, name)
		}
	}
	if server.Spec.Redfish != nil {
		need(KindBMC, server.Spec.Redfish.BMCRef.Name)
	}
	if vm := server.Spec.OpenStack; vm != nil {
		need(KindCloud, vm.CloudRef.Name)
		for _, ref := range vm.SSHCertificateAuthorityRefs {
			need(KindAuthority, ref.Name)
		}
	}
	if ref := server.Spec.ClassRef; ref != nil {
		need(KindClass, ref.Name)
	}
	if ref := server.Spec.MaintenanceRef; ref != nil {
		need(KindMaintenance, ref.Name)
	}
}

func (c *check) ofClaim(claim *v1alpha1.ServerClaim, tell teller) {
	memory, err := ledger.ParseClaim(claim.Annotations)
	switch {
	case err != nil:
		tell(Odd, "has a ledger that cannot be read: %v", err)
	case memory.Identity == "":
		tell(Odd, "has no ledger: it comes back as a new claim, and the machine that it had is not its own any more")
	}
	if name := claim.Spec.ServerName; name != "" && c.conditions[name] == nil {
		tell(Odd, "names the server %s, which is not in this backup", name)
	}
}

func orNone(text string) string {
	if text == "" {
		return "of none"
	}
	return text
}

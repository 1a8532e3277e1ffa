// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// before is what outranks even the holds. Only giving the VM up goes under them: it has no effect at the cloud.
var before = rules.Named("First", rules.Join(
	rules.Lift[*state](rules.Before),
	steps{{Name: "Abandon", When: (*state).abandoned, Then: func(*state) answer {
		return letGo("let the server go without the cloud, as a person asked: VM, ports and floating IP stay as they are").Telling(rules.EventAbandoned)
	}}},
))

// abandoned says that a person gives the VM up. Not while somebody has the server: their workload would be nobody's.
func (s *state) abandoned() bool {
	return s.Deleting() && s.Consent(v1alpha1.AnnotationAbandon, s.Name()) && !s.Maintained() && !s.Live()
}

// first are the holds that outrank every phase, Deleting too: that takes the VM away.
var first = rules.Named("First", rules.Join(
	rules.Lift[*state](rules.Steps[*rules.State]{rules.LedgerUnreadable}),
	steps{{Name: "CloudReplaced", When: (*state).cloudReplaced, Then: cloudReplaced}},
	rules.Within("TakeOver", rules.All((*state).Foreign, (*state).TakenOver), takeOver),
	rules.Lift[*state](rules.Steps[*rules.State]{rules.ForeignOwner}),
	rules.Lift[*state](rules.Standing),
	steps{
		{Name: "DuplicateVM", When: (*state).severalVMs, Then: func(s *state) answer {
			return rules.Hold(v1alpha1.ReasonDuplicateVM, "the VMs "+strings.Join(append([]string{s.vm.ID}, s.vm.Others...), ", ")+" bear the identity of this server: find out which one is meant, and remove the others, or their tags, at the cloud")
		}},
		{Name: "ForeignStamp", When: (*state).foreignStamp, Then: func(s *state) answer {
			return rules.Hold(v1alpha1.ReasonForeignOwner, "the VM "+s.vm.ID+" bears the stamp of the cluster "+s.vm.Owner+", which has taken it over, or had it before: nothing is done to it from here")
		}},
		{Name: "StampMismatch", When: (*state).stampMismatch, Then: stampMismatch},
	},
	rules.Lift[*state](rules.Snapshot),
))

// cloudReplaced says that the Cloud leads to another project than the one that everything of the server is in. Nothing of it is found
// there: that neither means that it is gone, nor that it was never made (P10).
func (s *state) cloudReplaced() bool {
	return s.Ledger.Project != "" && s.Facts.ProjectID != "" && s.Facts.ProjectID != s.Ledger.Project
}

func cloudReplaced(s *state) answer {
	return rules.Hold(v1alpha1.ReasonCloudReplaced, "the Cloud "+s.openstack.CloudRef.Name+" leads to the project "+s.Facts.ProjectID+", and everything of this server is in the project "+s.Ledger.Project+
		": give the Cloud credentials of that project again; or delete the Server and annotate it with "+v1alpha1.AnnotationAbandon+"="+s.Name()+", which leaves there what is there")
}

// severalVMs says that it cannot be told which VM is meant. Where the one remembered never launched and is gone, and one other bears the
// identity, it can: memory is older than the last attempt to make the VM, and forgets that one as any that vanished.
func (s *state) severalVMs() bool {
	outlived := s.gone() && !s.launched() && len(s.vm.Others) == 1
	return len(s.vm.Others) > 0 && !outlived
}

// foreignStamp says that the VM is another cluster's by its stamp.
func (s *state) foreignStamp() bool {
	return s.exists() && s.vm.Owner != "" && s.vm.Owner != s.V.Settings.ClusterID
}

// stampMismatch says that the VM is another server's, or serves another claim than the one that has this server.
func (s *state) stampMismatch() bool {
	if !s.exists() {
		return false
	}
	other := s.vm.Claim != "" && s.Spec.ClaimRef != nil && s.vm.Claim != s.Spec.ClaimRef.Identity
	return s.vm.Identity != s.identity() || s.vm.Owner == "" || other
}

func stampMismatch(s *state) answer {
	return rules.Hold(v1alpha1.ReasonStampMismatch, "the VM "+s.vm.ID+" is stamped as server "+orElse(s.vm.Identity, "of nobody")+" for the claim "+orElse(s.vm.Claim, "of nobody")+
		", which this server's memory ("+s.identity()+") does not account for: restore the newer objects, or correct the VM's tags and metadata at the cloud")
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// takeOver stamps the VM anew where it bears the old owner's stamp, so that the old owner stands down, then takes the ledger.
var takeOver = rules.Join(
	picture,
	steps{
		{Name: "Restamp", When: func(s *state) bool {
			return s.exists() && s.vm.Owner == s.Ledger.Owner && s.vm.Identity == s.identity()
		}, Then: func(s *state) answer {
			return s.stamp(v1alpha1.ReasonForeignOwner, "stamp the VM as ours before taking it over from "+s.Ledger.Owner, s.vm.Claim, s.Ledger.Owner)
		}},
		{Name: "StampMismatch", When: (*state).stampMismatch, Then: stampMismatch},
		{Name: "ForeignStamp", When: (*state).foreignStamp, Then: func(s *state) answer {
			return rules.Hold(v1alpha1.ReasonForeignOwner, "the VM "+s.vm.ID+" belongs to the cluster "+s.vm.Owner+", not to "+s.Ledger.Owner+", which this server remembers")
		}},
		{Name: "Own", When: rules.Always[*state], Then: func(s *state) answer {
			p := lifecycle.Patch{Ledger: ledger.Entries{}.Owner(s.V.Settings.ClusterID), Remove: s.Given(v1alpha1.AnnotationTakeOver)}
			s.closeIntent(&p)
			return rules.Patch(v1alpha1.ReasonForeignOwner, "take the server over from "+s.Ledger.Owner, p).Telling(rules.EventTakenOver)
		}},
	},
)

// stamp writes owner and claim onto the VM. It destroys nothing.
func (s *state) stamp(reason, message, claim, oldOwner string) answer {
	seen := s.vm.Claim
	return s.act(reason, message, lifecycle.OpStampInstance, "", lifecycle.VirtualEffect{
		Claim: claim, OldOwner: oldOwner, Expect: provider.InstanceExpect{Claim: &seen},
	})
}

// act asks the cloud for an effect on this server's VM.
func (s *state) act(reason, message string, op lifecycle.Op, intent string, e lifecycle.VirtualEffect) answer {
	e.Instance = s.ref()
	e.Instance.ID = s.vmID()
	return s.Act(reason, message, lifecycle.Effect{Op: op, Intent: intent, Virtual: &e})
}

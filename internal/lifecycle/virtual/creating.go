// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// creatingSteps make the VM once. The call that makes it finds first what an earlier one made: a lost reply is found by the next.
var creatingSteps = rules.Named("Creating", rules.Join(
	elsewhere,
	picture,
	steps{
		// Nobody else's memory says that it was launched, and the cloud says 404 for its id: made anew (I3: never for a missing row).
		{Name: "Vanished", When: (*state).gone, Then: func(*state) answer {
			return rules.Patch(v1alpha1.ReasonCreating, "the VM went before it was ever launched: forget it, and make one anew", forgetVM())
		}},
		{Name: "Building", When: func(s *state) bool { return s.vmID() != "" && s.exists() }, Then: func(s *state) answer {
			return s.Wait(v1alpha1.ReasonCreating, "the cloud is making the VM "+s.vm.ID+" ("+orElse(s.vm.State, "state unknown")+")")
		}},
	},
	dependencies,
	rules.Lift[*state](rules.Steps[*rules.State]{rules.AwaitBound}),
	steps{
		{Name: "PowerNotWanted", When: (*state).wantsOff, Then: powerNotWanted},
		{Name: "UserData", When: (*state).UserDataLacking, Then: (*state).AwaitUserData},
		// Before the first request: where its reply is lost, the project is the one memory of where to look.
		{Name: "Project", When: func(s *state) bool { return s.Ledger.Project == "" && s.Facts.ProjectID != "" }, Then: func(s *state) answer {
			return rules.Patch(v1alpha1.ReasonCreating, "remember in which project the VM is made", lifecycle.Patch{Ledger: ledger.Entries{}.Project(s.Facts.ProjectID)})
		}},
		{Name: "Create", When: rules.Always[*state], Then: create},
	},
))

// powerNotWanted: what an earlier request made, and nobody remembers, launches by itself, or never did.
func powerNotWanted(s *state) answer {
	const message = "the VM is made when power is asked for"
	if s.exists() && !s.vm.Errored {
		return rules.Settled(message)
	}
	return rules.Idle(v1alpha1.ReasonPowerNotWanted, message)
}

// elsewhere holds every step that could end, overwrite or double what another claim may have running here.
var elsewhere = rules.Lift[*state](rules.Steps[*rules.State]{rules.IsElsewhere})

// create asks for the VM. What it makes is recorded by Recorded; for a claim its restart is taken as carried out.
func create(s *state) answer {
	p := lifecycle.Patch{Ledger: ledger.Entries{}, Remove: s.Given(v1alpha1.AnnotationAdopt)}
	if s.Spec.ClaimRef != nil {
		ledger.Entries(p.Ledger).Restarted(s.RestartKnown())
	}
	return s.act(v1alpha1.ReasonCreating, "make the VM, or find the one that was made", lifecycle.OpCreateInstance, "", lifecycle.VirtualEffect{Spec: s.instanceSpec()}).Recording(p)
}

// instanceSpec is what the VM is made of, without its user data.
func (s *state) instanceSpec() provider.InstanceSpec {
	o := s.openstack
	return provider.InstanceSpec{
		Flavor: provider.Selector{ID: o.Flavor.ID, Name: o.Flavor.Name}, Image: selector(o.Image), KeyName: o.KeyName,
		Ports: s.ports(), AvailabilityZone: o.AvailabilityZone, ServerGroup: o.ServerGroup, Serial: o.ServerGroupCreation == v1alpha1.CreateSerially, ConfigDrive: o.ConfigDrive,
		Claim: s.claimIdentity(), Adopt: s.V.Server.Annotations[v1alpha1.AnnotationAdopt],
	}
}

func selector(r v1alpha1.ResourceSelector) provider.Selector {
	return provider.Selector{ID: r.ID, Name: r.Name, Tags: r.Tags}
}

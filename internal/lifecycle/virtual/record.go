// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"maps"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Recorded is the patch to write after a step's effect succeeded: the step's own record, and what the effect tells that it made. server
// is the object that was decided about; made is provider.Outcome.Made, nil where the call told nothing. nil: there is nothing to write.
func Recorded(server *v1alpha1.Server, step lifecycle.Step, made *provider.Made) *lifecycle.Patch {
	if step.Record == nil {
		return nil
	}
	p := *step.Record
	entries := ledger.Entries{}
	maps.Copy(entries, p.Ledger)
	p.Ledger = entries
	if made != nil && step.Effect != nil && step.Effect.Virtual != nil {
		s := newState(lifecycle.NewServerView(server, zero, lifecycle.Settings{}))
		s.made(entries, step, *made)
	}
	return &p
}

// made adds to a record what the effect told. What it does not tell is not guessed: a VM whose image is not told is adopted later as it
// is.
func (s *state) made(entries ledger.Entries, step lifecycle.Step, made provider.Made) {
	switch step.Effect.Op {
	case lifecycle.OpCreateInstance:
		s.madeInstance(entries, made)
	case lifecycle.OpRebuild:
		if i := s.Ledger.Intent; i != nil && i.ID == step.Effect.Intent && made.ImageID != "" {
			asked := *i
			asked.ImageID = made.ImageID
			entries.Intent(&asked)
		}
	case lifecycle.OpUpdatePorts:
		entries.Network(s.networkWith(func(n *ledger.Network) { n.Hash, n.Groups = s.networkHash(), made.SecurityGroups }))
	case lifecycle.OpAttachFloatingIP:
		entries.Network(s.networkWith(func(n *ledger.Network) { n.FloatingIP = s.floatingIPWanted() }))
	}
}

func (s *state) madeInstance(entries ledger.Entries, made provider.Made) {
	if made.InstanceID == "" {
		return
	}
	entries.ProviderID(made.InstanceID)
	if made.ImageID != "" {
		entries.Image(&ledger.Image{Selector: s.openstack.Image.String(), ID: made.ImageID})
	}
	if hash := s.networkHash(); hash != "" && made.SecurityGroups != nil {
		entries.Network(s.networkWith(func(n *ledger.Network) { n.Hash, n.Groups = hash, made.SecurityGroups }))
	}
}

// SPDX-License-Identifier: Apache-2.0

package vm

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
)

// newMaintenance is one of a server, as people write it.
func (x *explorer) newMaintenance(server string) *v1alpha1.ServerMaintenance {
	return &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{Name: maintName, UID: "repair-1", CreationTimestamp: metav1.Time{Time: now}},
		Spec: v1alpha1.ServerMaintenanceSpec{
			ServerRef: v1alpha1.LocalObjectReference{Name: server}, Policy: x.world.Policy, Power: x.world.MaintenancePower,
		},
	}
}

// toMaintenance is what people do to the maintenance.
func (x *explorer) toMaintenance(s *State, deed Deed, slot int) bool {
	object := x.maintenances.Get(s.now.maintenance)
	if deed == CreateMaintenance {
		if object != nil || slot < 0 {
			return false
		}
		s.now.maintenance = x.maintenances.Intern(x.newMaintenance(x.servers.Get(s.now.server[slot]).Name))
		return true
	}
	if object == nil || object.DeletionTimestamp != nil {
		return false
	}
	if len(object.Finalizers) == 0 {
		s.now.maintenance = absent
		return true
	}
	ended := object.DeepCopy()
	deleted(ended)
	s.now.maintenance = x.maintenances.Intern(ended)
	return true
}

// passMaintenance is one pass over the maintenance, as its reconciler makes it.
func (x *explorer) passMaintenance(s *State, m manager, yield step) {
	q := question{slot: maintenanceSlot, epoch: s.epoch, seen: s.cacheOf(m)}
	if q.seen.maintenance == absent {
		return
	}
	chosen := x.maintenance(q)
	if x.choices.list[chosen].step.Live && x.brain.Live {
		q.live, q.seen = true, s.now
		if q.seen.maintenance == absent {
			return
		}
		chosen = x.maintenance(q)
	}
	c := &x.choices.list[chosen]
	if c.step.Kind != lifecycle.StepPatch {
		return
	}
	f := flight{kind: maintenanceWrites, slot: maintenanceSlot, choice: chosen, target: q.seen.maintenance, live: q.live}
	if c.onServer >= 0 {
		f.slot, f.target = uint8(c.onServer), q.seen.server[c.onServer]
	}
	x.put(s, m, move{actor: m.name(), what: maintName + ": " + stepWords(c.step)}, f, yield)
}

// maintenance decides about the maintenance as seen.
func (x *explorer) maintenance(q question) int32 {
	return x.choices.recall(q, func() choice { return x.decideMaintenance(q) })
}

func (x *explorer) decideMaintenance(q question) choice {
	self := x.maintenances.Get(q.seen.maintenance)
	v := maintenance.View{Now: now, Settings: settings(q.epoch), Live: q.live, Maintenance: self}
	slot := x.slotNamed(q.seen, self.Spec.ServerRef.Name)
	if slot >= 0 {
		v.Server = x.servers.Get(q.seen.server[slot])
	}
	if known := x.claims.Get(q.seen.claim); known != nil && v.Server != nil && v.Server.Spec.ClaimRef != nil && v.Server.Spec.ClaimRef.Name == known.Name {
		v.Claim = known
	}
	d := x.brain.Maintenance(v)
	c := choice{question: q, step: d.Step, gates: d.Gates, onServer: -1}
	switch {
	case d.Step.Kind != lifecycle.StepPatch:
	case d.OnServer != "":
		c.onServer = slot
		c.write = x.writeServer(q.seen.server[slot], d.Step.Patch)
	default:
		c.write = x.maintenances.Apply(q.seen.maintenance, d.Step.Patch, nil)
	}
	return c
}

// maintenanceAllows is I4: in maintenance no effect but the maintenance's own power. A look that changes nothing is no effect.
func maintenanceAllows(v lifecycle.ServerView, op lifecycle.Op) bool {
	if v.Server.Spec.MaintenanceRef == nil || op == lifecycle.OpConfirmStopped {
		return true
	}
	switch {
	case v.Maintenance == nil:
		return false
	case op == lifecycle.OpStart:
		return v.Maintenance.Spec.Power == v1alpha1.PowerOn
	case op == lifecycle.OpStop:
		return v.Maintenance.Spec.Power == v1alpha1.PowerOff
	}
	return false
}

// maintenanceAsks says that a maintenance that has the server asks for Off.
func (x *explorer) maintenanceAsks(s *State, server *v1alpha1.Server) bool {
	m := x.maintenances.Get(s.now.maintenance)
	return server.Spec.MaintenanceRef != nil && m != nil && m.Spec.Power == v1alpha1.PowerOff
}

// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

func (m manager) name() string {
	if m == laggard {
		return "manager with an old cache"
	}
	return "manager"
}

func nameOfSlot(slot int) string { return fmt.Sprintf("server %d", slot+1) }

func stepWords(step lifecycle.Step) string {
	text := step.Clause
	if step.Effect != nil {
		text += " -> " + string(step.Effect.Op)
	}
	return text + " (" + step.Message + ")"
}

// Tell implements search.Game.
func (x *explorer) Tell(path []uint16) []search.Line {
	lines, _ := x.tell(path)
	return lines
}

// TellRest implements search.Game.
func (x *explorer) TellRest(path []uint16) []search.Line {
	lines, last := x.tell(path)
	return append(lines, x.tellRest(last)...)
}

// tell plays a path again from the start, and returns the state that it ends in.
func (x *explorer) tell(path []uint16) ([]search.Line, State) {
	s := x.Start()
	x.Tidy(&s)
	lines := []search.Line{{Actor: "world", Move: x.world.Name + ": " + x.world.About, Changes: x.changes(nil, &s)}}
	for _, nth := range path {
		before := s
		n := uint16(0)
		var taken move
		x.successors(&before, func(next *State, m move) {
			if n == nth {
				s, taken = *next, m
			}
			n++
		})
		x.Tidy(&s)
		lines = append(lines, search.Line{Actor: taken.actor, Move: taken.what, Changes: x.changes(&before, &s)})
	}
	return lines, s
}

// tellRest tells how things go on when nobody interferes any more.
func (x *explorer) tellRest(s State) []search.Line {
	lines := []search.Line{{Actor: "world", Move: "nobody interferes any more"}}
	s = x.calm(s)
	for range 25 {
		next, moved := x.turn(s)
		if !moved {
			break
		}
		lines = append(lines, search.Line{Actor: "all", Move: "go on", Changes: x.changes(&s, &next)})
		s = next
	}
	return lines
}

// changes lists what differs between two states; all there is where there is no first.
func (x *explorer) changes(before, after *State) []string {
	was := State{}
	if before != nil {
		was = *before
	}
	var out []string
	for slot := range maxServers {
		if was.now.server[slot] != after.now.server[slot] {
			out = append(out, nameOfSlot(slot)+": "+x.serverWords(after.now.server[slot]))
		}
	}
	if was.now.claim != after.now.claim {
		out = append(out, "claim: "+x.claimWords(after.now.claim))
	}
	if was.now.maintenance != after.now.maintenance {
		out = append(out, "maintenance: "+x.maintenanceWords(after.now.maintenance))
	}
	return append(out, cloudChanges(was.cloud, after.cloud)...)
}

func cloudChanges(was, is cloud) []string {
	var out []string
	for slot, vm := range is.vms {
		if was.vms[slot] == vm {
			continue
		}
		text := fmt.Sprintf("%s: %s, image %d, of %d, claim %d", vmID(slot), conditions[vm.is], vm.image, vm.of, vm.claim)
		if vm.foreign {
			text += ", another cluster's"
		}
		out = append(out, text)
	}
	if was.ports != is.ports || was.floating != is.floating || was.theirs != is.theirs {
		out = append(out, fmt.Sprintf("network: ports of %06b, floating IPs of ours %06b, of others %06b", is.ports, is.floating, is.theirs))
	}
	return out
}

func (x *explorer) maintenanceWords(maintenance id) string {
	o := x.maintenances.Get(maintenance)
	if o == nil {
		return "no object"
	}
	return objectWords(o) + " of " + o.Spec.ServerRef.Name
}

var conditions = map[condition]string{
	unmade: "not made", building: "BUILD", broken: "ERROR, never launched", active: "ACTIVE", stopped: "SHUTOFF", errored: "ERROR, launched once", rebuilding: "REBUILD", vanished: "gone (404)",
}

func (x *explorer) serverWords(server id) string {
	o := x.servers.Get(server)
	if o == nil {
		return "no object"
	}
	text := objectWords(o)
	if ref := o.Spec.ClaimRef; ref != nil {
		text += " claimRef=" + ref.Identity + "/" + ref.UID
	}
	if ref := o.Spec.MaintenanceRef; ref != nil {
		text += " maintenanceRef=" + ref.Name
	}
	text += " image=" + o.Spec.OpenStack.Image.String() + " power=" + string(o.Spec.Power)
	seen := o.Status.Observed
	switch {
	case seen == nil:
		return text + " observed=nothing"
	case seen.Instance == nil:
		return text + " observed=no VM, intent " + seen.Intent
	}
	return text + fmt.Sprintf(" observed=%s exists=%t %s image %s others %v intent %s", seen.Instance.ID, seen.Instance.Exists, seen.Instance.State, seen.Instance.ImageID, seen.Instance.Others, seen.Intent)
}

func (x *explorer) claimWords(claim id) string {
	o := x.claims.Get(claim)
	if o == nil {
		return "no object"
	}
	return objectWords(o) + " power=" + string(o.Spec.Power) + " serverName=" + o.Spec.ServerName
}

func objectWords(object metav1.Object) string {
	text := object.GetName() + " uid=" + string(object.GetUID())
	if object.GetDeletionTimestamp() != nil {
		text += " deleting"
	}
	var notes []string
	for key, value := range object.GetAnnotations() {
		notes = append(notes, strings.TrimPrefix(strings.TrimPrefix(key, v1alpha1.LedgerPrefix), v1alpha1.VerbPrefix)+"="+value)
	}
	slices.Sort(notes)
	return strings.Join(append([]string{text}, notes...), " ")
}

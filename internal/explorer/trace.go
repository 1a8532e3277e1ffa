// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// tell plays a path again from the start. What is told keeps the names that things have from the start, where the path that was found
// exchanges them (symmetry.go).
func (x *explorer) tell(steps []uint16) ([]Line, State) {
	s := x.initial()
	s.tidy()
	found := s
	x.Tidy(&found)
	lines := []Line{{Actor: "world", Move: x.world.Name + ": " + x.world.About, Changes: x.changes(nil, &s)}}
	for _, nth := range steps {
		before := s
		var broken breach
		found, broken = x.successor(&found, nth)
		var taken move
		s, taken = x.like(&before, &found, broken)
		actor, what := x.words(&before, taken)
		lines = append(lines, Line{Actor: actor, Move: what, Changes: x.changes(&before, &s)})
	}
	return lines, s
}

// successor is the nth one, in its canonical form, and what the step to it breaks.
func (x *explorer) successor(s *State, nth uint16) (found State, broken breach) {
	n := uint16(0)
	x.successors(s, func(next *State, m move) {
		if n == nth {
			found, broken = *next, m.broken
		}
		n++
	})
	x.Tidy(&found)
	return found, broken
}

// like is the successor of a state that has a canonical form, by a step that breaks the same.
func (x *explorer) like(s, canonical *State, broken breach) (found State, taken move) {
	known := false
	x.successors(s, func(next *State, m move) {
		if known || m.broken.invariant != broken.invariant {
			return
		}
		is := *next
		x.Tidy(&is)
		if known = is == *canonical; known {
			found, taken = *next, m
		}
	})
	if !known {
		panic("a world in which the claims are not alike")
	}
	found.tidy()
	return found, taken
}

// tellRest tells how things go on when nobody interferes any more.
func (x *explorer) tellRest(s State) []Line {
	lines := []Line{{Actor: "world", Move: "nobody interferes any more"}}
	s = calm(s)
	for range 25 {
		next, moved := x.turn(s)
		if !moved {
			break
		}
		lines = append(lines, Line{Actor: "all", Move: "go on", Changes: x.changes(&s, &next)})
		s = next
	}
	for i := range x.world.Servers {
		if s.now.server[i] != absent {
			question := s.ask(leader, i, true)
			question.live = true
			c := x.serverChoices.list[x.server(question, &s)]
			lines = append(lines, Line{Actor: "manager", Move: fmt.Sprintf("%s: %s %s: %s", serverName(i), c.step.Kind, c.step.Clause, c.step.Message)})
		}
	}
	return lines
}

func (x *explorer) words(s *State, m move) (actor, what string) {
	by := "manager"
	if m.by == laggard {
		by = "manager with an old cache"
	}
	when := ""
	if m.late {
		when = ", long after"
	}
	if m.stalls {
		when += ", and stalls before " + stallPoint(m)
	}
	switch m.kind {
	case moveServer:
		return by + when, serverName(int(m.a)) + ": " + stepWords(x.serverChoices.list[m.choice].step)
	case moveClaim:
		return by + when, claimName(int(m.a)) + ": " + stepWords(x.claimChoices.list[m.choice].step)
	case moveMaintenance:
		return by + when, maintName + ": " + stepWords(x.maintenanceChoices.list[m.choice].step)
	case moveResume:
		return "manager that stalled", "goes on: " + x.stalled(s)
	case moveCrash:
		return "manager that stalled", "crashes; nothing is recorded"
	case moveLag:
		return "second manager", "its cache stops"
	case moveCatchUp:
		return "second manager", "its cache catches up on one object"
	case moveLook:
		return "monitor", "looks at the machine of " + serverName(int(m.a))
	case moveLookStalls:
		return "monitor", "looks at the machine of " + serverName(int(m.a)) + ", and stalls before it writes"
	case moveLookLands:
		return "monitor", "writes what it saw, or loses the race"
	}
	return x.worldWords(m)
}

func (x *explorer) worldWords(m move) (actor, what string) {
	name := serverName(int(m.a))
	switch m.kind {
	case moveMake:
		return "BMC controller", "makes " + name
	case moveComesUp:
		return "machine", name + " comes up"
	case moveStops:
		return "machine", name + " has shut down"
	case moveStays:
		return "machine", name + " does not shut down after all"
	case moveTenantStops:
		return "machine", name + " begins to shut down by itself"
	case moveTenantOff:
		return "machine", name + " goes off by itself"
	case moveBackup:
		return "backup", "is taken"
	case movePeople:
		return "person", deedNames[Deed(m.a)] + " " + fmt.Sprint(m.b+1)
	default:
		return "ADVERSARY", harmNames[Harm(m.a)] + " " + fmt.Sprint(m.b+1)
	}
}

func stallPoint(m move) string {
	switch {
	case m.acted:
		return "its record"
	case m.kind == moveServer:
		return "its effect or write"
	}
	return "its write"
}

func (x *explorer) stalled(s *State) string {
	switch s.flight.kind {
	case claimWrites:
		return stepWords(x.claimChoices.list[s.flight.choice].step)
	case maintainWrites:
		return stepWords(x.maintenanceChoices.list[s.flight.choice].step)
	case recordStalls:
		return "records what it did"
	}
	return stepWords(x.serverChoices.list[s.flight.choice].step)
}

func stepWords(step lifecycle.Step) string {
	text := step.Clause
	if step.Effect != nil {
		text += " -> " + string(step.Effect.Op)
		if step.Effect.Expect.Power != "" {
			text += " expecting " + string(step.Effect.Expect.Power)
		}
	}
	if step.Message != "" {
		text += " (" + step.Message + ")"
	}
	return text
}

// changes lists what differs between two states; all there is where there is no first.
func (x *explorer) changes(before, after *State) []string {
	var out []string
	for i := range x.world.Servers {
		if before == nil || before.now.server[i] != after.now.server[i] {
			out = append(out, x.describeServer(i, after.now.server[i]))
		}
		if before == nil || before.mach[i] != after.mach[i] {
			out = append(out, describeMachine(i, after.mach[i]))
		}
	}
	for c := range x.world.Claims {
		if before == nil || before.now.claim[c] != after.now.claim[c] {
			out = append(out, x.describeClaim(c, after.now.claim[c]))
		}
	}
	if before != nil && before.now.maintenance != after.now.maintenance {
		out = append(out, x.describeMaintenance(after.now.maintenance))
	}
	return out
}

func (x *explorer) describeState(s *State) string { return strings.Join(x.changes(nil, s), "\n") }

func (x *explorer) describeServer(i int, server id) string {
	o := x.servers.Get(server)
	if o == nil {
		return serverName(i) + ": no object"
	}
	text := fmt.Sprintf("%s: uid=%s", o.Name, o.UID)
	if o.DeletionTimestamp != nil {
		text += " deleting"
	}
	if ref := o.Spec.ClaimRef; ref != nil {
		text += fmt.Sprintf(" claimRef=%s/%s", ref.Identity, ref.UID)
	}
	if ref := o.Spec.MaintenanceRef; ref != nil {
		text += " maintenanceRef=" + ref.Name
	}
	text += annotationWords(o.Annotations)
	if seen := o.Status.Observed; seen == nil {
		text += " observed=nothing"
	} else {
		text += fmt.Sprintf(" observed=%s,override:%s,intent:%s,tag:%s", seen.PowerState, seen.BootOverride.Enabled, seen.Intent, seen.AssetTag)
	}
	return text
}

func (x *explorer) describeClaim(c int, claim id) string {
	o := x.claims.Get(claim)
	if o == nil {
		return claimName(c) + ": no object"
	}
	text := fmt.Sprintf("%s: uid=%s power=%s", o.Name, o.UID, o.Spec.Power)
	if o.Spec.ServerName != "" {
		text += " serverName=" + o.Spec.ServerName
	}
	if o.DeletionTimestamp != nil {
		text += " deleting"
	}
	if o.Spec.RestartedAt != nil {
		text += " restartedAt=" + o.Spec.RestartedAt.Format("01-02T15")
	}
	return text + annotationWords(o.Annotations)
}

func (x *explorer) describeMaintenance(m id) string {
	o := x.maintenances.Get(m)
	if o == nil {
		return maintName + ": no object"
	}
	text := fmt.Sprintf("%s: policy=%s power=%s", o.Name, o.Spec.Policy, o.Spec.Power)
	if o.DeletionTimestamp != nil {
		text += " deleting"
	}
	return text
}

func annotationWords(annotations map[string]string) string {
	keys := make([]string, 0, len(annotations))
	for key := range annotations {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	text := ""
	for _, key := range keys {
		short := strings.TrimPrefix(strings.TrimPrefix(key, v1alpha1.LedgerPrefix), v1alpha1.VerbPrefix)
		text += " " + short + "=" + annotations[key]
	}
	return text
}

func describeMachine(i int, m machine) string {
	power := "Off"
	switch {
	case m.starting:
		power = "coming up"
	case m.stopping:
		power = "shutting down"
	case m.on:
		power = "On"
	}
	text := fmt.Sprintf("machine %d: %s", i+1, power)
	if m.media != 0 {
		text += ", image of " + claimName(int(m.media)-1) + " in the drive,"
	}
	if m.armed != 0 {
		text += " armed"
	}
	if m.task != 0 {
		text += fmt.Sprintf(" task=%d", m.task)
	}
	if m.failed {
		text += ", failed"
	}
	return text + fmt.Sprintf(" runs=%s disk=%s tag=%q", m.runs, m.disk, tagOf(m.tag))
}

var deedNames = map[Deed]string{
	CreateClaim: "creates claim", DeleteClaim: "deletes claim", ClaimPower: "switches power of claim", Restart: "restarts claim",
	DeleteServer: "deletes server", ClearClaimRef: "clears claimRef of server", ConsentPowerOff: "consents to power-off of server",
	ConsentBooted: "says booted of server", ConsentBootAgain: "says boot-again of server", ConsentResume: "says resume of server",
	ForceRelease: "force-releases claim", StripClaim: "strips the finalizer of claim", CreateMaintenance: "makes maintenance",
	DeleteMaintenance: "ends maintenance", Approve: "approves maintenance on claim", Cordon: "cordons server", Pause: "pauses server",
	ConsentChooseAnew: "says choose-anew of claim",
}

var harmNames = map[Harm]string{
	WipeStatus: "wipes the status of server", OldStatus: "puts an older status on server", DropLedger: "drops the ledger of server",
	DropClaimLedger: "drops the ledger of claim", OldLedger: "puts an older ledger on server", OldClaimLedger: "puts an older ledger on claim",
	LoseServer: "loses server", LoseClaim: "loses claim", RestoreServer: "restores server", RestoreClaim: "restores claim",
	OldServer: "loses and restores an older server", OldClaim: "loses and restores an older claim", OldCluster: "restores an older snapshot of the cluster",
	HandOn: "switches on by hand server", PowerCycle: "power-cycles by a power cut server", PowerCut: "takes the power from server",
}

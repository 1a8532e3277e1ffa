// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Mutant is the product less one clause, taken away from outside. An exploration that does not find what that breaks proves nothing.
type Mutant struct {
	// Clause that is taken away.
	Clause string
	// Worlds in which it is looked for, in order.
	Worlds []string
	// Apply takes the clause away.
	Apply func(*Brain)
	// Behind names what stands behind the clause, where nothing breaks without it alone; "": something must break.
	Behind string
}

// Planned is the mutant as a plan has it.
func (m Mutant) Planned() search.Mutant {
	return search.Mutant{Clause: m.Clause, Behind: m.Behind, Hunt: func(o search.Options) search.Result {
		return search.Hunt(m.Worlds, func(name string) search.Result {
			w, known := WorldNamed(name)
			if !known {
				panic("no world " + name)
			}
			b := Production()
			m.Apply(&b)
			return Explore(w, b, o)
		})
	}}
}

// Mutants are all mutants.
func Mutants() []Mutant {
	return append(cloudMutants(), append(serverMutants(), claimMutants()...)...)
}

// cloudMutants cut short what managers and monitor do around a decision.
func cloudMutants() []Mutant {
	return []Mutant{
		{Clause: "VM: decides again on a live read before an effect (P4)", Worlds: []string{"vm-lags"}, Apply: func(b *Brain) { b.Live = false }},
		{Clause: "VM: the cloud is asked once more whether it never launched", Worlds: []string{"vm", "vm-stalls"}, Apply: func(b *Brain) { b.Expect = false }},
		{Clause: "VM: finds before it creates (B187)", Worlds: []string{"vm-stalls", "vm"}, Apply: func(b *Brain) { b.Find = false }},
		{Clause: "VM: a port that is plugged in says that there is one", Worlds: []string{"vm-stalls", "vm"}, Apply: func(b *Brain) { b.Ports = false }},
		{
			Clause: "VM: gone is a 404 by its id, never a missing row (P10)", Worlds: []string{"vm", "vm-fate", "vm-stalls"}, Apply: func(b *Brain) { b.ByID = false },
			Behind: "the ports of a VM that no listing shows",
		},
		{Clause: "VM: gone is a 404 by its id, and the ports", Worlds: []string{"vm"}, Apply: func(b *Brain) { b.ByID, b.Ports = false, false }},
		{Clause: "VM: each call is about the project that is remembered", Worlds: []string{"vm-project"}, Apply: func(b *Brain) { b.Project = false }},
		{
			Clause: "VM: a Cloud that leads to another project is held (CloudReplaced)", Worlds: []string{"vm-project"}, Apply: seeing(sameProject),
			Behind: "each call, which is about the project that is remembered",
		},
		{Clause: "VM: CloudReplaced, and each call's project", Worlds: []string{"vm-project"}, Apply: func(b *Brain) { seeing(sameProject)(b); b.Project = false }},
		{Clause: "VM: a server goes only when all of it was seen gone", Worlds: []string{"vm-network"}, Apply: func(b *Brain) { b.Whole = false }},
		{Clause: "VM: a floating IP is allocated for its port, in one request (B198)", Worlds: []string{"vm-network-stalls"}, Apply: func(b *Brain) { b.OnPort = false }},
	}
}

// serverMutants see something else of a server, or do something else about it.
func serverMutants() []Mutant {
	return []Mutant{
		{
			Clause: "VM: the retry predicate: no trace of a launch (I2)", Worlds: []string{"vm-fate"}, Apply: seeing(neverLaunched),
			Behind: "the cloud, asked once more whether it never launched",
		},
		{Clause: "VM: the retry predicate, and the cloud's own word", Worlds: []string{"vm-fate"}, Apply: func(b *Brain) { seeing(neverLaunched)(b); b.Expect = false }},
		{Clause: "VM: the budget of retries", Worlds: []string{"vm-fate"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) { m.CreateAttempts = nil })},
		{Clause: "VM: the latch of the first launch", Worlds: []string{"vm-fate"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) { m.ProvisionedAt = nil })},
		{Clause: "VM: a written intent before what destroys (P6)", Worlds: []string{"vm-fate"}, Apply: noIntent},
		{Clause: "VM: a server bound to by another claim is held (BoundElsewhere)", Worlds: []string{"class-people"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) { v.BoundClaims = nil })},
		{Clause: "VM: a claim that is missing is no release (P10)", Worlds: []string{"class-restore", "class-people"}, Apply: seeing(missingIsDeleted)},
		{Clause: "VM: a restart only once", Worlds: []string{"class-restart"}, Apply: seeing(restartForgotten)},
		{Clause: "VM: who resumes a server owes no restart", Worlds: []string{"class-snapshot-restarted"}, Apply: resumesOwing},
		{Clause: "VM: held after an old snapshot (--after-restore)", Worlds: []string{"vm-snapshot-told", "class-snapshot-restarted"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) { v.Settings.Epoch = "" })},
		{Clause: "VM: a start waits for what may be on the wire", Worlds: []string{"class-restart"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) { m.OffAt = time.Time{} })},
		{Clause: "VM: a maintenance keeps everything else away (I4)", Worlds: []string{"vm-maintenance"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) {
			v.Server.Spec.MaintenanceRef, v.Maintenance = nil, nil
		})},
		{Clause: "VM: the claim's owner consents to a rebuild", Worlds: []string{"class-rebuild"}, Apply: seeing(approveAll)},
		{Clause: "VM: the stamp of another claim, server or cluster is held", Worlds: []string{"vm-taken", "vm-pairs", "class-restore"}, Apply: seeing(blindToStamps), Behind: "each call, which looks for identity and owner itself"},
		{Clause: "VM: each call looks whose the VM is", Worlds: []string{"vm-taken"}, Apply: func(b *Brain) { b.Own = false }},
		{Clause: "VM: the stamp, and each call's look at it", Worlds: []string{"vm-taken"}, Apply: func(b *Brain) { seeing(blindToStamps)(b); b.Own = false }},
	}
}

// resumesOwing resumes a server and leaves the restart that its claim asks for to be carried out.
func resumesOwing(b *Brain) { b.Server = search.ResumesOwing(b.Server) }

// restartForgotten forgets the restart that was carried out once the VM is On again.
func restartForgotten(v *lifecycle.ServerView, m *ledger.Server) {
	if v.Facts().PowerState == v1alpha1.ObservedOn {
		m.Restarted = now
	}
}

// claimMutants take something away about claims.
func claimMutants() []Mutant {
	return []Mutant{
		{Clause: "VM: `bound` before anything is made for a claim", Worlds: []string{"class", "class-restore"}, Apply: seeing(boundAlready)},
	}
}

// seeing changes what a decision about a server sees. The view is the mutant's own: server and picture are copies.
func seeing(change func(*lifecycle.ServerView, *ledger.Server)) func(*Brain) {
	return func(b *Brain) {
		decide := b.Server
		b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
			memory, err := ledger.ParseServer(v.Server.Annotations)
			if err != nil {
				return decide(v)
			}
			v.Server = v.Server.DeepCopy()
			change(&v, &memory)
			annotations := apiserver.WithLedger(v.Server.Annotations, memory.Render())
			v.Server.Annotations = annotations
			return decide(v)
		}
	}
}

// neverLaunched takes every VM that is broken for one that was never launched.
func neverLaunched(v *lifecycle.ServerView, m *ledger.Server) {
	if seen := v.Server.Status.Observed; seen != nil && seen.Instance != nil && seen.Instance.Errored {
		seen.Instance.LaunchedAt, m.ProvisionedAt = nil, nil
	}
}

// blindToStamps takes whatever a VM bears for what it should bear.
func blindToStamps(v *lifecycle.ServerView, m *ledger.Server) {
	seen := v.Server.Status.Observed
	if seen == nil || seen.Instance == nil || !seen.Instance.Exists {
		return
	}
	seen.Instance.Owner, seen.Instance.Claim, seen.Instance.Identity = cluster, "", m.Identity
	if ref := v.Server.Spec.ClaimRef; ref != nil {
		seen.Instance.Claim = ref.Identity
	}
}

// missingIsDeleted takes a claim that is not there for one that is being deleted.
func missingIsDeleted(v *lifecycle.ServerView, _ *ledger.Server) {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || v.Claim != nil {
		return
	}
	v.Claim = &v1alpha1.ServerClaim{}
	v.Claim.Namespace, v.Claim.Name = ref.Namespace, ref.Name
	v.Claim.Annotations = map[string]string{ledger.KeyIdentity: ref.Identity}
	deleted(v.Claim)
}

// sameProject takes whatever project the Cloud leads to for the one that is remembered.
func sameProject(v *lifecycle.ServerView, m *ledger.Server) {
	if seen := v.Server.Status.Observed; seen != nil && m.Project != "" {
		seen.ProjectID = m.Project
	}
}

// approveAll lets every claim consent to whatever its server's spec names.
func approveAll(v *lifecycle.ServerView, _ *ledger.Server) {
	if v.Claim != nil {
		v.Claim = v.Claim.DeepCopy()
		annotate(v.Claim, v1alpha1.AnnotationRebuildApproved, v.Server.Spec.OpenStack.Image.String())
	}
}

// boundAlready takes every claim for one that has written down which server it got.
func boundAlready(v *lifecycle.ServerView, m *ledger.Server) {
	if v.Claim != nil && m.Identity != "" {
		v.Claim = v.Claim.DeepCopy()
		annotate(v.Claim, ledger.KeyBound, m.Identity)
	}
}

// noIntent carries out at once what should be announced first.
func noIntent(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Kind != lifecycle.StepPatch || d.Step.Patch.Ledger[ledger.KeyIntent] == "" {
			return d
		}
		announced := v
		announced.Server = v.Server.DeepCopy()
		d.Step.Patch.Apply(announced.Server)
		if again := decide(announced); again.Step.Kind == lifecycle.StepAct {
			return again
		}
		return d
	}
}

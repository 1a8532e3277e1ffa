// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Mutant is the product less one clause, taken away from outside: its view is falsified, its decision changed, or the protocol around
// it cut short. An exploration that does not find what that breaks proves nothing.
type Mutant struct {
	// Clause that is taken away.
	Clause string
	// Worlds in which it is looked for, in order.
	Worlds []string
	// Apply takes the clause away.
	Apply func(*Brain)
	// Behind names what stands behind the clause, where nothing breaks without it alone; "": something must break.
	Behind string
	// Rest looks also at how everything comes to rest (I6).
	Rest bool
}

// Mutants are all mutants.
func Mutants() []Mutant {
	return slices.Concat(protocolMutants(), serverMutants(), powerMutants(), claimMutants())
}

// protocolMutants cut short what managers do around a decision.
func protocolMutants() []Mutant {
	return []Mutant{
		{Clause: "decides again on a live read before an effect (P4)", Worlds: []string{"lags"}, Apply: func(b *Brain) { b.LiveServers = false }},
		{Clause: "decides on live reads about claims (P10)", Worlds: []string{"lags", "two-servers"}, Apply: func(b *Brain) { b.LiveClaims = false }},
		{Clause: "the effect's precondition is checked by the machine", Worlds: []string{"stalls", "stalls-and-loss"}, Apply: func(b *Brain) { b.Expect = false }},
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
			for key := range v.Server.Annotations {
				if _, isLedger := ledgerKeys[key]; isLedger {
					delete(v.Server.Annotations, key)
				}
			}
			for key, value := range memory.Render() {
				if v.Server.Annotations == nil {
					v.Server.Annotations = map[string]string{}
				}
				v.Server.Annotations[key] = value
			}
			return decide(v)
		}
	}
}

var ledgerKeys = map[string]bool{
	ledger.KeyIdentity: true, ledger.KeyOwner: true, ledger.KeyObjectUID: true, ledger.KeyDiscoveredAt: true, ledger.KeyPowerOn: true, ledger.KeyBoot: true,
	ledger.KeyRestarted: true, ledger.KeyDirtySince: true, ledger.KeyOffAt: true, ledger.KeyReleased: true, ledger.KeyAssetTag: true,
	ledger.KeyRestoreEpoch: true, ledger.KeyIntent: true,
}

// serverMutants see or do something else about servers.
func serverMutants() []Mutant {
	return []Mutant{
		{Clause: "a machine that is On and not explained is held (P13)", Worlds: []string{"one-claim", "restore"}, Apply: seeing(explainAll)},
		{Clause: "that a machine was found running is remembered past its Off (P13)", Worlds: []string{"found-running", "found-maintained"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) {
			if m.PowerOn != nil && m.PowerOn.By == ledger.ByUnknown {
				m.PowerOn = nil
			}
		})},
		{Clause: "the Starting stage, before the first power-on", Worlds: []string{"stalls", "one-claim"}, Apply: skipStarting},
		{Clause: "a server bound to by another claim is held (BoundElsewhere)", Worlds: []string{"two-claims-unstamped", "two-claims-aged"}, Apply: boundNowhere},
		{Clause: "the claim's UID in the intent", Worlds: []string{"restore"}, Apply: seeing(func(v *lifecycle.ServerView, m *ledger.Server) {
			if m.Intent != nil && v.Server.Spec.ClaimRef != nil {
				m.Intent.ClaimUID = types.UID(v.Server.Spec.ClaimRef.UID)
			}
		})},
		{Clause: "a restart only once", Worlds: []string{"restart", "restart-and-loss"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) { m.Restarted = epochStart })},
		{Clause: "broken glass drops what stands announced", Worlds: []string{"restart-older"}, Apply: glassBrokenBlindly},
		{Clause: "a release only after a confirmed Off", Worlds: []string{"one-claim"}, Apply: releaseUnseen},
		{Clause: "the stamp", Worlds: []string{"snapshot"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) {
			if seen := v.Server.Status.Observed; seen != nil {
				seen.AssetTag, seen.StampUnsupported = "", true
			}
		})},
		{Clause: "a consent to power off names the stamp that disagrees", Worlds: []string{"snapshot-consent"}, Apply: seeing(func(v *lifecycle.ServerView, m *ledger.Server) {
			if seen := v.Server.Status.Observed; seen != nil && ledger.IsStamp(seen.AssetTag) && v.Server.Annotations[v1alpha1.AnnotationPowerOff] == m.Identity {
				v.Server.Annotations[v1alpha1.AnnotationPowerOff] = seen.AssetTag
			}
		})},
		{Clause: "the image is ejected before a release finishes", Worlds: []string{"one-claim-media"}, Apply: unasked(lifecycle.OpEjectMedia)},
		{Clause: "a release learns from the claim what its server forgot of the drive", Worlds: []string{"one-claim-media"}, Apply: seeing(forgetMedia)},
		{Clause: "status is never read to decide: memory is in metadata (P1, P3)", Worlds: []string{"one-claim"}, Apply: remembersInStatus},
		{Clause: "a claim that is missing is no release (P10)", Worlds: []string{"one-claim"}, Apply: seeing(missingIsDeleted)},
		{Clause: "a written intent before a power-off (P6)", Worlds: []string{"one-claim"}, Apply: noIntent},
		{Clause: "an Off is believed only fresh: with the intent's id, and confirmed (R4)", Worlds: []string{"one-claim", "stalls"}, Apply: oldOff},
		{Clause: "what a task says of a power-off is no Off (R4)", Worlds: []string{"tasks"}, Apply: taskIsOff},
		{Clause: "what rests on Off waits for what may be on the wire", Worlds: []string{"stalls"}, Apply: seeing(longOff)},
		{Clause: "held after an old snapshot without stamps (--after-restore)", Worlds: []string{"snapshot-unstamped"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) { v.Settings.Epoch = "" })},
		{Clause: "who resumes is asked whether a machine has booted since the snapshot", Worlds: []string{"snapshot-resumed"}, Apply: resumesBlindly},
		{Clause: "who resumes a server owes no restart", Worlds: []string{"snapshot-restarted"}, Apply: resumesOwing},
		{Clause: "a maintenance keeps everything else away (I4)", Worlds: []string{"maintenance-approved", "maintenance"}, Apply: seeing(func(v *lifecycle.ServerView, _ *ledger.Server) {
			v.Server.Spec.MaintenanceRef, v.Maintenance = nil, nil
		})},
	}
}

// resumesBlindly resumes a server as one that the snapshot tells everything about.
func resumesBlindly(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Clause == "First.ResumeUnconfirmed" {
			patch := *d.Step.Patch
			patch.Ledger = map[string]string{ledger.KeyRestoreEpoch: v.Settings.Epoch}
			d.Step.Patch = &patch
		}
		return d
	}
}

// glassBrokenBlindly carries on what an older ledger announces.
func glassBrokenBlindly(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Clause == "First.GlassBroken" {
			d.Step.Patch = &lifecycle.Patch{Remove: []string{v1alpha1.AnnotationBreakGlass}}
		}
		return d
	}
}

// resumesOwing resumes a server and leaves the restart that its claim asks for to be carried out.
func resumesOwing(b *Brain) { b.Server = search.ResumesOwing(b.Server) }

// oldOff takes any picture of an announced power-off for one that was taken since, and does not ask the machine.
func oldOff(b *Brain) {
	seeing(func(v *lifecycle.ServerView, m *ledger.Server) {
		if seen := v.Server.Status.Observed; seen != nil && m.Intent != nil {
			seen.Intent = m.Intent.ID
		}
	})(b)
	unconfirmed(b)
}

// taskIsOff takes a machine for Off once the task of its power-off is told, and does not ask it.
func taskIsOff(b *Brain) {
	seeing(func(v *lifecycle.ServerView, _ *ledger.Server) {
		if seen := v.Server.Status.Observed; seen != nil && seen.Task != "" {
			seen.PowerState = v1alpha1.ObservedOff
		}
	})(b)
	unconfirmed(b)
}

// longOff takes every machine that is Off for one that has been so for long.
func longOff(v *lifecycle.ServerView, m *ledger.Server) {
	long := epochStart.Add(-24 * time.Hour)
	if !m.OffAt.IsZero() {
		m.OffAt = long
	}
	if !m.DiscoveredAt.IsZero() {
		m.DiscoveredAt = long
	}
	if seen := v.Server.Status.Observed; seen != nil && seen.PowerState == v1alpha1.ObservedOff {
		seen.Since = &metav1.Time{Time: long}
	}
}

func explainAll(v *lifecycle.ServerView, m *ledger.Server) {
	if m.PowerOn == nil {
		m.PowerOn = &ledger.PowerOn{By: ledger.BySpec, At: v.Now}
	}
}

// forgetMedia lets nothing but the server's own memory tell that a claim boots by virtual media.
func forgetMedia(v *lifecycle.ServerView, m *ledger.Server) {
	if v.Claim != nil && m.Boot == nil {
		v.Claim = v.Claim.DeepCopy()
		v.Claim.Spec.Boot = v1alpha1.ClaimBoot{Method: v1alpha1.BootPXE, When: v.Claim.Spec.Boot.When}
	}
}

func missingIsDeleted(v *lifecycle.ServerView, _ *ledger.Server) {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || v.Claim != nil {
		return
	}
	v.Claim = &v1alpha1.ServerClaim{}
	v.Claim.Namespace, v.Claim.Name, v.Claim.UID = ref.Namespace, ref.Name, types.UID(ref.UID)
	v.Claim.Annotations = ledger.Claim{Identity: ref.Identity}.Render()
	v.Claim.Finalizers, v.Claim.DeletionTimestamp = []string{v1alpha1.FinalizerClaim}, deletion
}

// skipStarting powers on where the stage would be announced, and records Booted.
func skipStarting(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Kind != lifecycle.StepPatch {
			return d
		}
		entry, err := ledger.ParseServer(map[string]string{ledger.KeyBoot: d.Step.Patch.Ledger[ledger.KeyBoot]})
		if err != nil || entry.Boot.Stage != ledger.StageStarting {
			return d
		}
		entry.Boot.Stage = ledger.StageBooted
		record := *d.Step.Patch
		record.Ledger = map[string]string{}
		for key, value := range d.Step.Patch.Ledger {
			record.Ledger[key] = value
		}
		record.Ledger[ledger.KeyBoot] = ledger.Entries{}.Boot(entry.Boot)[ledger.KeyBoot]
		d.Step = lifecycle.Step{
			Kind: lifecycle.StepAct, Live: true, Clause: d.Step.Clause, Message: "power on at once", Record: &record,
			Effect: &lifecycle.Effect{Op: lifecycle.OpPowerOn, Expect: expectOff()},
		}
		return d
	}
}

// boundNowhere knows of no claim but the one in claimRef, on either side.
func boundNowhere(b *Brain) {
	seeing(func(v *lifecycle.ServerView, _ *ledger.Server) {
		v.BoundClaims = nil
		if v.Claim != nil {
			v.BoundClaims = []*v1alpha1.ServerClaim{v.Claim}
		}
	})(b)
	decide := b.Claim
	b.Claim = func(v claim.View) claim.Decision {
		v.Speakers = claim.Speakers{}
		return decide(v)
	}
}

// releaseUnseen takes any machine for Off while a release is announced, and records it without asking.
func releaseUnseen(b *Brain) {
	seeing(func(v *lifecycle.ServerView, m *ledger.Server) {
		if seen := v.Server.Status.Observed; seen != nil && m.Intent != nil && m.Intent.Why == ledger.WhyReleased {
			seen.PowerState, seen.Intent = v1alpha1.ObservedOff, m.Intent.ID
		}
	})(b)
	unconfirmed(b)
}

// unconfirmed records without asking the machine whether it is Off.
func unconfirmed(b *Brain) { unasked(lifecycle.OpConfirmOff)(b) }

// unasked records what an effect is to bring about without asking the machine for it.
func unasked(op lifecycle.Op) func(*Brain) {
	return func(b *Brain) {
		decide := b.Server
		b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
			d := decide(v)
			if d.Step.Kind == lifecycle.StepAct && d.Step.Effect.Op == op && d.Step.Record != nil {
				d.Step = lifecycle.Step{Kind: lifecycle.StepPatch, Clause: d.Step.Clause, Message: "record without asking", Patch: d.Step.Record}
			}
			return d
		}
	}
}

// noIntent cuts the power where it would be announced.
func noIntent(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if openedBy(d.Step) != "" {
			d.Step = lifecycle.Step{
				Kind: lifecycle.StepAct, Live: true, Clause: d.Step.Clause, Message: "cut the power at once",
				Effect: &lifecycle.Effect{Op: lifecycle.OpForceOff},
			}
		}
		return d
	}
}

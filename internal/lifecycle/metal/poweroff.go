// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// powerOff are the clauses that bring a machine that is not Off down: never one that runs for a reason we do not know (P13), never
// without the intent having been written and read back (P6), gracefully first, by force after the grace period. What else must not be is in
// the guards.
func powerOff(why ledger.Why, guards ...clause) steps {
	return rules.Join(steps{goingDown(why), unexplained}, guards, steps{forbidden, announce(why)}, carryOut)
}

// powerOffReleased is powerOff for a release, which is announced before: force-release, and a machine switched off by hand, need the
// intent to stand whatever the machine does.
var powerOffReleased = rules.Join(steps{unexplained, forbidden}, carryOut)

// goingDown waits for a machine that somebody else is powering off.
func goingDown(why ledger.Why) clause {
	return clause{Name: "GoingDown", When: rules.All((*state).goingDown, rules.Not(isAnnounced(why))), Then: changingPower.Then}
}

var forbidden = clause{Name: "Forbidden", When: func(s *state) bool { return s.Spec.PowerOff == v1alpha1.PowerOffNever }, Then: func(*state) answer {
	return rules.Hold(v1alpha1.ReasonPowerOffForbidden, "the machine should be Off, and spec.powerOff is Never: switch it off by hand, or set spec.powerOff to Allowed")
}}

func announce(why ledger.Why) clause {
	return clause{Name: "Announce", When: rules.Not(isAnnounced(why)), Then: func(s *state) answer {
		entries := ledger.Entries{}.Intent(s.intent(why))
		if p := s.ForRestart(); why == ledger.WhyRestart && p != nil {
			entries.PowerOn(p)
		}
		a := rules.Patch(v1alpha1.ReasonPoweringOff, "announce that the machine will be powered off: "+string(why), lifecycle.Patch{Ledger: entries})
		if !s.remembered() && s.consentsPowerOff() {
			return a.Telling(eventConsented)
		}
		return a
	}, Carries: true}
}

// carryOut are the clauses that carry out an announced power-off.
var carryOut = rules.Carrying(steps{
	{Name: "AwaitTask", When: rules.All((*state).on, rules.Not((*state).graceOver), (*state).shutDownRuns), Then: awaitTask},
	{Name: "Asked", When: rules.All((*state).on, rules.Not((*state).graceOver), (*state).askedLately), Then: awaitShutDown},
	{Name: "ShutDown", When: rules.All((*state).on, rules.Not((*state).graceOver)), Then: shutDown},
	{Name: "Force", When: (*state).graceOver, Then: forceOff},
	{Name: "Changing", When: rules.Always[*state], Then: func(s *state) answer { return changingPower.Then(s).Soon(s.graceLeft()) }},
})

func isAnnounced(why ledger.Why) func(*state) bool {
	return func(s *state) bool { return s.announced(why) }
}

// shutDowns is how often at most an operating system is asked to shut down within one grace period: one that has not heard may be about
// to, and one that does not listen is not made to by asking more often.
const shutDowns = 3

func shutDown(s *state) answer {
	a := s.act(v1alpha1.ReasonPoweringOff, s.shutDownMessage(), lifecycle.Effect{
		Op: lifecycle.OpShutDown, Expect: s.expectSeen(), Intent: s.Ledger.Intent.ID,
	}).Soon(s.graceLeft())
	a.Pace = s.shutDownPace()
	unasked := s.asked().IsZero()
	if unasked {
		a.Tried = s.intentWith(func(i *ledger.Intent) { i.Asked, i.InVain = s.Now(), true })
	}
	if third := s.V.Settings.GracePeriod / shutDowns; (unasked || s.Ledger.Intent.InVain) && (s.announcedFor() >= third || a.Pace > third) {
		// Before that, most machines will be Off soon, and need no write.
		a.Record = s.intentWith(func(i *ledger.Intent) { i.Asked, i.InVain = s.Now(), false })
	}
	return s.again(a)
}

func (s *state) shutDownMessage() string {
	return "ask the operating system to shut down: " + string(s.Ledger.Intent.Why)
}

func (s *state) shutDownPace() time.Duration {
	return max(s.V.Settings.GracePeriod/shutDowns, s.V.Settings.EffectDeadline)
}

// intentWith is the patch that changes the open intent.
func (s *state) intentWith(change func(*ledger.Intent)) *lifecycle.Patch {
	intent := *s.Ledger.Intent
	change(&intent)
	return &lifecycle.Patch{Ledger: ledger.Entries{}.Intent(&intent)}
}

// asked is when the operating system was asked to shut down, as far as that is remembered; zero where it is not, or where we have switched the
// machine on since. A time in the future is of a clock that differs, and tells nothing.
func (s *state) asked() time.Time {
	at := s.Ledger.Intent.Asked
	if on := s.Ledger.PowerOn; at.After(s.V.Now) || (on != nil && on.At.After(at)) {
		return time.Time{}
	}
	return at
}

// askedLately says that the operating system is known to have been asked, and that it is too soon to ask again.
func (s *state) askedLately() bool {
	return !s.asked().IsZero() && !s.Ledger.Intent.InVain && s.V.Now.Sub(s.asked()) < s.shutDownPace()
}

func awaitShutDown(s *state) answer {
	left := s.asked().Add(s.shutDownPace()).Sub(s.V.Now)
	return s.again(s.Wait(v1alpha1.ReasonPoweringOff, s.shutDownMessage()).Soon(min(left, s.graceLeft())))
}

func forceOff(s *state) answer {
	return s.cutAgain(s.act(v1alpha1.ReasonPoweringOff, "cut the power after the grace period: "+string(s.Ledger.Intent.Why), lifecycle.Effect{
		Op: lifecycle.OpForceOff, Expect: s.expectSeen(), Intent: s.Ledger.Intent.ID,
	}))
}

// graceLeft is how long the power is not cut yet. A machine that runs has been asked to shut down by then, and has had the time that is left
// of the grace period after the second request, however late it was asked: by a manager that was not there before, or at a BMC that was not
// (B025, docs/decisions/0163).
func (s *state) graceLeft() time.Duration {
	grace := s.V.Settings.GracePeriod
	left := grace - s.announcedFor()
	if grace == 0 {
		return left
	}
	heard, from := grace-grace/shutDowns, s.asked()
	switch {
	case !from.IsZero():
	case s.on():
		return max(left, heard)
	case s.goingDown() && s.Facts.Since != nil:
		from = s.Facts.Since.Time
	default:
		return left
	}
	return max(left, from.Add(heard).Sub(s.V.Now))
}

// announcedFor is how long the intent has stood.
func (s *state) announcedFor() time.Duration { return s.V.Now.Sub(s.Ledger.Intent.At) }

func (s *state) graceOver() bool { return s.graceLeft() <= 0 }

// recordOff are the clauses that close a power-off once the machine is Off, on a picture taken after it was announced (R4), and that
// forget why the machine was On: from then on a machine that is On is somebody's (P13).
func recordOff(whys ...ledger.Why) steps {
	open := func(s *state) bool { return s.announcedAny(whys) }
	return steps{
		{Name: "AwaitPicture", When: rules.All(open, rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		{Name: "RecordOff", When: rules.Either(open, (*state).offToRecord), Then: func(s *state) answer {
			p := lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(s.found()), Remove: s.Given(v1alpha1.AnnotationPowerOff)}
			if s.Ledger.PowerOn != nil && s.Ledger.Intent == nil {
				// A picture that bears no intent may be older than a power-on of ours, which would then be forgotten and its machine held for
				// found running: the machine itself is asked.
				return s.confirmOff(v1alpha1.ReasonPoweringOff, "confirm that the machine is Off, then record it", p)
			}
			return rules.Patch(v1alpha1.ReasonPoweringOff, "record that the machine is Off", p)
		}},
	}
}

func (s *state) offToRecord() bool {
	return !s.heldFound() && (s.Ledger.PowerOn != nil || len(s.Given(v1alpha1.AnnotationPowerOff)) > 0)
}

func awaitPicture(s *state) answer {
	return s.Wait(v1alpha1.ReasonPoweringOff, "the machine looks Off: waiting for a picture taken after the power-off was announced")
}

// keepsRelease says that an announced release stands in for a maintenance's power-off: it is the memory that the claim was being
// released, and a maintenance must not cost it.
func (s *state) keepsRelease(why ledger.Why) bool {
	return why == ledger.WhyMaintenance && s.ReleaseOpen()
}

func (s *state) announcedAny(whys []ledger.Why) bool {
	for _, why := range whys {
		if s.announced(why) && s.Ledger.Intent.Why == why {
			return true
		}
	}
	return false
}

// announced says that a power-off for this reason, of this machine, under the claim in force, stands written (P6).
func (s *state) announced(why ledger.Why) bool {
	i := s.Ledger.Intent
	if i == nil || i.Op != ledger.IntentPowerOff || i.Target != s.target() || (i.Why != why && !s.keepsRelease(why)) {
		return false
	}
	claim, uid := s.inForce()
	if i.Why == ledger.WhyReleased && s.Spec.ClaimRef == nil {
		return i.Claim == claim // its claimRef was cleared by a person after the release was announced, perhaps
	}
	return i.Claim == claim && i.ClaimUID == uid
}

// inForce is the claim under which an intent is opened.
func (s *state) inForce() (identity string, uid types.UID) {
	switch {
	case s.Spec.ClaimRef != nil:
		return s.Spec.ClaimRef.Identity, types.UID(s.Spec.ClaimRef.UID)
	case s.Ledger.Boot != nil:
		return s.Ledger.Boot.Claim, ""
	case s.ReleaseOpen():
		return s.Ledger.Intent.Claim, ""
	}
	return "", ""
}

// intent announces a power-off.
func (s *state) intent(why ledger.Why) *ledger.Intent {
	claim, uid := s.inForce()
	return &ledger.Intent{
		ID: s.IntentID(why), Op: ledger.IntentPowerOff, Why: why, At: s.Now(), Target: s.target(), Claim: claim, ClaimUID: uid,
	}
}

// closeIntent adds to a patch that the open intent is no more. Its effect may still be on the wire: power-on will wait for that.
// On a picture that bears the intent and says Off, the Off is recorded as well, and the consent to it has done its work.
func (s *state) closeIntent(p *lifecycle.Patch) {
	if p.Ledger == nil {
		p.Ledger = map[string]string{}
	}
	entries := ledger.Entries(p.Ledger).Intent(nil).OffAt(s.Now())
	if _, said := p.Ledger[ledger.KeyPowerOn]; !said && s.off() && s.Pictured() {
		entries.PowerOn(s.pastOff())
	}
	done := s.Ledger.Intent.Why == ledger.WhyConsent || (s.off() && s.Pictured())
	if done && !slices.Contains(p.Remove, v1alpha1.AnnotationPowerOff) {
		p.Remove = append(p.Remove, s.Given(v1alpha1.AnnotationPowerOff)...)
	}
}

// pastOff is what stays remembered of a machine's power once it is Off: a restart that was announced, after which it is to be On; or that
// it was found running. nil for nothing.
func (s *state) pastOff() *ledger.PowerOn {
	if s.Restarting() {
		return s.Ledger.PowerOn
	}
	return s.found()
}

// confirmOff asks the machine itself whether it is Off, and records then.
func (s *state) confirmOff(reason, message string, record lifecycle.Patch) answer {
	if s.Ledger.Intent != nil {
		s.closeIntent(&record)
	}
	return s.act(reason, message, lifecycle.Effect{Op: lifecycle.OpConfirmOff, Expect: s.expect(provider.PowerOff)}).Recording(record)
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// waiting are the reasons for which a claim may wait for ever: there are more tenants than machines.
var waiting = []string{v1alpha1.ReasonNoMatch, v1alpha1.ReasonNoSuchServer, v1alpha1.ReasonServerNotAvailable}

// outcome is how all objects are: so many at rest, held by reason, and those that are still on their way, with what they say.
type outcome struct {
	ready, waiting int
	machines       int // that have a Server
	held           map[string]int
	unsettled      []string
}

// outcomeOf sorts objects by whether anything is still to be expected of them.
func outcomeOf(objects []object) outcome {
	r := outcome{held: map[string]int{}}
	for _, o := range objects {
		_, isClaim := o.(*v1alpha1.ServerClaim)
		if server, isServer := o.(*v1alpha1.Server); isServer && server.Spec.Redfish != nil {
			r.machines++
		}
		ready := condition(o, v1alpha1.ConditionReady)
		switch {
		case heldFor(o) != "":
			r.held[heldFor(o)]++
		case o.GetDeletionTimestamp() != nil:
			r.unsettled = append(r.unsettled, fmt.Sprintf("%s is being deleted: %s", idOf(o), reasonOf(o)))
		case isTrue(o, v1alpha1.ConditionReady):
			r.ready++
		case isClaim && ready != nil && slices.Contains(waiting, ready.Reason):
			r.waiting++
		default:
			r.unsettled = append(r.unsettled, fmt.Sprintf("%s: %s", idOf(o), reasonOf(o)))
		}
	}
	return r
}

// reasonOf is what an object says of itself.
func reasonOf(o object) string {
	if ready := condition(o, v1alpha1.ConditionReady); ready != nil {
		return fmt.Sprintf("Ready=%s %s: %s", ready.Status, ready.Reason, ready.Message)
	}
	return "not reported"
}

// quiet is how long all must have been at rest.
const quiet = 4 * time.Second

// settle ends all that disturbs, and waits: first until all is at rest or held, then, with a person who answers all holds, until nothing is
// held any more.
func (c *campaign) settle(ctx context.Context, r *report) error {
	if err := errors.Join(c.world.heal(), c.managers.startAll("")); err != nil {
		return err
	}
	// Passwords are healed too: what a cloud or BMC refuses keeps all that is behind it on its way.
	locksmith := newPerson(c, second)
	locksmith.only = v1alpha1.ReasonCredentialsInvalid
	stopHealing := locksmith.begin(ctx)
	r.settledAfter, r.atRest, r.rested = c.await(ctx, func(now outcome) bool { return len(now.unsettled) == 0 })
	stopHealing()
	c.say("after %s: %s", r.settledAfter.Round(100*time.Millisecond), r.atRest)
	stop := newPerson(c, 0).begin(ctx)
	r.answeredAfter, r.atEnd, r.answered = c.await(ctx, func(now outcome) bool { return len(now.unsettled) == 0 && len(now.held) == 0 })
	stop()
	c.say("after %s more: %s", r.answeredAfter.Round(100*time.Millisecond), r.atEnd)
	return ctx.Err()
}

// await waits until what is seen suits, and has for a while, but not longer than the campaign allows. It returns when it began to, and whether
// it did: what is not seen does not suit.
func (c *campaign) await(ctx context.Context, suits func(outcome) bool) (after time.Duration, now outcome, suited bool) {
	begun := time.Now()
	since := time.Time{}
	told := ""
	for time.Since(begun) < c.options.Settle && pause(ctx, lookPause) {
		if now = outcomeOf(c.sight.all()); !suits(now) || !c.sight.fresh() {
			since = time.Time{}
			if tells := strings.Join(now.unsettled, "; "); tells != told {
				told = tells
				c.note("%s: %s", now, tells)
			}
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) >= quiet {
			return since.Sub(begun), now, true
		}
	}
	return time.Since(begun), now, false
}

// verdict judges the whole record.
func (c *campaign) verdict(r *report) error {
	if err := c.journal.drain(); err != nil {
		c.tally.fail(fmt.Sprintf("the record has a gap: %v", err))
	}
	c.journal.note(judge.Event{Kind: judge.Settled})
	for _, compare := range c.compare {
		if err := compare(); err != nil {
			c.tally.fail(fmt.Sprintf("the record is not what is there: %v", err))
		}
	}
	crashes, err := c.managers.crashes()
	if err != nil {
		return err
	}
	for _, line := range crashes {
		c.tally.fail("a manager crashed: " + line)
	}
	r.judged = judge.Judge(c.journal.all())
	r.ends = c.managers.endedByThemselves()
	r.tally = &c.tally
	return nil
}

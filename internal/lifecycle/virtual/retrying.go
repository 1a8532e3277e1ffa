// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// retryingSteps delete a VM that never launched, and make it again: announced and counted in one write, so that no observation that
// flaps can spend more than the budget; the deletion itself looks once more that there was no launch (I2).
var retryingSteps = rules.Named("Retrying", rules.Join(
	picture,
	rules.Carrying(steps{
		{Name: "Gone", When: rules.All((*state).retryAnnounced, (*state).gone), Then: func(s *state) answer {
			p := forgetVM()
			s.closeIntent(&p)
			return rules.Patch(v1alpha1.ReasonRetrying, "the VM that never launched is gone: make it anew", p)
		}},
	}),
	elsewhere,
	rules.Carrying(steps{
		{Name: "Going", When: rules.All((*state).retryAnnounced, (*state).going), Then: func(s *state) answer {
			return s.Wait(v1alpha1.ReasonRetrying, "the VM that never launched is going")
		}},
		{Name: "Delete", When: rules.All((*state).retryAnnounced, (*state).createFailed), Then: func(s *state) answer {
			return s.act(v1alpha1.ReasonRetrying, "delete the VM "+s.vm.ID+", which never launched: "+orElse(s.vm.Fault, "no reason told"), lifecycle.OpDeleteFailed, s.Ledger.Intent.ID, lifecycle.VirtualEffect{
				Expect: provider.InstanceExpect{NeverLaunched: true},
			})
		}},
		{Name: "Backoff", When: rules.All((*state).createFailed, (*state).backingOff), Then: func(s *state) answer {
			return s.Wait(v1alpha1.ReasonRetrying, "the VM never launched: "+orElse(s.vm.Fault, "no reason told")+". It is made again after a while").Soon(s.backoffLeft())
		}},
		{Name: "Announce", When: (*state).createFailed, Then: announceRetry},
	}),
	steps{
		// The picture changed its mind about a VM that was announced to be deleted: nothing asks for it any more (R3).
		{Name: "Recovered", When: rules.Always[*state], Then: withdrawn("the cloud is at the VM again: withdraw its deletion")},
	},
))

// forgetVM forgets a VM that never launched and is gone.
func forgetVM() lifecycle.Patch {
	return lifecycle.Patch{Ledger: ledger.Entries{}.ProviderID("").Image(nil)}
}

// going says that the cloud is deleting the VM.
func (s *state) going() bool {
	return s.vm.State == "DELETED" || s.vm.State == "SOFT_DELETED" || s.vm.TaskState == "deleting"
}

// retryAnnounced says that the deletion of this very VM stands written (P6).
func (s *state) retryAnnounced() bool { return s.announced(ledger.IntentRetry, ledger.WhyCreate) }

func announceRetry(s *state) answer {
	attempts := ledger.CreateAttempts{Hash: s.openstackHash(), Count: s.attempts() + 1, At: s.Now()}
	return rules.Patch(v1alpha1.ReasonRetrying, fmt.Sprintf("announce attempt %d of %d to make the VM again", attempts.Count, s.V.Settings.CreateAttempts), lifecycle.Patch{
		Ledger: ledger.Entries{}.CreateAttempts(&attempts).Intent(s.intent(ledger.IntentRetry, ledger.WhyCreate)),
		Remove: s.Given(v1alpha1.AnnotationRetry),
	})
}

// attempts is how much of the budget is used. A person's consent, or an edit of what the VM is made of, arms it anew.
func (s *state) attempts() int {
	a := s.Ledger.CreateAttempts
	if a == nil || a.Hash != s.openstackHash() || s.Consent(v1alpha1.AnnotationRetry, s.Ledger.Identity) {
		return 0
	}
	return a.Count
}

func (s *state) budgetLeft() bool { return s.attempts() < s.V.Settings.CreateAttempts }

func (s *state) backingOff() bool { return s.backoffLeft() > 0 }

// backoffLeft doubles with each attempt; the first is made at once.
func (s *state) backoffLeft() time.Duration {
	count := s.attempts()
	if count == 0 {
		return 0
	}
	const mostDoublings = 10
	pause := s.V.Settings.CreateBackoff << min(count-1, mostDoublings)
	return s.Ledger.CreateAttempts.At.Add(pause).Sub(s.V.Now)
}

// openstackHash tells one spec of a VM from another.
func (s *state) openstackHash() string { return hashOf(s.openstack) }

// hashOf is short: it tells versions of one spec apart, and is nothing that anybody could want to forge.
func hashOf(spec any) string {
	raw, err := json.Marshal(spec)
	if err != nil {
		return "unrenderable" // plain fields always render
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// failedSteps park a VM that never launched, however often it was tried: a changed spec, a changed fact or a person wakes it.
var failedSteps = rules.Named("Failed", rules.Join(elsewhere, steps{
	{Name: "CreateFailed", When: rules.Always[*state], Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonCreateFailed, fmt.Sprintf("the VM never launched, and was made again %d times: %s. Edit spec.openstack, or annotate the Server with %s=%s", s.attempts(), orElse(s.vm.Fault, "no reason told"), v1alpha1.AnnotationRetry, s.Ledger.Identity))
	}},
}))

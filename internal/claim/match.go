// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// Unfit says why a server does not do for a claim. "" is a server that does.
type Unfit string

// Reasons in the order in which they are looked at: first what is unlikely to change, so that the count of an unmatched claim
// tells first what its tenant or platform team would have to change.
const (
	UnfitVirtual      Unfit = "virtual"       // a VM: made for one claim, or a person's
	UnfitLabels       Unfit = "labels"        // not selected
	UnfitTooSmall     Unfit = "too small"     // or no inventory to tell
	UnfitTainted      Unfit = "tainted"       // with a taint that the claim does not tolerate
	UnfitCordoned     Unfit = "cordoned"      // spec.unschedulable
	UnfitDeleting     Unfit = "deleting"      // being deleted
	UnfitClaimed      Unfit = "claimed"       // has a claimRef
	UnfitMaintenance  Unfit = "maintenance"   // has a maintenanceRef
	UnfitBound        Unfit = "bound"         // another claim is bound to its identity (BoundElsewhere)
	UnfitChosen       Unfit = "chosen"        // another claim names it and is about to bind
	UnfitDuplicate    Unfit = "duplicate"     // another Server has its identity
	UnfitIntent       Unfit = "intent"        // an intent is open (R2)
	UnfitNotAvailable Unfit = "not available" // any other phase than Available, or held
)

// Match finds the server for the view's claim among its candidates: the fitting one of least waste, by name among equals.
// "" where none fits; the tally then says why.
func Match(v View) (string, Tally) {
	f, err := newFilter(v)
	if err != nil {
		return "", Tally{Problem: err.Error()}
	}
	tally := Tally{Unfit: map[Unfit]int{}}
	var best *Candidate
	for i := range v.Candidates {
		c := &v.Candidates[i]
		tally.Servers++
		if why := f.unfit(c); why != "" {
			tally.Unfit[why]++
			continue
		}
		if best == nil || f.compare(c, best) < 0 {
			best = c
		}
	}
	if best == nil {
		return "", tally
	}
	return best.Server.Name, tally
}

// UnfitFor says why one server does not do for the view's claim; "" where it does.
func UnfitFor(v View, c Candidate) Unfit {
	f, err := newFilter(v)
	if err != nil {
		return UnfitLabels
	}
	return f.unfit(&c)
}

// filter holds what is computed once for a claim and used for every candidate.
type filter struct {
	spec       *v1alpha1.ServerClaimSpec
	selector   labels.Selector
	speakers   Speakers
	identities map[string]int // how many candidates have an identity
}

func newFilter(v View) (*filter, error) {
	selector := labels.Everything()
	if v.Claim.Spec.Selector != nil {
		s, err := metav1.LabelSelectorAsSelector(v.Claim.Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("the selector cannot be read: %w", err)
		}
		selector = s
	}
	f := &filter{spec: &v.Claim.Spec, selector: selector, speakers: v.Speakers, identities: make(map[string]int, len(v.Candidates))}
	for i := range v.Candidates {
		if id := v.Candidates[i].Identity; id != "" {
			f.identities[id]++
		}
	}
	return f, nil
}

func (f *filter) unfit(c *Candidate) Unfit {
	s := c.Server
	switch {
	case servers.IsVirtual(s):
		return UnfitVirtual
	case !f.selector.Matches(labels.Set(s.Labels)):
		return UnfitLabels
	case !Meets(hardwareOf(s), f.spec.Requirements):
		return UnfitTooSmall
	case !Tolerated(s.Spec.Taints, f.spec.Tolerations):
		return UnfitTainted
	case s.Spec.Unschedulable:
		return UnfitCordoned
	}
	return f.busy(c)
}

// busy is the part of unfit that is about the moment and not about what the server is.
func (f *filter) busy(c *Candidate) Unfit {
	s := c.Server
	_, chosen := f.speakers.Chosen[s.Name]
	_, bound := f.speakers.Bound[c.Identity]
	switch {
	case !s.DeletionTimestamp.IsZero():
		return UnfitDeleting
	case s.Spec.ClaimRef != nil:
		return UnfitClaimed
	case s.Spec.MaintenanceRef != nil:
		return UnfitMaintenance
	case bound:
		return UnfitBound
	case chosen:
		return UnfitChosen
	case f.identities[c.Identity] > 1:
		return UnfitDuplicate
	case c.Intent:
		return UnfitIntent
	case !c.Available:
		return UnfitNotAvailable
	}
	return ""
}

// compare ranks two fitting servers: the smaller waste first. Taints count most: a tainted server is kept for those who need it.
func (f *filter) compare(a, b *Candidate) int {
	return cmp.Or(
		cmp.Compare(len(a.Server.Spec.Taints), len(b.Server.Spec.Taints)),
		compareHardware(hardwareOf(a.Server), hardwareOf(b.Server)),
		cmp.Compare(a.Server.Name, b.Server.Name),
	)
}

// Tolerated says whether every taint is tolerated.
func Tolerated(taints []v1alpha1.Taint, tolerations []v1alpha1.Toleration) bool {
	for _, taint := range taints {
		if !slices.ContainsFunc(tolerations, func(t v1alpha1.Toleration) bool { return tolerates(t, taint) }) {
			return false
		}
	}
	return true
}

func tolerates(t v1alpha1.Toleration, taint v1alpha1.Taint) bool {
	if t.Operator == v1alpha1.TolerationExists {
		return t.Key == "" || t.Key == taint.Key
	}
	return t.Key == taint.Key && t.Value == taint.Value
}

// Tally is why no server was found.
type Tally struct {
	Servers int
	Unfit   map[Unfit]int
	// Problem is why there was no search at all: a selector that cannot be read.
	Problem string
}

// String is the tally as a tenant reads it: "0 of 12 servers: 7 labels, 3 claimed, 2 tainted", the most frequent reason first.
func (t Tally) String() string {
	if t.Problem != "" {
		return t.Problem
	}
	if t.Servers == 0 {
		return "there are no servers"
	}
	reasons := make([]Unfit, 0, len(t.Unfit))
	fit := t.Servers
	for why, n := range t.Unfit {
		reasons = append(reasons, why)
		fit -= n
	}
	slices.SortFunc(reasons, func(a, b Unfit) int {
		return cmp.Or(cmp.Compare(t.Unfit[b], t.Unfit[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(reasons))
	for i, why := range reasons {
		parts[i] = fmt.Sprintf("%d %s", t.Unfit[why], why)
	}
	text := fmt.Sprintf("%d of %d servers", fit, t.Servers)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

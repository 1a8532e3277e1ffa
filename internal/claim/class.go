// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// fromClass is a claim with a class that no server bears yet. The name of its Server is decided and written first, then the Server is
// made under that name. Whatever is lost in between, the same name and the same identity come out (I3, I8): a Server that stands already,
// by whoever's hand, is found, and a VM that it may have had is adopted and not made anew. A claim that is `bound` does not come here.
func (d deciding) fromClass() Decision {
	name := d.Claim.Spec.ServerName
	switch {
	case len(d.ByIdentity) > 0:
		// It was made for this claim: its claimRef was cleared, or it was restored without.
		return d.bound()
	case d.Server != nil && d.bears(d.Server):
		return d.held(d.Server)
	case d.Server != nil:
		return d.chooseAgain("Claim.Class.NameTaken", fmt.Sprintf("server %q is not this claim's; chooses another name", name))
	}
	if why, unusable := d.classUnusable(); unusable {
		return why
	}
	if name == "" {
		return d.name(d.freeName(), "Claim.Class.Name")
	}
	return d.create(name)
}

// classUnusable says why the class makes nothing for this claim now. What the claim waits for wakes it.
func (d deciding) classUnusable() (Decision, bool) {
	name := d.Claim.Spec.ClassName
	switch {
	case d.Class == nil:
		return d.stuck("Claim.Class.Missing", v1alpha1.ReasonClassMissing, fmt.Sprintf("there is no server class %q", name)), true
	case !d.Class.DeletionTimestamp.IsZero():
		return d.stuck("Claim.Class.Deleting", v1alpha1.ReasonClassDeleting,
			fmt.Sprintf("server class %q is being deleted and makes nothing new; delete the claim, or create the class anew", name)), true
	case !Tolerated(d.Class.Spec.Taints, d.Claim.Spec.Tolerations):
		return d.stuck("Claim.Class.Tainted", v1alpha1.ReasonNoMatch,
			fmt.Sprintf("what server class %q makes has taints that this claim does not tolerate", name)), true
	case !slices.Contains(d.Class.Finalizers, v1alpha1.FinalizerInUse):
		// Guarded before its first use, so that it cannot go between this look and the Server that names it.
		message := fmt.Sprintf("server class %q is not guarded yet", name)
		return d.pending(wait(d, "Claim.Class.Unguarded", message), v1alpha1.ReasonBinding, message), true
	}
	return Decision{}, false
}

// freeName is the first name that no Server bears.
func (d deciding) freeName() string {
	for name := range ServerNames(d.Claim) {
		if !slices.Contains(d.TakenNames, name) {
			return name
		}
	}
	return "" // there is no last name
}

// create makes the Server, this claim in its claimRef from the beginning: there is no moment at which it is anybody's (B197, P4).
func (d deciding) create(name string) Decision {
	message := fmt.Sprintf("make server %q of class %q", name, d.Class.Name)
	decision := d.pending(lifecycle.Step{
		Kind: lifecycle.StepCreate, Live: true, Clause: "Claim.Class.Create", Message: message,
	}, v1alpha1.ReasonBinding, message)
	decision.Create = d.made(name)
	return decision
}

// made is the Server as the class says. It lives on by itself: what becomes of the class does not change it.
func (d deciding) made(name string) *v1alpha1.Server {
	template, ref := d.Class.DeepCopy().Spec, d.reference()
	return &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: template.Labels},
		Spec: v1alpha1.ServerSpec{
			OpenStack:     &template.OpenStack,
			ClassRef:      &v1alpha1.LocalObjectReference{Name: d.Class.Name},
			ReclaimPolicy: cmp.Or(template.ReclaimPolicy, v1alpha1.ReclaimDelete),
			Taints:        template.Taints,
			ClaimRef:      &ref,
		},
	}
}

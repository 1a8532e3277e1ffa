// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// mayHaveRun: this object is a copy of the claim (its UID is not its identity, P11) that does not say what the claim got, and no server
// bears it. Nothing tells a copy from before the claim's first boot from one of a claim that never booted: where its Server was restored
// older too, the machine that runs for it is known to nobody, and a second one would be chosen (P10, I8).
//
// Claims by serverRef are exempt, since there is one machine that they could ever have run on, which tells by itself whether it is somebody's
// (P13, the stamp); so are claims with a class, which do not come here: name and identity of their Server follow from their own, so that
// a VM that is there is found and adopted. A person who knows consents, to this very object: a copy of the consent is none.
func (d deciding) mayHaveRun() bool {
	uid := string(d.Claim.UID)
	return d.memory.Identity != uid && d.Claim.Spec.ServerRef == nil && d.Claim.Annotations[v1alpha1.AnnotationChooseAnew] != uid
}

// holdRestored: nothing is chosen, neither anew nor again, and what was chosen is not bound.
func (d deciding) holdRestored() Decision {
	return d.hold("Claim.Restored", v1alpha1.ReasonClaimRestored,
		fmt.Sprintf("this claim was restored from a copy that does not say whether it had a machine, and no server bears it; restore the newer copy of the claim or its "+
			"Server; if it never had a machine, annotate the claim with %s=%s; or delete it and make a new one", v1alpha1.AnnotationChooseAnew, d.Claim.UID))
}

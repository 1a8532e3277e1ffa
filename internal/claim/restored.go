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

// forgotten: a claim that has chosen had an identity, so it lost it, and the server that it names does not know this object: nothing tells
// which claim it was. A new identity would make another claim of it, with a machine of its own beside the one that it may have (P10, I8).
func (d deciding) forgotten() bool {
	return d.memory.Identity == "" && d.Claim.Spec.ServerName != "" && d.rememberedByServer() == "" &&
		d.Claim.Annotations[v1alpha1.AnnotationChooseAnew] != string(d.Claim.UID)
}

// holdForgotten: the claim gets no identity, and so no machine.
func (d deciding) holdForgotten() Decision {
	return d.hold("Claim.Forgotten", v1alpha1.ReasonClaimRestored,
		fmt.Sprintf("this claim has chosen the server %q and lost its ledger, and that server does not know it; restore the claim with its ledger, or its Server; if it "+
			"never had a machine, annotate the claim with %s=%s; or delete it and make a new one", d.Claim.Spec.ServerName, v1alpha1.AnnotationChooseAnew, d.Claim.UID))
}

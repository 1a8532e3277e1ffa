// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// UserDataLacking says that the user data of what is about to boot cannot be had. Only a live view looks: one that has not looked goes on
// to the step that asks for a live one.
func (s *State) UserDataLacking() bool {
	return s.V.UserData == lifecycle.UserDataMissing || s.V.UserData == lifecycle.UserDataDenied
}

// AwaitUserData waits for user data that cannot be had, and says what a person can do (B247).
func (s *State) AwaitUserData() Answer {
	ref, _ := s.V.UserDataRef()
	secret := ref.Name
	if ref.Namespace != "" {
		secret = ref.Namespace + "/" + ref.Name
	}
	switch {
	case s.V.UserData == lifecycle.UserDataMissing:
		return s.Wait(v1alpha1.ReasonUserDataMissing, "the user data is not there: create the secret "+secret).Stalled()
	case ref.Namespace == "":
		// What is beside the operator is offered without a label: that it is denied is a matter of rights alone.
		return s.Wait(v1alpha1.ReasonUserDataDenied, "the operator may not read the secret "+secret+" of its own namespace: give its Role there the verb get of secrets again").Stalled()
	}
	return s.Wait(v1alpha1.ReasonUserDataDenied, "the claim's user data may not be read: label the secret "+secret+" with "+v1alpha1.LabelUserData+"=true, and let the operator read it: kubectl -n "+
		ref.Namespace+" create rolebinding holdfast-userdata --clusterrole=holdfast-userdata-reader --serviceaccount=holdfast-system:holdfast").Stalled()
}

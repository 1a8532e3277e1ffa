// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// deletingSteps let a machine that nobody has go. Its power stays as it is. The guard on its BMC is the BMC's own to drop, when an
// uncached list shows no user.
var deletingSteps = rules.Named("Deleting", steps{
	{Name: "Finalizer", When: rules.Always[*state], Then: func(*state) answer { return letGo("let the server go; its power stays as it is") }, Carries: true},
})

func letGo(message string) answer {
	return rules.Patch(v1alpha1.ReasonDeleting, message, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerServer})
}

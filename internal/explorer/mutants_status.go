// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// bootReport is the condition in which remembersInStatus keeps what it remembers.
const bootReport = "Boot"

// remembersInStatus keeps in the server's status for whom it was booted, as operators do that keep their state there, and nowhere else.
func remembersInStatus(b *Brain) {
	b.Report = func(o *v1alpha1.Server) {
		o.Status.Conditions = []metav1.Condition{{Type: bootReport, Message: o.Annotations[ledger.KeyBoot]}}
	}
	seeing(func(v *lifecycle.ServerView, m *ledger.Server) {
		m.Boot = bootReported(v.Server)
		v.BoundClaims = nil
		if m.Boot == nil && v.Claim != nil {
			v.Claim = v.Claim.DeepCopy()
			delete(v.Claim.Annotations, ledger.KeyBound)
		}
	})(b)
}

func bootReported(s *v1alpha1.Server) *ledger.Boot {
	for _, c := range s.Status.Conditions {
		if c.Type != bootReport || c.Message == "" {
			continue
		}
		if memory, err := ledger.ParseServer(map[string]string{ledger.KeyBoot: c.Message}); err == nil {
			return memory.Boot
		}
	}
	return nil
}

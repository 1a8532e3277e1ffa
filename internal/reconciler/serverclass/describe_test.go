// SPDX-License-Identifier: Apache-2.0

package serverclass

import (
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// A class whose cloud or authority is not there, or is going, makes nothing, and says what it lacks.
func TestAClassStandsOnWhatItNames(t *testing.T) {
	cloud := lifecycle.Dependency{Kind: "Cloud", Name: "fra1", Guarded: true}
	authority := lifecycle.Dependency{Kind: "SSHCertificateAuthority", Name: "staff", Guarded: true}
	missing, going := authority, cloud
	missing.Missing, going.Deleting = true, true
	for _, row := range []struct {
		name   string
		given  []lifecycle.Dependency
		reason string // "" for none
		names  string
	}{
		{"all there", []lifecycle.Dependency{cloud, authority}, "", ""},
		{"authority missing", []lifecycle.Dependency{cloud, missing}, v1alpha1.ReasonDependencyMissing, "sshcertificateauthority staff"},
		{"cloud being deleted", []lifecycle.Dependency{going, authority}, v1alpha1.ReasonDependencyDeleting, "cloud fra1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			conditions, gates := Describe(row.given)
			if len(conditions) != 1 || (conditions[0].Status == "True") != (row.reason == "") {
				t.Errorf("conditions %+v", conditions)
			}
			if row.reason == "" {
				if len(gates) != 0 {
					t.Errorf("gates %+v", gates)
				}
				return
			}
			if len(gates) != 1 || gates[0].Level != lifecycle.Stalled || gates[0].Reason != row.reason || !strings.Contains(gates[0].Message, row.names) {
				t.Errorf("gates %+v; want %s that names %s", gates, row.reason, row.names)
			}
		})
	}
}

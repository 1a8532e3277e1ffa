// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// identities are those, and UIDs, that two objects of a kind have: each is one machine, or one claim.
func (c *check) identities() []Finding {
	var found []Finding
	for _, by := range []struct {
		what string
		of   func(client.Object) string
	}{
		{"identity", func(o client.Object) string { return o.GetAnnotations()[ledger.KeyIdentity] }},
		{"UID", func(o client.Object) string { return string(o.GetUID()) }},
	} {
		names := map[string][]string{}
		for _, item := range c.items {
			if value := by.of(item.Object); value != "" && (item.Kind == KindServer || item.Kind == KindClaim) {
				key := item.Kind + " " + value
				names[key] = append(names[key], item.Name())
			}
		}
		for _, key := range slices.Sorted(maps.Keys(names)) {
			if same := names[key]; len(same) > 1 {
				kind, value, _ := strings.Cut(key, " ")
				found = append(found, Finding{Level: Odd, Kind: kind, Name: same[0], Text: fmt.Sprintf("has the %s %s, as has %s: keep one of them", by.what, value, strings.Join(same[1:], ", "))})
			}
		}
	}
	return found
}

// secrets are those that are named and not in the backup.
func (c *check) secrets() []Finding {
	if c.options.SecretsElsewhere {
		return nil
	}
	var found []Finding
	for _, key := range secretsOf(c.set, c.options.Namespace) {
		if !c.there[KindSecret+" "+key.String()] {
			found = append(found, Finding{Level: Odd, Kind: KindSecret, Name: key.String(), Text: "is named and not in this backup: make it again after the restore"})
		}
	}
	return found
}

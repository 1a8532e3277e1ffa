// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// auditedWrites compares the writes the API server has logged for a widget with the wanted ones.
func auditedWrites(name string, want map[string]int) error {
	logged, err := testenv.ReadAudit(auditLog)
	if err != nil {
		return err
	}
	writes := map[string]int{}
	for _, event := range logged {
		if event.ObjectRef == nil || event.ObjectRef.Name != name || !testenv.IsWrite(event) {
			continue
		}
		verb := event.Verb
		if event.ObjectRef.Subresource != "" {
			verb += " " + event.ObjectRef.Subresource
		}
		writes[verb]++
	}
	if diff := cmp.Diff(want, writes); diff != "" {
		return fmt.Errorf("writes (-want +logged): %s", diff)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package statustest

import (
	"context"

	"github.com/holdfast-dev/holdfast/status"
)

// Kind is a kind under test.
type Kind struct {
	// New returns a new object that the API server accepts for creation. For Server, give it a namespace
	// if the kind has one, and a name, or better a generateName, that is free.
	New func() status.Object
	// Regions are the fields of status that belong to another writer, see status.WithRegions.
	Regions []string
}

// TB is what the checks need of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Context() context.Context
	Cleanup(func())
}

// reportedType is the condition the checks set; no kind has it of its own.
const reportedType = "StatusTest"

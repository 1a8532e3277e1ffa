// SPDX-License-Identifier: Apache-2.0

package watch

import "fmt"

// entry is the number of the last entry of a log that was read.
type entry uint64

// follow goes on to an entry, which must be the next: a log with a gap shows nothing.
func (last *entry) follow(next uint64) error {
	if next != uint64(*last)+1 {
		return fmt.Errorf("entry %d comes after entry %d", next, *last)
	}
	*last = entry(next)
	return nil
}

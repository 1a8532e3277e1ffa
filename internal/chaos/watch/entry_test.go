// SPDX-License-Identifier: Apache-2.0

package watch

import "testing"

func TestALogWithAGapIsAnError(t *testing.T) {
	last := entry(7)
	if err := last.follow(8); err != nil || last != 8 {
		t.Errorf("the next entry: %v, then %d", err, last)
	}
	for _, wrong := range []uint64{8, 10} {
		if err := last.follow(wrong); err == nil || last != 8 {
			t.Errorf("entry %d after 8: %v, then %d", wrong, err, last)
		}
	}
}

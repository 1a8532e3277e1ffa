// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
	"time"
)

// What was seen before a memory was gone, or while it was being taken away, does not tell that it is there.
func TestAmnesiaEndsByWhatIsSeenAfterIt(t *testing.T) {
	var a amnesia
	tenant := &tenancy{name: "a"}
	if a.ends(tenant, time.Now()) {
		t.Error("who never forgot has nothing to remember")
	}
	done := a.begins(tenant)
	if len(a.before(time.Now().Add(time.Hour))) != 0 || a.ends(tenant, time.Now().Add(time.Hour)) {
		t.Error("it ended while it began")
	}
	seen := time.Now()
	done()
	if len(a.before(seen)) != 0 || a.ends(tenant, seen) {
		t.Error("it ended by what was seen before")
	}
	later := time.Now().Add(time.Second)
	if got := a.before(later); len(got) != 1 || got[0] != tenant || !a.ends(tenant, later) || a.ends(tenant, later) {
		t.Errorf("it did not end, or ended twice: %v", got)
	}
}

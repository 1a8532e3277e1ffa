// SPDX-License-Identifier: Apache-2.0

package provider

import "testing"

// TestHolds: BMCs drop the scheme, escape, or tell the name alone; another host or path is another image (B111, B113).
func TestHolds(t *testing.T) {
	const image = "http://images.example/os/debian%2012.iso"
	for _, row := range []struct {
		told     string
		inserted bool
		want     bool
	}{
		{image, true, true},
		{image, false, false},
		{"", true, false},
		{"https://images.example/os/debian%2012.iso", true, true},
		{"images.example/os/debian%2012.iso", true, true},
		{"//images.example/os/debian 12.iso", true, true},
		{"debian 12.iso", true, true},
		{"debian%2012.iso", true, true},
		{"debian", true, false},
		{"os/debian%2012.iso", true, false},
		{"http://images.example/debian%2012.iso", true, false},
		{"http://elsewhere.example/os/debian%2012.iso", true, false},
		{"http://images.example/os/debian%2012.iso?x", true, false},
		{"http://images.example/OS/debian%2012.iso", true, false},
	} {
		if got := (MediaSlot{Slot: "CD", Image: row.told, Inserted: row.inserted}).Holds(image); got != row.want {
			t.Errorf("%q, inserted %v: got %v, want %v", row.told, row.inserted, got, row.want)
		}
	}
}

// TestTaskPhases: a phase that is not final is asked about again.
func TestTaskPhases(t *testing.T) {
	for phase, want := range map[TaskPhase]bool{TaskRunning: false, TaskDone: true, TaskFailed: true, TaskGone: true, "": false} {
		if phase.Final() != want {
			t.Errorf("%q: final is %v, want %v", phase, phase.Final(), want)
		}
	}
}

// TestSameUUID: case, notation and the byte order of the first three fields do not matter (B155); what is no UUID is nobody's.
func TestSameUUID(t *testing.T) {
	const u = "00112233-4455-6677-8899-aabbccddeeff"
	for other, want := range map[string]bool{
		u: true, "00112233-4455-6677-8899-AABBCCDDEEFF": true, "00112233445566778899aabbccddeeff": true,
		"33221100-5544-7766-8899-aabbccddeeff": true, "33221100-4455-6677-8899-aabbccddeeff": false, "": false, "none": false,
	} {
		if SameUUID(u, other) != want || SameUUID(other, u) != want {
			t.Errorf("%q: want %v both ways", other, want)
		}
	}
	if SameUUID("", "") {
		t.Error("two systems without a UUID are the same")
	}
}

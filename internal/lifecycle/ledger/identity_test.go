// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

const systemUUID = "38947555-7742-3448-3784-823347823834"

// TestMachineIdentityIsAContract: the identities of machines that are in use. Another value would make each of them another server
// (P11, B240); never change these.
func TestMachineIdentityIsAContract(t *testing.T) {
	cases := []struct {
		name string
		from ledger.Hardware
		want string
	}{
		{"system UUID", ledger.Hardware{SystemUUID: systemUUID, Serial: "S-1", ManagerUUID: "m", SystemID: "1"}, "eb2959a7-2c1f-5ac5-b618-17f8bfce0b50"},
		{"serial number", ledger.Hardware{Serial: " S-1 ", ManagerUUID: "m", SystemID: "1"}, "6e360e77-563d-58a6-9be7-f5796f8ef3a3"},
		{"manager and Id", ledger.Hardware{Serial: "To Be Filled By O.E.M.", ManagerUUID: "M", SystemID: "1"}, "c4fbdd87-36f0-5fc2-a109-962c722c11c3"},
		{"manager alone", ledger.Hardware{ManagerUUID: "m"}, ""},
		{"nothing", ledger.Hardware{Serial: "0000000"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := ledger.MachineIdentity(c.from)
			if got != c.want {
				t.Errorf("identity %q, want %q", got, c.want)
			}
			if got == "" {
				return
			}
			if id, err := uuid.Parse(got); err != nil || id.Version() != 5 {
				t.Errorf("%s is no UUID of version 5", got)
			}
		})
	}
	if ledger.MachineIdentity(ledger.Hardware{SystemUUID: strings.ToUpper(systemUUID)}) != ledger.MachineIdentity(ledger.Hardware{SystemUUID: systemUUID}) {
		t.Error("the case of the UUID matters")
	}
}

// TestStamp: short enough for a short asset tag, of plain characters, and another for any other identity, owner or claim.
func TestStamp(t *testing.T) {
	if got, want := ledger.Stamp("id", "us", "claim"), "hf1:"; !strings.HasPrefix(got, want) || len(got) != 20 {
		t.Errorf("stamp %q, want %s and 16 characters", got, want)
	}
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.StringN(0, 8, -1)
		a := [3]string{part.Draw(rt, "identity"), part.Draw(rt, "owner"), part.Draw(rt, "claim")}
		b := [3]string{part.Draw(rt, "identity"), part.Draw(rt, "owner"), part.Draw(rt, "claim")}
		x, y := ledger.Stamp(a[0], a[1], a[2]), ledger.Stamp(b[0], b[1], b[2])
		if (a == b) != (x == y) {
			rt.Fatalf("%q and %q are stamped %s and %s", a, b, x, y)
		}
		if !ledger.IsStamp(x) || strings.ContainsFunc(x, func(r rune) bool { return r <= ' ' || r > '~' }) {
			rt.Fatalf("stamp %q", x)
		}
	})
	if ledger.IsStamp("shelf 7") || ledger.IsStamp("") {
		t.Error("a person's tag is taken for a stamp")
	}
}

// TestStampIsAContract: machines in use bear these.
func TestStampIsAContract(t *testing.T) {
	if got, want := ledger.Stamp("id", "us", "claim"), "hf1:ozcdp2yrzwvtw7jd"; got != want {
		t.Errorf("stamp %q, want %q", got, want)
	}
}

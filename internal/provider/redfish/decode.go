// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// placeholderUUIDs are what boards say that were never given one: no identity.
var placeholderUUIDs = []string{
	"00000000-0000-0000-0000-000000000000",
	"ffffffff-ffff-ffff-ffff-ffffffffffff",
	"03000200-0400-0500-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
}

// placeholderSerials are what firmware says where nobody entered a serial number.
var placeholderSerials = []string{
	"to be filled by o.e.m.", "default string", "system serial number", "0123456789", "none", "n/a", "na", "not specified", "not available", "unknown", "null", "0",
}

// normalUUID gives a UUID in its usual form, lower case; "" for none, for a placeholder and for what is no UUID.
func normalUUID(s string) string {
	u, err := uuid.Parse(strings.TrimSpace(s))
	if err != nil || slices.Contains(placeholderUUIDs, u.String()) {
		return ""
	}
	return u.String()
}

// normalSerial gives a serial number without blanks around it; "" for a placeholder.
func normalSerial(s string) string {
	s = strings.TrimSpace(s)
	if slices.Contains(placeholderSerials, strings.ToLower(s)) {
		return ""
	}
	return s
}

// powerState reads the power of a system in the words BMCs use for it. What nobody knows is Unknown, which never leads to an act (B028).
func powerState(s string) provider.PowerState {
	word := strings.ToLower(strings.Join(strings.Fields(s), ""))
	switch {
	case word == "on", strings.HasSuffix(word, "poweron"), strings.HasSuffix(word, "poweredon"), strings.HasSuffix(word, "ison"):
		return provider.PowerOn
	case word == "off", strings.HasSuffix(word, "poweroff"), strings.HasSuffix(word, "poweredoff"), strings.HasSuffix(word, "isoff"):
		return provider.PowerOff
	case word == "poweringon":
		return provider.PoweringOn
	case word == "poweringoff":
		return provider.PoweringOff
	}
	return provider.PowerUnknown
}

// readHealth takes a resource's own health, else that of what is in it.
func readHealth(status document) string {
	for _, key := range []string{"Health", "HealthRollup"} {
		switch h := schemas.Health(status.text(key)); h {
		case schemas.OKHealth, schemas.WarningHealth, schemas.CriticalHealth:
			return string(h)
		}
	}
	return ""
}

// absent says that a slot is empty.
func absent(doc document) bool {
	return doc.object("Status").text("State") == string(schemas.AbsentState)
}

// readBoot gives the override that the next boot takes: the system's own, else one that waits in the pending settings.
func readBoot(s *system) provider.BootOverride {
	now := readOverride(s, s.doc.object("Boot"))
	if waiting := readOverride(s, s.pending.object("Boot")); !now.Armed() && waiting.Armed() {
		return waiting
	}
	return now
}

func readOverride(s *system, boot document) provider.BootOverride {
	return provider.BootOverride{
		Target:  targetTold(s, boot.text("BootSourceOverrideTarget")),
		Enabled: readEnabled(boot.text("BootSourceOverrideEnabled")),
		Mode:    boot.text("BootSourceOverrideMode"),
		HTTPURI: boot.text("HttpBootUri"),
	}
}

// readEnabled reads the word without regard to case; others are passed through, and arm nothing.
func readEnabled(s string) provider.BootEnabled {
	for _, known := range []provider.BootEnabled{provider.BootDisabled, provider.BootOnce, provider.BootContinuous} {
		if strings.EqualFold(s, string(known)) {
			return known
		}
	}
	return provider.BootEnabled(s)
}

// readBootProgress keeps of the schema's words what means the same everywhere.
func readBootProgress(doc document) provider.BootProgress {
	switch state := schemas.BootProgressTypes(doc.text("LastState")); state {
	case "":
		return ""
	case schemas.NoneBootProgressTypes:
		return provider.BootProgressNone
	case schemas.OSRunningBootProgressTypes:
		return provider.BootProgressOSRunning
	case schemas.OEMBootProgressTypes:
		if strings.EqualFold(doc.text("OemLastState"), "OsIsRunning") { // NVIDIA BlueField
			return provider.BootProgressOSRunning
		}
		return ""
	default:
		return provider.BootProgressBooting
	}
}

// normalMAC gives a MAC address in lower case with colons, whatever its notation; "" for what is none.
func normalMAC(s string) string {
	hex := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'f':
			return r
		case r >= 'A' && r <= 'F':
			return r + ('a' - 'A')
		case r == ':' || r == '-' || r == '.' || r == ' ':
			return -1
		}
		return 'x'
	}, s)
	if len(hex) != 12 || strings.Contains(hex, "x") || hex == "000000000000" || hex == "ffffffffffff" {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(hex); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(hex[i : i+2])
	}
	return b.String()
}

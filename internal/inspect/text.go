// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteJSON writes the report as an indented JSON document.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// WriteText writes the report as a table for a person. What the BMC told is shown without control characters.
func (r Report) WriteText(w io.Writer) error {
	var out bytes.Buffer
	r.renderBMC(&out)
	for _, s := range r.Systems {
		s.render(&out)
	}
	fmt.Fprintf(&out, "%s: %s\n", r.headline(), r.Why)
	if r.Error != nil {
		fmt.Fprintf(&out, "  %s (%s): see docs/redfish.md, Reasons\n", r.Error.Reason, r.Error.Class)
	}
	_, err := io.WriteString(w, printable(out.String()))
	return err
}

func (r Report) headline() string {
	switch r.Verdict {
	case Usable:
		return "USABLE"
	case NotUsable:
		return "NOT USABLE"
	default:
		return "COULD NOT TELL"
	}
}

// printable drops what could move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

func (r Report) renderBMC(out *bytes.Buffer) {
	fmt.Fprintf(out, "BMC %s\n", r.Endpoint)
	if r.BMC == nil {
		return
	}
	row(out, "vendor", r.BMC.Vendor)
	row(out, "model", r.BMC.Model)
	row(out, "firmware", r.BMC.Firmware)
	row(out, "UUID", r.BMC.UUID)
	row(out, "authentication", r.BMC.AuthMode)
	if r.BMC.Account != nil {
		row(out, "account's role", r.BMC.Account.Role)
	}
	for i, q := range r.BMC.Quirks {
		row(out, first(i, "quirks"), q.Name+": "+strings.ReplaceAll(q.Behaviour, "`", ""))
	}
	row(out, "other systems", strings.Join(r.BMC.Others, ", "))
	row(out, "not readable", strings.Join(r.BMC.Gaps, ", "))
}

func (s System) render(out *bytes.Buffer) {
	fmt.Fprintf(out, "\nSYSTEM %s\n", s.ID)
	if s.Error != nil {
		row(out, "not read", s.Error.Reason+": "+s.Error.Message)
		return
	}
	row(out, "UUID", s.UUID)
	row(out, "manufacturer", s.Manufacturer)
	row(out, "model", s.Model)
	row(out, "serial number", s.Serial)
	row(out, "SKU", s.SKU)
	row(out, "BIOS", s.BIOS)
	row(out, "power", s.Power)
	row(out, "health", s.Health)
	row(out, "boot progress", s.BootProgress)
	row(out, "light", s.Indicator)
	row(out, "asset tag", s.AssetTag)
	s.renderHardware(out)
	row(out, "reset types", cmp.Or(strings.Join(s.ResetTypes, " "), "not told"))
	row(out, "boot targets", cmp.Or(strings.Join(s.BootTargets, " "), "not told"))
	row(out, "boot override", strings.TrimSpace(strings.Join([]string{s.Boot.Enabled, s.Boot.Target, s.Boot.Mode, s.Boot.HTTPURI}, " ")))
	for i, m := range s.Media {
		state := "empty"
		if m.Inserted {
			state = m.Image
		}
		row(out, first(i, "virtual media"), m.Slot+": "+state)
	}
	row(out, "not readable", strings.Join(s.Gaps, ", "))
	out.WriteByte('\n')
	for _, a := range s.Abilities {
		fmt.Fprintf(out, "  %-7s %-22s %s\n", map[Can]string{Yes: "can", No: "cannot", Untold: "may"}[a.Can], a.Name, a.Why)
	}
	out.WriteByte('\n')
}

func (s System) renderHardware(out *bytes.Buffer) {
	for i, p := range s.Processors {
		row(out, first(i, "processors"), fmt.Sprintf("%s  %d cores, %d threads  %s", p.ID, p.Cores, p.Threads, p.Model))
	}
	for i, p := range s.Accelerators {
		row(out, first(i, "accelerators"), p.ID+"  "+p.Model)
	}
	if s.MemoryBytes > 0 {
		row(out, "memory", size(s.MemoryBytes))
	}
	for i, n := range s.NICs {
		link := ""
		if n.LinkUp != nil {
			link = map[bool]string{true: "  link up", false: "  link down"}[*n.LinkUp]
		}
		row(out, first(i, "NICs"), n.MAC+"  "+n.Name+link)
	}
	for i, d := range s.Drives {
		row(out, first(i, "drives"), strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s", size(d.CapacityBytes), d.MediaType, d.Protocol, d.Name, d.Model)), " "))
	}
}

// row is a line of the table; what is not told has none.
func row(out *bytes.Buffer, name, value string) {
	if value != "" {
		fmt.Fprintf(out, "  %-14s %s\n", name, value)
	}
}

func first(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

// size is a number of bytes in the largest unit that leaves something before the point.
func size(bytes int64) string {
	value, unit := float64(bytes), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
}

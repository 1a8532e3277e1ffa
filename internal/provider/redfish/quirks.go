// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// quirk is one way in which BMCs differ from what the schemas lead to expect, and what Holdfast does about it.
type quirk struct {
	name string
	// applies detects it on a system; vendor is who made the BMC's software or, where that is not told, the machine.
	applies func(vendor string, s *system) bool
	// detection, behaviour and evidence are for people: how it is found, what the BMC does and what Holdfast does about it, where it was seen.
	detection, behaviour, evidence string
}

// QuirkBehaviour says, in Markdown, what a BMC with that quirk does and what Holdfast does about it; "" for a name that is none.
func QuirkBehaviour(name string) string {
	for _, q := range quirks {
		if q.name == name {
			return q.behaviour
		}
	}
	return ""
}

const (
	quirkLitIsNormal  = "indicator-lit-is-normal"
	quirkPendingBoot  = "boot-in-pending-settings"
	quirkOtherWords   = "boot-target-words"
	quirkNoAssetTag   = "no-asset-tag"
	quirkNoUUID       = "no-uuid"
	quirkProgressWord = "boot-progress-oem"
)

// quirks is the one table of differences. What every client has to expect (paging, nulls, ActionInfo, If-Match, tasks) is not in it.
var quirks = []quirk{
	{
		name:      quirkLitIsNormal,
		applies:   litIsNormal,
		detection: "vendor Dell, system with `IndicatorLED`",
		behaviour: "`Lit` is the normal state of the light and `Blinking` means identify: Holdfast reads and writes `Lit` as Off, `Blinking` as Lit.",
		evidence:  "iDRAC9 6.00 (R750)",
	},
	{
		name: quirkPendingBoot,
		applies: func(_ string, s *system) bool {
			return !s.doc.object("Boot").has(allowedTargetsKey) && s.doc.object("@Redfish.Settings").link("SettingsObject") != ""
		},
		detection: "system announces pending settings and tells no boot targets itself",
		behaviour: "Boot targets stand in the pending settings, and the boot override is kept there: Holdfast reads both documents with each look, and writes to the settings.",
		evidence:  "AMI MegaRAC (DGX H100); B092, B103, B128",
	},
	{
		name: quirkOtherWords,
		applies: func(_ string, s *system) bool {
			told := s.doc.object("Boot").texts(allowedTargetsKey)
			return len(told) > 0 && slices.ContainsFunc(told, func(word string) bool { return targetTold(s, word) != provider.BootTarget(word) })
		},
		detection: "boot targets lack `Cd` or `Hdd` and have another word for it",
		behaviour: "Holdfast uses the machine's word (`UsbCd`, `CD/DVD`, `UefiCd`, `UefiUsbCd`, `UefiHdd`) and shows the standard's.",
		evidence:  "Supermicro X10",
	},
	{
		name:      quirkNoAssetTag,
		applies:   func(_ string, s *system) bool { return !stampSupport(s) },
		detection: "system without `AssetTag`",
		behaviour: "The machine cannot be stamped. Restoring an older snapshot of the cluster needs `--after-restore`.",
		evidence:  "Supermicro X10, X13; BlueField-3; OpenBMC",
	},
	{
		name:      quirkNoUUID,
		applies:   func(_ string, s *system) bool { return s.uuid == "" },
		detection: "system without `UUID`, or with a placeholder that many boards share",
		behaviour: "The system is named by its Redfish `Id`, and its identity derives from serial number or manager.",
		evidence:  "BlueField-3; OpenBMC with the host off",
	},
	{
		name: quirkProgressWord,
		applies: func(_ string, s *system) bool {
			return s.doc.object("BootProgress").text("OemLastState") != ""
		},
		detection: "`BootProgress.OemLastState`",
		behaviour: "`OsIsRunning` is read as OSRunning, other words as not told.",
		evidence:  "BlueField-3",
	},
}

func litIsNormal(vendor string, s *system) bool {
	return strings.HasPrefix(strings.ToLower(vendor), "dell") && s.doc.has("IndicatorLED")
}

// litIsNormal says that quirkLitIsNormal applies.
func (b *BMC) litIsNormal(s *system) bool {
	root := b.root.Load()
	return root != nil && litIsNormal(b.vendor(root, []*system{s}), s)
}

// quirksOf lists the quirks that apply to any of the systems that can be reset, in the order of the table.
func quirksOf(vendor string, systems []*system) []string {
	var out []string
	for _, q := range quirks {
		if slices.ContainsFunc(systems, func(s *system) bool { return s.canReset() && q.applies(vendor, s) }) {
			out = append(out, q.name)
		}
	}
	return out
}

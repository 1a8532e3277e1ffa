// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// quirk is a way in which a vendor's BMCs differ from the standard, and what Holdfast does about it.
type quirk struct {
	name     string
	applies  func(vendor string, s *system) bool
	behavior string // what the BMC does and what Holdfast does about it, for people
}

// quirks is the one table of vendor differences.
var quirks = []quirk{{
	name:     quirkLitIsNormal,
	applies:  func(vendor string, s *system) bool { return isDell(vendor) && s.doc.has("IndicatorLED") },
	behavior: "IndicatorLED Lit is the normal state of the light, Blinking means identify: Lit is read and written as Off, Blinking as Lit.",
}}

const quirkLitIsNormal = "indicator-lit-is-normal"

func isDell(vendor string) bool { return strings.HasPrefix(strings.ToLower(vendor), "dell") }

// litIsNormal says that quirkLitIsNormal applies.
func (b *BMC) litIsNormal(s *system) bool { return b.has(quirkLitIsNormal, s) }

func (b *BMC) has(name string, s *system) bool {
	root := b.root.Load()
	if root == nil {
		return false
	}
	vendor := b.vendor(root, []*system{s})
	for _, q := range quirks {
		if q.name == name {
			return q.applies(vendor, s)
		}
	}
	return false
}

// quirkNames lists the quirks that apply to any system behind this BMC.
func (b *BMC) quirkNames(root *serviceRoot, systems []*system) []string {
	var out []string
	vendor := b.vendor(root, systems)
	for _, q := range quirks {
		for _, s := range systems {
			if q.applies(vendor, s) {
				out = append(out, q.name)
				break
			}
		}
	}
	return out
}

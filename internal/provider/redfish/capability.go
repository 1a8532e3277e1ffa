// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// capabilities tells what a system allows: for discovery and for people, never decided from.
func (b *BMC) capabilities(ctx context.Context, from reader, s *system) (*provider.Capabilities, error) {
	resets, err := b.allowedResets(ctx, from, s)
	if hopeless(err) {
		return nil, err
	}
	slots, err := b.mediaSlots(ctx, from, s, &gaps{})
	if hopeless(err) {
		return nil, err
	}
	c := &provider.Capabilities{
		BootTargets: s.doc.object("Boot").texts(allowedTargetsKey), Stamp: stampSupport(s), Indicator: b.readIndicator(s) != "",
		Media: len(slots) > 0, HTTPBoot: httpBootable(s), TargetsTold: len(bootTargets(s)) > 0,
	}
	for _, target := range []provider.BootTarget{provider.BootPXE, provider.BootHTTP, provider.BootCD, provider.BootDisk} {
		if _, ok := allowedTarget(s, target); ok {
			c.Armable = append(c.Armable, target)
		}
	}
	for _, r := range resets {
		c.ResetTypes = append(c.ResetTypes, string(r))
	}
	return c, nil
}

// allowedResets gives the reset types the system allows: told in place, else in the resource the action names (B027). An empty
// list means that it does not tell.
func (b *BMC) allowedResets(ctx context.Context, from reader, s *system) ([]schemas.ResetType, error) {
	action := s.resetAction()
	if told := action.texts("ResetType@Redfish.AllowableValues"); len(told) > 0 {
		return resetTypes(told), nil
	}
	at := b.actionInfo(s)
	if at == "" {
		return nil, nil
	}
	if known := b.known.resetTypes(at); len(known) > 0 {
		return known, nil
	}
	info, _, err := b.get(ctx, from, at, "ActionInfo", &gaps{})
	if err != nil {
		return nil, err
	}
	for _, p := range info.list("Parameters") {
		if p.text("Name") == "ResetType" {
			types := resetTypes(p.texts("AllowableValues"))
			b.known.rememberResets(at, types)
			return types, nil
		}
	}
	return nil, nil
}

func (b *BMC) actionInfo(s *system) string {
	return b.base.resolve(s.path, s.resetAction().link("@Redfish.ActionInfo"))
}

func resetTypes(told []string) []schemas.ResetType {
	out := make([]schemas.ResetType, 0, len(told))
	for _, t := range told {
		out = append(out, schemas.ResetType(t))
	}
	return out
}

// targetNames are the words BMCs were seen to have for a target where they lack the standard's, in order of preference.
var targetNames = map[provider.BootTarget][]string{
	provider.BootCD:   {"UsbCd", "CD/DVD", "UefiCd", "UefiUsbCd"},
	provider.BootDisk: {"UefiHdd"},
}

// allowedTarget gives the word this system has for a target. A system that does not tell is tried with the standard's word (B103).
func allowedTarget(s *system, want provider.BootTarget) (string, bool) {
	allowed := bootTargets(s)
	if len(allowed) == 0 || slices.Contains(allowed, string(want)) {
		return string(want), true
	}
	for _, name := range targetNames[want] {
		if slices.Contains(allowed, name) {
			return name, true
		}
	}
	return "", false
}

// targetTold is the reverse of allowedTarget; other words are passed through.
func targetTold(s *system, told string) provider.BootTarget {
	for target, names := range targetNames {
		if slices.Contains(names, told) && !slices.Contains(bootTargets(s), string(target)) {
			return target
		}
	}
	return provider.BootTarget(told)
}

// allowedEnabled falls back to Once where the system knows no Continuous: whoever wants it arms it again (B098).
func allowedEnabled(s *system, want provider.BootEnabled) provider.BootEnabled {
	allowed := s.boots("BootSourceOverrideEnabled@Redfish.AllowableValues")
	if want == provider.BootContinuous && len(allowed) > 0 && !slices.Contains(allowed, string(want)) {
		return provider.BootOnce
	}
	return want
}

// httpBootable says that the Boot object has a place for a URI.
func httpBootable(s *system) bool {
	_, here := s.doc.object("Boot").members["HttpBootUri"]
	_, pending := s.pending.object("Boot").members["HttpBootUri"]
	return here || pending
}

// bootTargets gives the override targets that can be written, in the system's words. Empty where neither it nor its pending
// settings tell.
func bootTargets(s *system) []string {
	return s.boots(allowedTargetsKey)
}

const allowedTargetsKey = "BootSourceOverrideTarget@Redfish.AllowableValues"

// boots gives a list of the Boot object: the system's, else the pending settings'.
func (s *system) boots(key string) []string {
	if told := s.doc.object("Boot").texts(key); len(told) > 0 {
		return told
	}
	return s.pending.object("Boot").texts(key)
}

// firstAllowed gives the first of the wanted reset types that is allowed; the first at all where the system does not tell.
func firstAllowed(allowed []schemas.ResetType, wanted ...schemas.ResetType) (schemas.ResetType, bool) {
	if len(allowed) == 0 {
		return wanted[0], true
	}
	for _, w := range wanted {
		if slices.Contains(allowed, w) {
			return w, true
		}
	}
	return "", false
}

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
	c := &provider.Capabilities{BootTargets: bootTargets(s), Stamp: stampSupport(s), Indicator: b.readIndicator(s) != ""}
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
	at := b.base.resolve(s.path, action.link("@Redfish.ActionInfo"))
	if at == "" {
		return nil, nil
	}
	info, _, err := b.get(ctx, from, at, "ActionInfo", &gaps{})
	if err != nil {
		return nil, err
	}
	for _, p := range info.list("Parameters") {
		if p.text("Name") == "ResetType" {
			return resetTypes(p.texts("AllowableValues")), nil
		}
	}
	return nil, nil
}

func resetTypes(told []string) []schemas.ResetType {
	out := make([]schemas.ResetType, 0, len(told))
	for _, t := range told {
		out = append(out, schemas.ResetType(t))
	}
	return out
}

// bootTargets gives the override targets the system allows, as it writes them. Empty where it does not tell.
func bootTargets(s *system) []string {
	return s.doc.object("Boot").texts("BootSourceOverrideTarget@Redfish.AllowableValues")
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

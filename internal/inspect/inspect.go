// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
)

// Inspect looks at the BMC that observer speaks to: at all its systems that can be reset, or at the one that system names. What goes wrong is in
// the report; there is always one.
func Inspect(ctx context.Context, endpoint string, observer provider.Observer, system provider.SystemRef) Report {
	report := Report{Endpoint: endpoint}
	found, err := observer.Discover(ctx)
	if err != nil {
		return report.failed(err)
	}
	report.BMC = describeBMC(found)
	refs := []provider.SystemRef{system}
	if (system == provider.SystemRef{}) {
		refs = hosts(found)
	}
	for _, ref := range refs {
		s, err := inspectSystem(ctx, observer, ref)
		if err != nil && len(refs) == 1 {
			return report.failed(err)
		}
		if err != nil {
			s = System{ID: ref.ID, UUID: ref.UUID, Error: describeError(err)}
		}
		report.Systems = append(report.Systems, s)
	}
	return report.judged()
}

// For is the report for what the account in use may do: one that may look and not act makes no machine usable. The zero account, of a BMC that
// does not tell, changes nothing.
func (r Report) For(account redfish.Account) Report {
	if r.BMC == nil || r.Error != nil || account.Role == "" {
		return r
	}
	bmc := *r.BMC
	bmc.Account = &Account{Role: account.Role, Privileges: account.Privileges}
	r.BMC = &bmc
	if len(account.Privileges) == 0 || slices.Contains(account.Privileges, redfish.ConfigureComponents) {
		return r
	}
	why := "the account's role " + account.Role + " lacks the privilege " + redfish.ConfigureComponents
	r.Systems = slices.Clone(r.Systems)
	for i := range r.Systems {
		r.Systems[i].Abilities, r.Systems[i].Usable = withoutPrivilege(r.Systems[i].Abilities, why), false
	}
	if r.Verdict == Usable {
		r.Verdict, r.Why = NotUsable, why
	}
	return r
}

// hosts names the systems that can be reset. By UUID and Id where both are told: several boards may say one UUID.
func hosts(found provider.BMCFacts) []provider.SystemRef {
	var out []provider.SystemRef
	for _, s := range found.Systems {
		if s.CanReset {
			out = append(out, provider.SystemRef{UUID: s.UUID, ID: s.ID})
		}
	}
	return out
}

func inspectSystem(ctx context.Context, observer provider.Observer, ref provider.SystemRef) (System, error) {
	facts, err := observer.Observe(ctx, ref, provider.DepthInventory, "")
	if err != nil {
		return System{}, err
	}
	media, err := observer.Observe(ctx, ref, provider.DepthMedia, "")
	if err != nil {
		return System{}, err
	}
	facts.Media = media.Media
	return describeSystem(facts), nil
}

// judged fills in the verdict.
func (r Report) judged() Report {
	var unread bool
	for _, s := range r.Systems {
		if s.Usable {
			r.Verdict, r.Why = Usable, "Holdfast can switch "+plural(r.Systems)+" on and off; what else it can do is told above"
			return r
		}
		unread = unread || s.Error != nil
	}
	switch {
	case unread:
		r.Verdict, r.Why = Unknown, "a system could not be read"
	case len(r.Systems) == 0 && len(r.BMC.Gaps) > 0:
		r.Verdict, r.Why = Unknown, "no system with a reset action was found, and not all could be read: "+strings.Join(r.BMC.Gaps, ", ")
	case len(r.Systems) == 0:
		r.Verdict, r.Why = NotUsable, "no system behind this BMC has a reset action"
	default:
		r.Verdict, r.Why = NotUsable, "Holdfast cannot switch the machine on and off"
	}
	return r
}

func plural(systems []System) string {
	n := 0
	for _, s := range systems {
		if s.Usable {
			n++
		}
	}
	if n == 1 && len(systems) == 1 {
		return "the machine"
	}
	if n == len(systems) {
		return "all machines"
	}
	return "some of the machines"
}

// failed is the report of an inspection that came to no end.
func (r Report) failed(err error) Report {
	r.Verdict, r.Error = Unknown, describeError(err)
	if r.Error.Reason == provider.ReasonNotRedfish {
		r.Verdict = NotUsable
	}
	r.Why = r.Error.Message
	return r
}

func describeError(err error) *Error {
	var e *provider.Error
	if errors.As(err, &e) {
		return &Error{Class: string(e.Class), Reason: e.Reason, Message: e.Message}
	}
	return &Error{Class: string(provider.ClassOf(err)), Reason: provider.ReasonUnreachable, Message: "the BMC could not be looked at"}
}

func describeBMC(found provider.BMCFacts) *BMC {
	b := &BMC{Vendor: found.Vendor, Model: found.Model, Firmware: found.Firmware, UUID: found.UUID, AuthMode: found.AuthMode, Gaps: found.Gaps}
	for _, name := range found.Quirks {
		b.Quirks = append(b.Quirks, Quirk{Name: name, Behaviour: redfish.QuirkBehaviour(name)})
	}
	for _, s := range found.Systems {
		if !s.CanReset {
			b.Others = append(b.Others, s.ID)
		}
	}
	return b
}

func describeSystem(facts provider.SystemFacts) System {
	hw, c := facts.Hardware, facts.Capabilities
	if hw == nil {
		hw = &provider.Hardware{}
	}
	if c == nil {
		c = &provider.Capabilities{}
	}
	s := System{
		ID: facts.ID, UUID: facts.UUID, Manufacturer: hw.Manufacturer, Model: hw.Model, Serial: hw.Serial, SKU: hw.SKU, BIOS: hw.BIOSVersion,
		Power: string(facts.Power), Health: facts.Health, BootProgress: string(facts.BootProgress), Indicator: string(facts.Indicator), AssetTag: facts.AssetTag,
		MemoryBytes: hw.MemoryBytes, Processors: []Processor{}, NICs: []NIC{}, Drives: []Drive{}, Media: []Slot{},
		ResetTypes: append([]string{}, c.ResetTypes...), BootTargets: append([]string{}, c.BootTargets...),
		Boot:      Boot{Target: string(facts.Boot.Target), Enabled: string(facts.Boot.Enabled), Mode: facts.Boot.Mode, HTTPURI: facts.Boot.HTTPURI},
		Abilities: abilities(facts), Gaps: facts.Gaps,
	}
	for _, p := range hw.Processors {
		s.Processors = append(s.Processors, Processor(p))
	}
	for _, p := range hw.Accelerators {
		s.Accelerators = append(s.Accelerators, Processor(p))
	}
	for _, n := range hw.NICs {
		s.NICs = append(s.NICs, NIC(n))
	}
	for _, d := range hw.Drives {
		s.Drives = append(s.Drives, Drive(d))
	}
	for _, m := range facts.Media {
		s.Media = append(s.Media, Slot(m))
	}
	s.Usable = usable(s.Abilities)
	return s
}

// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Names of the abilities.
const (
	AbilityIdentity  = "know it again"
	AbilityPowerOn   = "power on"
	AbilityShutDown  = "shut down"
	AbilityCutPower  = "cut the power"
	AbilityPXE       = "boot by PXE"
	AbilityHTTP      = "boot by HTTP URI"
	AbilityMedia     = "boot by virtual media"
	AbilityDisk      = "boot the disk once"
	AbilityStamp     = "stamp"
	AbilityIndicator = "light"
)

// abilities says what Holdfast can do to a system, from what the system tells. Nothing is tried.
func abilities(facts provider.SystemFacts) []Ability {
	c := facts.Capabilities
	if c == nil {
		c = &provider.Capabilities{}
	}
	return []Ability{
		identity(facts),
		reset(c, AbilityPowerOn, "the machine cannot be switched on", "On", "ForceOn"),
		reset(c, AbilityShutDown, "the operating system cannot be asked to stop: power can only be cut", "GracefulShutdown"),
		reset(c, AbilityCutPower, "a machine that does not stop by itself cannot be switched off", "ForceOff"),
		target(c, AbilityPXE, provider.BootPXE),
		httpBoot(c),
		mediaBoot(facts, c),
		target(c, AbilityDisk, provider.BootDisk),
		either(AbilityStamp, c.Stamp, "the asset tag can be written, unless the BMC alters it",
			"there is no asset tag: the machine cannot remember whose it is, and restoring an older snapshot of the cluster needs --after-restore"),
		either(AbilityIndicator, c.Indicator, "there is an identification light", "there is no identification light"),
	}
}

func identity(facts provider.SystemFacts) Ability {
	a := Ability{Name: AbilityIdentity, Can: Yes}
	switch {
	case facts.UUID != "":
		a.Why = "by its UUID"
	case facts.Hardware != nil && facts.Hardware.Serial != "":
		a.Why = "it tells no UUID: by its serial number; name it by spec.redfish.systemID"
	default:
		a.Why = "it tells neither UUID nor serial number: by the manager's UUID and the Id of the system alone; name it by spec.redfish.systemID"
	}
	return a
}

// reset says that the system allows one of the wanted reset types.
func reset(c *provider.Capabilities, name, without string, wanted ...string) Ability {
	if len(c.ResetTypes) == 0 {
		return Ability{Name: name, Can: Untold, Why: "the system tells no reset types"}
	}
	for _, w := range wanted {
		if slices.Contains(c.ResetTypes, w) {
			return Ability{Name: name, Can: Yes, Why: "reset type " + w}
		}
	}
	return Ability{Name: name, Can: No, Why: "no reset type " + strings.Join(wanted, " or ") + ": " + without}
}

// target says that an override to that boot target can be armed.
func target(c *provider.Capabilities, name string, wanted provider.BootTarget) Ability {
	switch {
	case !slices.Contains(c.Armable, wanted):
		return Ability{Name: name, Can: No, Why: "no boot target " + string(wanted)}
	case !c.TargetsTold:
		return Ability{Name: name, Can: Untold, Why: "the system tells no boot targets"}
	}
	return Ability{Name: name, Can: Yes, Why: "boot target " + string(wanted)}
}

func httpBoot(c *provider.Capabilities) Ability {
	a := target(c, AbilityHTTP, provider.BootHTTP)
	if a.Can != No && !c.HTTPBoot {
		return Ability{Name: AbilityHTTP, Can: No, Why: "the boot override has no HttpBootUri"}
	}
	return a
}

func mediaBoot(facts provider.SystemFacts, c *provider.Capabilities) Ability {
	a := target(c, AbilityMedia, provider.BootCD)
	switch {
	case a.Can == No:
		return a
	case len(facts.Media) > 0:
		slots := make([]string, 0, len(facts.Media))
		for _, s := range facts.Media {
			slots = append(slots, s.Slot)
		}
		a.Why += ", slot " + strings.Join(slots, " or ")
		return a
	case facts.Media == nil:
		return Ability{Name: AbilityMedia, Can: Untold, Why: "the slots for virtual media could not be read"}
	}
	return Ability{Name: AbilityMedia, Can: No, Why: "there is no slot for a CD or DVD image"}
}

func either(name string, can bool, with, without string) Ability {
	if can {
		return Ability{Name: name, Can: Yes, Why: with}
	}
	return Ability{Name: name, Can: No, Why: without}
}

// usable says that Holdfast can run the system: switch it on and off. Ways to boot are a matter of what claims ask for.
func usable(list []Ability) bool {
	return can(list, AbilityPowerOn) != No && can(list, AbilityCutPower) != No
}

// withoutPrivilege are the abilities of an account that may look and not act.
func withoutPrivilege(list []Ability, why string) []Ability {
	out := slices.Clone(list)
	for i := range out {
		if out[i].Name != AbilityIdentity && out[i].Can != No {
			out[i].Can, out[i].Why = No, why
		}
	}
	return out
}

func can(list []Ability, name string) Can {
	for _, a := range list {
		if a.Name == name {
			return a.Can
		}
	}
	return No
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// resetSystem is the action ComputerSystem.Reset.
func (c *call) resetSystem(m *Machine) *reply {
	var body struct{ ResetType *string }
	if bad := c.decode(&body); bad != nil {
		return bad
	}
	if body.ResetType == nil {
		return redfishError(http.StatusBadRequest, "ActionParameterMissing",
			"The action ComputerSystem.Reset requires that the parameter ResetType be present in the request body.", "ComputerSystem.Reset", "ResetType")
	}
	kind := *body.ResetType
	if !slices.Contains(c.bmc.profile.ResetTypes, kind) {
		return notAllowable("ResetType", kind)
	}
	if bad := m.refuseReset(kind); bad != nil {
		return bad
	}
	at, why := c.now(), c.cause()
	m.record(Event{At: at, Kind: EventReset, To: kind, cause: why})
	m.resetAt = at
	if c.bmc.behaviour.IgnoreReset {
		m.record(Event{At: at, Kind: EventIgnored, Detail: kind, cause: why})
		return noContent()
	}
	if c.bmc.behaviour.AsyncReset {
		return c.startTask("Reset of system "+m.id, func(at time.Time) { m.reset(at, kind, why) })
	}
	m.reset(at, kind, why)
	return noContent()
}

// refuseReset is what keeps a BMC from trying.
func (m *Machine) refuseReset(kind string) *reply {
	down := m.state.Step == stepPause || m.state.Power == PoweringOff && wantsOn(kind)
	if wait := m.notNow(m.rack.now()); wait != nil && kind != "ForceOff" {
		return wait
	}
	switch {
	case m.state.NoMains:
		return redfishError(http.StatusServiceUnavailable, "ResourceInStandby", "The request could not be performed because the resource is in standby.")
	case down && kind != "ForceOff":
		r := redfishError(http.StatusConflict, "ResourceInUse", "The change to the requested resource failed because the resource is in use or in transition.")
		r.header.Set("Retry-After", "1")
		return r
	case m.state.Power == PowerOff && needsOn(kind):
		return redfishError(http.StatusConflict, "ChassisPowerStateOnRequired",
			fmt.Sprintf("The Chassis with Id '%s' requires to be powered on to perform this request.", m.id), m.id)
	case m.bmc.behaviour.RefuseNoopReset && m.isThere(kind):
		return redfishError(http.StatusConflict, "NoOperation", "The machine is already in the requested power state.")
	}
	return nil
}

// notNow refuses what comes too soon after a reset (Behaviour.NotNowAfterReset).
func (m *Machine) notNow(at time.Time) *reply {
	till := m.resetAt.Add(m.bmc.behaviour.NotNowAfterReset.Std())
	if m.resetAt.IsZero() || !at.Before(till) {
		return nil
	}
	r := redfishError(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable. Retry in 1 seconds.", "1")
	r.header.Set("Retry-After", "1")
	return r
}

func wantsOn(kind string) bool { return kind == "On" || kind == "ForceOn" }

func wantsOff(kind string) bool { return kind == "ForceOff" || kind == "GracefulShutdown" }

func needsOn(kind string) bool {
	return slices.Contains([]string{"GracefulRestart", "ForceRestart", "PowerCycle", "Nmi"}, kind)
}

// isThere reports whether the machine is where the reset would bring it.
func (m *Machine) isThere(kind string) bool {
	return wantsOn(kind) && m.state.Power == PowerOn || wantsOff(kind) && m.state.Power == PowerOff
}

// reset does what a reset type says. What it asks of a machine that is already there has no effect.
func (m *Machine) reset(at time.Time, kind string, why cause) {
	switch kind {
	case "On", "ForceOn":
		m.powerOn(at, why)
	case "ForceOff":
		m.forceOff(at, stayOff, why)
	case "PowerCycle":
		m.forceOff(at, coldBoot, why)
	case "GracefulShutdown":
		m.shutDown(at, stayOff, why)
	case "GracefulRestart":
		m.shutDown(at, warmBoot, why)
	case "ForceRestart":
		if m.state.Power == PowerOn || m.state.Power == PoweringOn {
			m.startPOST(at, why)
		}
	case "PushPowerButton":
		if m.state.Power == PowerOff {
			m.powerOn(at, why)
		} else {
			m.shutDown(at, stayOff, why)
		}
	}
}

func notAllowable(parameter, value string) *reply {
	return redfishError(http.StatusBadRequest, "ActionParameterValueNotInList",
		fmt.Sprintf("The value '%s' for the parameter %s is not in the list of acceptable values.", value, parameter), value, parameter)
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// Profiles are the models the simulator can play, by name. Each is made from what captures of a real BMC show,
// as documents of the simulator's own; no payload is copied.
func Profiles() map[string]Profile {
	return map[string]Profile{
		"conforming":            Conforming(),
		"dell-idrac9":           DellIDRAC9(),
		"hpe-ilo5":              HPEiLO5(),
		"hpe-ilo6":              HPEiLO6(),
		"lenovo-xcc":            LenovoXCC(),
		"supermicro-x13":        SupermicroX13(),
		"supermicro-x10":        SupermicroX10(),
		"gigabyte-megarac":      GigabyteMegaRAC(),
		"nvidia-dgx-h100":       NVIDIADGXH100(),
		"nvidia-bluefield3":     NVIDIABlueField3(),
		"openbmc":               OpenBMC(),
		"openbmc-evb-host-dark": OpenBMCUnknownHost(),
	}
}

// Members of systems that several models lack.
const (
	noAssetTag     = "AssetTag"
	noRestore      = "PowerRestorePolicy"
	noProgress     = "BootProgress"
	noResetTime    = "LastResetTime"
	noLED          = "IndicatorLED"
	noLocation     = "LocationIndicatorActive"
	noBootURI      = "HttpBootUri"
	noEnabledTold  = "BootSourceOverrideEnabled@Redfish.AllowableValues"
	noModesTold    = "BootSourceOverrideMode@Redfish.AllowableValues"
	noNICLink      = "EthernetInterfaces"
	noUUID         = "UUID"
	noManufacturer = "Manufacturer"
)

// Ailments that several vendors' BMCs share.
var (
	overrideShowsLate = Ailment{Name: "override-shows-late", Cases: []string{"B097"}, Behave: func(b *Behaviour) { b.OverrideLag = seconds(10) }}
	noopRefused       = Ailment{Name: "reset-that-changes-nothing-refused", Cases: []string{"B033"}, Behave: func(b *Behaviour) { b.RefuseNoopReset = true }}
	transitionsHidden = Ailment{Name: "transitions-hidden", Cases: []string{"B030"}, Behave: func(b *Behaviour) { b.HideTransitions = true }}
	matchDemanded     = Ailment{Name: "if-match-demanded", Behave: func(b *Behaviour) { b.RequireIfMatch = true }}
	bodyDemanded      = Ailment{Name: "empty-body-refused", Cases: []string{"B120"}, Behave: func(b *Behaviour) { b.NoEmptyBody = true }}
	ejectShowsLate    = Ailment{Name: "eject-shows-late", Cases: []string{"B113"}, Behave: func(b *Behaviour) { b.EjectLag = seconds(10) }}
	queryRefused      = Ailment{Name: "media-url-with-query-refused", Cases: []string{"B122"}, Behave: func(b *Behaviour) { b.MediaNoQuery = true }}
	busyAfterReset    = Ailment{Name: "not-now-after-reset", Behave: func(b *Behaviour) { b.NotNowAfterReset = seconds(5) }}
	blankAfterRestart = Ailment{Name: "blank-after-bmc-restart", Cases: []string{"B018"}, Behave: func(b *Behaviour) { b.BlankAfterReboot = seconds(30) }}
	resetsIgnored     = Ailment{Name: "resets-ignored", Cases: []string{"B034"}, Behave: func(b *Behaviour) { b.IgnoreReset = true }}
)

// isSystem reports whether the path is a ComputerSystem's.
func isSystem(path string) bool {
	rest, under := strings.CutPrefix(path, systemsPath+"/")
	return under && !strings.Contains(rest, "/")
}

// under reports whether the path is a member of a collection of that Id.
func under(path, collection string) bool {
	_, item, found := strings.Cut(path, "/"+collection+"/")
	return found && !strings.Contains(item, "/")
}

// upper writes a document's UUID in upper case.
func upper(doc obj) {
	if uuid, told := doc["UUID"].(string); told {
		doc["UUID"] = strings.ToUpper(uuid)
	}
}

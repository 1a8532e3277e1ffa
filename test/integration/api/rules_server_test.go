// SPDX-License-Identifier: Apache-2.0

package api

import "strings"

const (
	aName      = "must be the name of an object"
	aLabelKey  = "must be a label key"
	aLabel     = "must be a label value"
	immutable  = "immutable: "
	notTheName = "Upper_Case"
)

var (
	uid36    = "38947555-7742-3448-3784-823347823834"
	badNames = []any{notTheName, "-a", "a/b", "", "a b"}
)

var serverRules = []rule{
	{
		kind: "Server", at: "spec.redfish", message: immutable,
		accept: []try{{before: set{}, now: set{"spec.power": "On"}}},
		reject: []try{
			{before: set{}, now: set{"spec.redfish.bmcRef.name": "rack1-u08"}},
			{before: set{}, now: set{"spec.redfish.systemID": "1"}},
			{before: set{"spec.redfish.systemUUID": uid36}, now: set{"spec.redfish.systemUUID": nil}},
		},
	},
	{
		kind: "Server", at: "spec.redfish", message: "give systemUUID or systemID, not both",
		accept: created(set{}, set{"spec.redfish.systemUUID": uid36}, set{"spec.redfish.systemID": "1"}),
		reject: created(set{"spec.redfish.systemUUID": uid36, "spec.redfish.systemID": "1"}),
	},
	{
		kind: "Server", at: "spec.redfish.systemUUID", message: "must be a UUID",
		accept: at("spec.redfish.systemUUID", uid36, "4C4C4544-004D-4A10-8056-B7C04F4D3532", "00000000-0000-0000-0000-7CC2559FAEFF"),
		reject: at("spec.redfish.systemUUID", "", "rack1-u07", "3894755577423448378482334782383", uid36[:35],
			"00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-FFFF-FFFF-FFFFFFFFFFFF", "389475557742344837848233478238341234"),
	},
	{
		kind: "Server", at: "spec.redfish.systemID", message: "must be the Id of a ComputerSystem",
		accept: at("spec.redfish.systemID", "1", "System.Embedded.1", "Self", "437XR1138R2", "Blade 7"),
		reject: at("spec.redfish.systemID", "/redfish/v1/Systems/1", " a", "a ", "a\tb", "a\u0007b"),
	},
	{
		kind: "Server", at: "spec.redfish.bmcRef.name", message: aName,
		accept: at("spec.redfish.bmcRef.name", "rack1-u07", "rack1.u07"),
		reject: at("spec.redfish.bmcRef.name", badNames...),
	},
	{
		kind: "Server", at: "spec.taints[].key", message: aLabelKey,
		accept: created(taint("spec.taints", "gpu", "a100"), taint("spec.taints", "example.com/gpu", "")),
		reject: created(taint("spec.taints", "", ""), taint("spec.taints", "a b", ""), taint("spec.taints", "a/b/c", "")),
	},
	{
		kind: "Server", at: "spec.taints[].value", message: aLabel,
		accept: created(taint("spec.taints", "gpu", "A100_80.G")),
		reject: created(taint("spec.taints", "gpu", "a b"), taint("spec.taints", "gpu", "-a")),
	},
	{
		kind: "Server", at: "spec.claimRef", message: "claimRef goes from one claim to another only by being cleared",
		accept: []try{
			{before: set{}, now: set{"spec.claimRef": claimRef()}},
			{before: set{"spec.claimRef": claimRef()}, now: set{"spec.claimRef": nil}},
			{before: set{"spec.claimRef": claimRef()}, now: set{"spec.claimRef.uid": "restored"}},
		},
		reject: []try{
			{before: set{"spec.claimRef": claimRef()}, now: set{"spec.claimRef.namespace": "other"}},
			{before: set{"spec.claimRef": claimRef()}, now: set{"spec.claimRef.name": "other"}},
			{before: set{"spec.claimRef": claimRef()}, now: set{"spec.claimRef.identity": "other", "spec.claimRef.uid": "other"}},
		},
	},
	{
		kind: "Server", at: "spec.claimRef.namespace", message: "must be the name of a namespace",
		accept: created(reference("spec.claimRef", claimRef(), "namespace", "team-a")),
		reject: created(reference("spec.claimRef", claimRef(), "namespace", "team.a"),
			reference("spec.claimRef", claimRef(), "namespace", "")),
	},
	{
		kind: "Server", at: "spec.claimRef.name", message: "must be the name of a ServerClaim",
		accept: created(reference("spec.claimRef", claimRef(), "name", "web.1")),
		reject: created(reference("spec.claimRef", claimRef(), "name", notTheName)),
	},
	{
		kind: "Server", at: "spec.maintenanceRef", message: "maintenanceRef goes from one maintenance to another only by being cleared",
		accept: []try{
			{before: set{}, now: set{"spec.maintenanceRef": maintenanceRef()}},
			{before: set{"spec.maintenanceRef": maintenanceRef()}, now: set{"spec.maintenanceRef": nil}},
			{before: set{"spec.maintenanceRef": maintenanceRef()}, now: set{"spec.maintenanceRef.uid": "restored"}},
		},
		reject: []try{{before: set{"spec.maintenanceRef": maintenanceRef()}, now: set{"spec.maintenanceRef.name": "m2"}}},
	},
	{
		kind: "Server", at: "spec.maintenanceRef.name", message: "must be the name of a ServerMaintenance",
		accept: created(set{"spec.maintenanceRef": maintenanceRef()}),
		reject: created(reference("spec.maintenanceRef", maintenanceRef(), "name", notTheName)),
	},
	{
		kind: "ServerMaintenance", at: "spec.serverRef", message: immutable,
		accept: []try{{before: set{}, now: set{"spec.power": "Off", "spec.reason": "new DIMM"}}},
		reject: []try{{before: set{}, now: set{"spec.serverRef.name": "rack1-u08"}}},
	},
	{
		kind: "ServerMaintenance", at: "spec.serverRef.name", message: aName,
		accept: at("spec.serverRef.name", "rack1-u07"),
		reject: at("spec.serverRef.name", badNames...),
	},
}

func taint(path, key, value string) set {
	return set{path: []any{map[string]any{"key": key, "value": value, "effect": "NoBind"}}}
}

func reference(path string, whole map[string]any, field, value string) set {
	whole[field] = value
	return set{path: whole}
}

func long(length int) string { return strings.Repeat("a", length) }

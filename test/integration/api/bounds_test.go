// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What a schema says without CEL: sets of words, lengths, numbers, what must be there, and fields that do not exist.
func TestWordsLengthsAndNumbers(t *testing.T) {
	tests := map[string][]set{
		"Server": {
			{"spec.redfish": nil},
			{"spec.redfish.bmcRef": nil},
			{"spec.power": "on"},
			{"spec.powerOff": "Always"},
			{"spec.foundRunning": "Ignore"},
			{"spec.reclaimPolicy": "Keep"},
			{"spec.cleaning": "Wipe"},
			{"spec.indicatorLED": "Red"},
			{"spec.redfish.systemID": long(129)},
			{"spec.redfish.bmcRef.name": long(254)},
			{"spec.taints": []any{map[string]any{"key": "gpu", "effect": "NoExecute"}}},
			{"spec.taints": []any{map[string]any{"key": "gpu"}}},
			{"spec.taints": twice(map[string]any{"key": "gpu", "effect": "NoBind"})},
			{"spec.claimRef": map[string]any{"namespace": "a", "name": "b", "uid": "c"}},
			{"spec.claimRef": map[string]any{"namespace": "a", "name": "b", "identity": "", "uid": "c"}},
			{"spec.maintenanceRef": map[string]any{"name": "a"}},
			{"spec.openstack": map[string]any{}},
		},
		"vm": {
			{openstack + ".cloudRef": nil},
			{openstack + ".flavor": nil},
			{openstack + ".image": nil},
			{networks: nil},
			{networks: []any{}},
			{networks: slices.Repeat([]any{attachment("private")}, 9)},
			{openstack + ".rebuildPolicy": "Always"},
			{openstack + ".image": map[string]any{"tags": []any{}}},
			{openstack + ".image": map[string]any{"tags": []any{"a,b"}}},
			{openstack + ".image": map[string]any{"tags": twice("a")}},
			{openstack + ".image": map[string]any{"id": "a/b"}},
			{openstack + ".image": map[string]any{"name": ""}},
			{openstack + ".sshCertificateAuthorityRefs": authorities("staff", "staff")},
			{openstack + ".userDataSecretRef": map[string]any{"namespace": "other", "name": "a"}},
			{openstack + ".keyName": ""},
			port("allowedAddressPairs", []any{map[string]any{"ipAddress": "10.0.0.5", "macAddress": "00:11"}}),
			{openstack + ".adminPass": "canary"},
		},
		"ServerClass": {
			{"spec.openstack": nil},
			{"spec.labels": map[string]any{"size": long(64)}},
			{"spec.taints": twice(map[string]any{"key": "gpu", "effect": "NoBind"})},
		},
		"Cloud": {
			{"spec.cloudsSecretRef": nil},
			{"spec.cloudName": nil},
			{"spec.cloudName": ""},
			{"spec.region": ""},
			{"spec.cloudsSecretRef": map[string]any{"namespace": "other", "name": "a"}},
			{"spec.password": "canary"},
		},
		"SSHCertificateAuthority": {
			{"spec.publicKeys": nil},
			{"spec.publicKeys": []any{}},
			{"spec.publicKeys": []any{"-----BEGIN OPENSSH PRIVATE KEY-----"}},
			{"spec.publicKeys": []any{"ssh-ed25519 AAAA\nssh-rsa AAAA"}},
			{"spec.publicKeys": []any{"command=\"sh\" ssh-ed25519 AAAA"}},
			{"spec.principals": []any{map[string]any{"login": "root"}}},
			{"spec.principals": []any{map[string]any{"login": "root", "principals": []any{"a b"}}}},
			{"spec.principals": []any{map[string]any{"login": "root", "principals": []any{"staff#2"}}}}, // sshd reads no further than #
			{"spec.principals": []any{map[string]any{"login": "../root", "principals": []any{"a"}}}},
			{"spec.principals": twice(map[string]any{"login": "root", "principals": []any{"a"}})},
		},
		"ServerClaim": {
			{"spec.power": "Reset"},
			{"spec.boot.method": "Floppy"},
			{"spec.boot.when": "Never"},
			{"spec.boot.image": "http://a/" + long(2048)},
			{"spec.requirements.cpuCores": int64(-1)},
			{"spec.requirements.memory": "much"},
			{"spec.requirements.disks": []any{map[string]any{"type": "Tape"}}},
			{"spec.restartedAt": "now"},
			{"spec.serverName": ""},
			{"spec.serverRef": map[string]any{"namespace": "other", "name": "a"}},
			{"spec.boot.userDataSecretRef": map[string]any{"namespace": "other", "name": "a"}},
			{"spec.className": ""},
			{"spec.class": "small"},
		},
		"BMC": {
			{"spec.endpoint": nil},
			{"spec.endpoint": "https://a/" + long(512)},
			{"spec.credentialsSecretRef": nil},
			{"spec.credentialsSecretRef": map[string]any{"namespace": "other", "name": "a"}},
			{"spec.serverTemplate.labels": map[string]any{"rack": long(64)}},
			{"spec.password": "canary"},
		},
		"ServerMaintenance": {
			{"spec.serverRef": nil},
			{"spec.policy": "Now"},
			{"spec.power": "Reset"},
			{"spec.reason": long(1025)},
		},
	}
	for kind, refused := range tests {
		for _, changes := range refused {
			c := client.WithFieldValidation(as(t, admin), "Strict")
			err := c.Create(t.Context(), build(kind, unique("bounds"), changes), client.DryRunAll)
			if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Errorf("%s %v: got %v, want refused", kind, changes, err)
			}
		}
	}
}

// What people may want and what was seen may be at the limits.
func TestLimitsAreReachable(t *testing.T) {
	accepted := map[string]set{
		"Server":                  {"spec.redfish.systemID": long(128), "spec.indicatorLED": "Blinking", "spec.paused": true},
		"ServerClaim":             {"spec.boot.image": "http://a/" + long(2048-len("http://a/")), "spec.requirements.cpuCores": int64(0)},
		"BMC":                     {"spec.endpoint": "https://a/" + long(512-len("https://a/")), "spec.serverTemplate.labels": map[string]any{"rack": long(63)}},
		"ServerMaintenance":       {"spec.reason": long(1024)},
		"vm":                      {networks: slices.Repeat([]any{attachment(long(255))}, 8), "spec.reclaimPolicy": "Retain"},
		"ServerClass":             {"spec.labels": map[string]any{"size": long(63)}},
		"Cloud":                   {"spec.cloudName": long(253), "spec.region": long(255)},
		"SSHCertificateAuthority": {"spec.principals": []any{map[string]any{"login": "root", "principals": []any{"staff:admins"}}}},
	}
	for kind, changes := range accepted {
		if err := as(t, admin).Create(t.Context(), build(kind, unique("limits"), changes), client.DryRunAll); err != nil {
			t.Errorf("%s %v: %v", kind, changes, err)
		}
	}
}

func twice(item any) []any { return []any{item, item} }

// SPDX-License-Identifier: Apache-2.0

package api

import (
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
			{"spec.reclaimPolicy": "Delete"},
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
			{"spec.className": "small"},
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
		"Server":            {"spec.redfish.systemID": long(128), "spec.indicatorLED": "Blinking", "spec.paused": true},
		"ServerClaim":       {"spec.boot.image": "http://a/" + long(2048-len("http://a/")), "spec.requirements.cpuCores": int64(0)},
		"BMC":               {"spec.endpoint": "https://a/" + long(512-len("https://a/")), "spec.serverTemplate.labels": map[string]any{"rack": long(63)}},
		"ServerMaintenance": {"spec.reason": long(1024)},
	}
	for kind, changes := range accepted {
		if err := as(t, admin).Create(t.Context(), build(kind, unique("limits"), changes), client.DryRunAll); err != nil {
			t.Errorf("%s %v: %v", kind, changes, err)
		}
	}
}

func twice(item any) []any { return []any{item, item} }

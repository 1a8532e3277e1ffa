// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"testing"

	"k8s.io/client-go/rest"
)

// A heap profile holds credentials: it is served on the loopback interface, or not at all, and not at all unless asked for.
func TestProfilesAreServedToTheMachineAlone(t *testing.T) {
	if Defaults().profiled() {
		t.Error("profiles are served by default")
	}
	for address, accepted := range map[string]bool{
		"": true, "0": true, "127.0.0.1:6060": true, "127.0.0.2:0": true, "[::1]:6060": true, "localhost:6060": true,
		":6060": false, "0.0.0.0:6060": false, "[::]:6060": false, "10.0.0.1:6060": false, "host.example:6060": false, "127.0.0.1": false,
	} {
		options := Defaults()
		options.ProfilingAddress = address
		if err := options.validate(); (err == nil) != accepted {
			t.Errorf("pprof address %q: %v", address, err)
		}
	}
}

// The address that was checked is the one that the manager listens on.
func TestProfilesAreServedWhereAskedFor(t *testing.T) {
	options := Defaults()
	options.Config, options.ProfilingAddress = &rest.Config{}, "127.0.0.1:6060"
	if served := managerOptions(options).PprofBindAddress; served != options.ProfilingAddress {
		t.Errorf("served at %q", served)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package virtual tries virtual servers with the whole operator: a real API server, a manager, and a simulated cloud for each test. What
// became of a server is judged by the cloud's own memory, never by what Holdfast says.
package virtual

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	quick := func(o *operator.Options) { o.Settings.CreateBackoff = time.Second }
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{quick}}, func(s *harness.Suite) { suite = s }))
}

// identity is who an object says that it is.
func identity(object client.Object) string { return object.GetAnnotations()[ledger.KeyIdentity] }

// theOne is the one VM that there is at a cloud, and that bears the server's identity.
func theOne(t *testing.T, cloud *harness.Cloud, server client.Object) sim.Server {
	t.Helper()
	if all, ours := cloud.Servers(), cloud.VMsOf(identity(server)); len(all) != 1 || len(ours) != 1 {
		t.Fatalf("VMs of %s: %+v; all: %+v", server.GetName(), ours, all)
	}
	return cloud.Servers()[0]
}

// inject arms a fault at a cloud.
func inject(t *testing.T, cloud *harness.Cloud, fault sim.Fault) {
	t.Helper()
	if _, err := cloud.Inject(fault); err != nil {
		t.Fatal(err)
	}
}

// befall arms a mishap at a cloud.
func befall(t *testing.T, cloud *harness.Cloud, mishap sim.Mishap) {
	t.Helper()
	if _, err := cloud.Befall(mishap); err != nil {
		t.Fatal(err)
	}
}

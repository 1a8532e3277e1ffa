// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// fleetLabel is on every Server of a fleet, with the kit's name as its value.
const fleetLabel = "test"

// envScale makes fleets larger than those of the test run.
const envScale = "HOLDFAST_SCALE"

// FleetSize is how many servers a test that measures has: as many as HOLDFAST_SCALE says, or the number given.
func FleetSize(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv(envScale)
	if text == "" {
		return otherwise
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 {
		t.Fatalf("%s=%q is no number of servers", envScale, text)
	}
	return size
}

// RegisterFleet puts n machines into the rack and registers them, with one secret for all. It waits for nothing.
func (k *Kit) RegisterFleet(n int) []*sim.BMC {
	k.T.Helper()
	return k.RegisterFleetWith(n, func(*sim.BMC) error { return nil })
}

// RegisterFleetWith does the same, and does something to each BMC before it is registered.
func (k *Kit) RegisterFleetWith(n int, prepare func(*sim.BMC) error) []*sim.BMC {
	k.T.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: k.Name},
		Type:       corev1.SecretTypeBasicAuth,
		StringData: map[string]string{corev1.BasicAuthUsernameKey: Username, corev1.BasicAuthPasswordKey: Password},
	}
	k.Create(secret)
	fleet := make([]*sim.BMC, n)
	k.Each(n, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("%s-%05d", k.Name, i)
		bmc, err := k.Rack.AddBMC(sim.BMCSpec{Name: name, Username: Username, Password: Password})
		if err != nil {
			return err
		}
		if err := prepare(bmc); err != nil {
			return err
		}
		fleet[i] = bmc
		return k.Admin.Create(ctx, &v1alpha1.BMC{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.BMCSpec{
				Endpoint: bmc.Endpoint(), CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: secret.Name},
				TLS:            &v1alpha1.BMCTLS{CABundle: string(k.Rack.CAPEM())},
				ServerTemplate: &v1alpha1.ServerTemplate{Labels: map[string]string{fleetLabel: k.Name}},
			},
		})
	})
	return fleet
}

// ClaimFleet has the tenant claim n servers of the fleet, whichever they are. It waits for nothing.
func (k *Kit) ClaimFleet(n int) {
	k.T.Helper()
	k.Each(n, func(ctx context.Context, i int) error {
		claim := k.FleetClaim(i)
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{fleetLabel: k.Name}}
		return k.Tenant.Create(ctx, claim)
	})
}

// FleetClaim is a claim that [Kit.ClaimFleet] makes, empty but for its name.
func (k *Kit) FleetClaim(i int) *v1alpha1.ServerClaim {
	return &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: fmt.Sprintf("claim-%05d", i)}}
}

// Each does something n times, a few at a time. The first error ends the test.
func (k *Kit) Each(n int, do func(context.Context, int) error) {
	k.T.Helper()
	group, ctx := errgroup.WithContext(k.T.Context())
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		k.T.Fatal(err)
	}
}

// Fleet lists the Servers of the fleet.
func (k *Kit) Fleet(ctx context.Context) ([]v1alpha1.Server, error) {
	var servers v1alpha1.ServerList
	err := k.Admin.List(ctx, &servers, client.MatchingLabels{fleetLabel: k.Name})
	return servers.Items, err
}

// UntilFleet waits until n servers of the fleet are as wanted and returns how long that took.
func (k *Kit) UntilFleet(n int, what string, wanted func(*v1alpha1.Server) bool) time.Duration {
	k.T.Helper()
	started := time.Now()
	k.Until(fmt.Sprintf("%d servers %s", n, what), Seldom(n, func(ctx context.Context) error {
		servers, err := k.Fleet(ctx)
		if err != nil {
			return err
		}
		count := 0
		for i := range servers {
			if wanted(&servers[i]) {
				count++
			}
		}
		if count < n {
			return fmt.Errorf("%d", count)
		}
		return nil
	}))
	return time.Since(started)
}

// Seldom is a check that lists n objects, made the more rarely the more there are: what is measured must not be held up by who looks.
func Seldom(n int, check func(context.Context) error) func(context.Context) error {
	pause := time.Duration(n) * 2 * time.Millisecond
	var checked time.Time
	var last error
	return func(ctx context.Context) error {
		if time.Since(checked) < pause {
			return last
		}
		last = check(ctx)
		checked = time.Now()
		return last
	}
}

// ExpectOneEach fails the test where not every one of n claims has one server, and every server one claim (I8).
func (k *Kit) ExpectOneEach(n int) {
	k.T.Helper()
	servers, err := k.Fleet(k.T.Context())
	if err != nil {
		k.T.Fatal(err)
	}
	holders := map[string]string{}
	for _, server := range servers {
		if server.Spec.ClaimRef == nil {
			continue
		}
		claim := server.Spec.ClaimRef.Name
		if other := holders[claim]; other != "" {
			k.T.Errorf("%s has %s and %s", claim, other, server.Name)
		}
		holders[claim] = server.Name
	}
	if len(holders) != n {
		k.T.Errorf("%d claims have a server, want %d", len(holders), n)
	}
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// slowReply is how much later a slow reply comes: later than Holdfast waits for an effect.
const slowReply = 1500 * time.Millisecond

// bmcFaults are the ways in which a BMC answers badly, each now and then.
var bmcFaults = []redfish.Fault{
	{Kind: redfish.FaultDelay, Delay: redfish.Duration(slowReply)},
	{Kind: redfish.FaultDelay, Method: "POST|PATCH", Delay: redfish.Duration(2 * slowReply)},
	{Kind: redfish.FaultHang},
	{Kind: redfish.FaultHangReply, Method: "POST|PATCH"},
	{Kind: redfish.FaultDrop},
	{Kind: redfish.FaultDropReply},
	{Kind: redfish.FaultDropReply, Method: "POST|PATCH"},
	{Kind: redfish.FaultStatus, Status: 503},
	{Kind: redfish.FaultStatusAfter, Method: "POST|PATCH"},
	{Kind: redfish.FaultEndSession, Path: "/Systems"}, // a login that is refused is not tried again for a minute, or accounts were locked
	{Kind: redfish.FaultTruncate},
	{Kind: redfish.FaultGarbage},
}

// share of the requests that a fault strikes.
const share = 0.5

func badReplies(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	bmc := c.world.rack.BMC(step.Target)
	fault := bmcFaults[step.Pick%uint64(len(bmcFaults))]
	fault.Rate = share
	armed, err := bmc.Inject(fault)
	return func(context.Context) error {
		bmc.ClearFault(armed)
		return nil
	}, err
}

// cutBMC pulls the cable of a BMC, or has the network swallow all that is sent to it.
func cutBMC(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	bmc := c.world.rack.BMC(step.Target)
	if bmc.Reach() != redfish.ReachUp {
		return nil, errNothing
	}
	reach := redfish.ReachRefused
	if step.Pick%2 == 0 {
		reach = redfish.ReachSilent
	}
	return func(context.Context) error { return bmc.SetReach(redfish.ReachUp) }, bmc.SetReach(reach)
}

func rebootBMC(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	bmc := c.world.rack.BMC(step.Target)
	if bmc.Reach() != redfish.ReachUp {
		return nil, errNothing
	}
	bmc.Reboot()
	return nil, nil
}

// cloudFaults are the ways in which a cloud answers badly, each now and then.
var cloudFaults = []openstack.Fault{
	{Kind: openstack.FaultDelay, Delay: clock.Duration(slowReply)},
	{Kind: openstack.FaultDelay, Method: "POST|PUT|DELETE", Delay: clock.Duration(2 * slowReply)},
	{Kind: openstack.FaultHang},
	{Kind: openstack.FaultHangReply, Method: "POST|PUT|DELETE"},
	{Kind: openstack.FaultDrop},
	{Kind: openstack.FaultDropReply},
	{Kind: openstack.FaultDropReply, Method: "POST|PUT|DELETE"},
	{Kind: openstack.FaultStatus, Status: 503},
	{Kind: openstack.FaultStatusAfter, Method: "POST|PUT|DELETE"},
	{Kind: openstack.FaultRevoke, Path: "/servers"}, // a login that is refused is not tried again for a minute
	{Kind: openstack.FaultTruncate},
	{Kind: openstack.FaultGarbage},
	{Kind: openstack.FaultEmptyList, Path: "/(servers|ports|floatingips)"},
}

func badCloudReplies(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	fault := cloudFaults[step.Pick%uint64(len(cloudFaults))]
	fault.Rate = share
	armed, err := c.world.cloud.Inject(fault)
	return func(context.Context) error {
		c.world.cloud.ClearFault(armed)
		return nil
	}, err
}

// hideVM leaves a VM out of listings.
func hideVM(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	claim := c.claimAt(step, func(claim *v1alpha1.ServerClaim) bool { return claim.Spec.ClassName != "" && hasServer(claim) })
	if claim == nil {
		return nil, errNothing
	}
	vm, found := c.world.vmOf(c.tenants.get(claim.Name))
	if !found {
		return nil, errNothing
	}
	undo := func(context.Context) error {
		if _, there := c.world.cloud.Server(vm.ID); !there {
			return nil
		}
		return c.world.cloud.ShowServer(vm.ID)
	}
	return undo, c.world.cloud.HideServer(vm.ID)
}

// vmMishap has the next VM not get to its feet.
func vmMishap(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	kinds := []openstack.MishapKind{openstack.MishapNoValidHost, openstack.MishapSpawn}
	_, err := c.world.cloud.Befall(openstack.Mishap{Kind: kinds[step.Pick%2], Count: 1})
	return nil, err
}

// rotateBMCPassword changes the password at the BMC, and after a while in its Secret.
func rotateBMCPassword(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	password := fmt.Sprintf("password-%x", step.Pick)
	bmc := c.world.rack.BMC(step.Target)
	if bmc == nil {
		return nil, errNothing
	}
	bmc.SetCredentials(username, password)
	bmc.EndSessions()
	return func(ctx context.Context) error {
		bmc.SetCredentials(username, password) // another rotation, or a restore, may have changed it meanwhile
		return c.world.setSecret(ctx, step.Target, corev1.BasicAuthPasswordKey, []byte(password))
	}, nil
}

// rotateCloudPassword changes the password at the cloud, and after a while in its Secret.
func rotateCloudPassword(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	c.world.cloud.SetPassword(openstack.DefaultInventory().Users[0].Name, fmt.Sprintf("secret-%x", step.Pick))
	c.world.cloud.RevokeTokens()
	return func(ctx context.Context) error {
		return c.world.setSecret(ctx, cloudName, v1alpha1.KeyClouds, c.world.cloud.CloudsYAML())
	}, nil
}

// setSecret writes a key of a secret of the operator.
func (w *world) setSecret(ctx context.Context, name, key string, value []byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: name}}
	patch := fmt.Appendf(nil, `{"stringData":{%q:%q}}`, key, value)
	return w.admin.Patch(ctx, secret, client.RawPatch(mergePatch, patch))
}

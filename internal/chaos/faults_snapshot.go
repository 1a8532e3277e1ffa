// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// snapshot is what etcd held at a moment, in a folder.
type snapshot struct {
	dir string
	at  time.Time
}

// takeSnapshot keeps what etcd holds.
func takeSnapshot(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	c.plane.Lock()
	defer c.plane.Unlock()
	c.gate.Lock() // an ask is in the snapshot, or it is not
	defer c.gate.Unlock()
	at := time.Now() // what is written while it is taken may be in it, or not
	dir := filepath.Join(c.scratch, fmt.Sprintf("snapshot-%d", step.At.Milliseconds()))
	if err := c.world.env.SnapshotEtcd(dir); err != nil {
		return nil, err
	}
	c.snapshots = append(c.snapshots, snapshot{dir: dir, at: at})
	if len(c.snapshots) <= mostSnapshots {
		return nil, nil
	}
	oldest := c.snapshots[0]
	c.snapshots = c.snapshots[1:]
	return nil, os.RemoveAll(oldest.dir)
}

// mostSnapshots is how many are kept: the oldest is minutes old.
const mostSnapshots = 12

// snapshotFault is the fault that takes one, without which nothing can be restored.
const snapshotFault = "snapshot"

// restoreSnapshot puts an older state of the whole cluster in the place of the present one, under managers that go on.
func restoreSnapshot(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	c.plane.Lock()
	defer c.plane.Unlock()
	return nil, c.bringBack(ctx, step)
}

// restoreSnapshotHeld does what the documents ask for where machines keep no stamps: the managers are ended before and told of the restore
// when they start again; a person looks at each machine before anything is done to it (see person).
func restoreSnapshotHeld(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	c.plane.Lock()
	defer c.plane.Unlock()
	if len(c.snapshots) == 0 {
		return nil, errNothing
	}
	if err := c.managers.endAll(syscall.SIGKILL); err != nil {
		return nil, errors.Join(err, c.managers.startAll("")) // nothing was restored
	}
	failure := c.bringBack(ctx, step)
	return nil, errors.Join(failure, c.managers.startAll(fmt.Sprintf("restore-%d", step.At.Milliseconds())))
}

func (c *campaign) bringBack(ctx context.Context, step Step) error {
	if len(c.snapshots) == 0 {
		return errNothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreDeadline) // it is not left half done
	defer cancel()
	c.gate.Lock()
	defer c.gate.Unlock()
	at := time.Now()
	old := c.snapshots[step.Pick%uint64(len(c.snapshots))]
	c.journal.note(judge.Event{At: at, Kind: judge.RestoredSnapshot, Since: old.at, Detail: step.Fault})
	c.journal.rewrite()
	var ends []func()
	c.tenants.each(func(t *tenancy) { ends = append(ends, c.amnesia.begins(t)) })
	defer func() {
		for _, restored := range ends {
			restored()
		}
	}()
	back, err := c.world.env.RestoreEtcd(ctx, old.dir)
	if err != nil {
		return err
	}
	// What was on the wire came to an end meanwhile: a machine that was being switched on has booted, and that is as little remembered.
	c.journal.note(judge.Event{At: back, Kind: judge.RestoredSnapshot, Since: old.at, Detail: step.Fault})
	return persist(ctx, func(ctx context.Context) error { return c.takeStock(ctx, at) })
}

// restoreDeadline bounds a restore of the whole cluster.
const restoreDeadline = 3 * time.Minute

// takeStock sees what is there after a restore: what tenants ask for by what is there again, and who has no claim any more.
func (c *campaign) takeStock(ctx context.Context, at time.Time) error {
	if err := c.sight.look(ctx); err != nil {
		return err
	}
	claims, servers := seen[*v1alpha1.ServerClaim](c.sight), seen[*v1alpha1.Server](c.sight)
	for _, claim := range claims {
		c.tenants.broughtBack(at, claim)
	}
	c.tenants.each(func(t *tenancy) {
		if claims[t.name] == nil {
			t.strand()
		} else if vm, found := c.world.vmOf(t); found && servers[vm.Name] == nil {
			// It was taken while the Server was lost: the claim is there and the one object that could take the VM away is not.
			c.journal.note(judge.Event{At: at, Kind: judge.Forgot, Tenant: t.id, Machine: vm.ID, Detail: "the snapshot lacks its Server"})
		}
	})
	for name, o := range seen[*v1alpha1.ServerMaintenance](c.sight) {
		if o.Spec.Power == v1alpha1.PowerOff {
			c.journal.note(judge.Event{At: at, Kind: judge.MaintenanceBegan, Machine: watch.MachineID(name, c.world.machine(name).ID())})
		}
	}
	return c.administer(ctx)
}

// administer is what administrators see to after a restore: BMCs that the snapshot lacks are registered anew, and passwords are those that
// the cluster knows.
func (c *campaign) administer(ctx context.Context) error {
	var secrets corev1.SecretList
	if err := c.world.admin.List(ctx, &secrets, client.InNamespace(operator.Defaults().Namespace)); err != nil {
		return err
	}
	for _, secret := range secrets.Items {
		if bmc := c.world.rack.BMC(secret.Name); bmc != nil {
			bmc.SetCredentials(username, string(secret.Data[corev1.BasicAuthPasswordKey]))
		}
	}
	for i := range c.options.machines() {
		if err := c.world.register(ctx, c.world.rack.BMC(machineName(i)), poolOf(i, c.options.machines())); err != nil {
			return err
		}
	}
	return c.world.setSecret(ctx, cloudName, v1alpha1.KeyClouds, c.world.cloud.CloudsYAML())
}

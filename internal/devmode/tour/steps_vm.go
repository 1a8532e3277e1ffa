// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/devmode"
)

// The VMs of the tour: worker is a claim's, bastion a person's.
const (
	worker  = "worker"
	bastion = "bastion"

	keptWorkerServer = "the server of worker"
	keptWorkerClaim  = "the claim worker"
)

func registerCloud(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.stack.EnrollCloud(ctx); err != nil {
		return err
	}
	t.did("registered the cloud %s with its clouds.yaml, the class %s, and the SSH certificate authority %s", devmode.CloudName, devmode.ClassName, devmode.AuthorityName)
	for _, object := range []conditioned{cloudObject(), classObject(), authorityObject()} {
		if err := t.isReady(ctx, object); err != nil {
			return err
		}
	}
	if err := t.cloudCalled(m); err != nil {
		return err
	}
	return t.wrote(m)
}

func cloudObject() *v1alpha1.Cloud {
	return &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: devmode.CloudName}}
}

func classObject() *v1alpha1.ServerClass {
	return &v1alpha1.ServerClass{ObjectMeta: metav1.ObjectMeta{Name: devmode.ClassName}}
}

func authorityObject() *v1alpha1.SSHCertificateAuthority {
	return &v1alpha1.SSHCertificateAuthority{ObjectMeta: metav1.ObjectMeta{Name: devmode.AuthorityName}}
}

// isReady waits until an object says that it is ready as its spec is now.
func (t *tour) isReady(ctx context.Context, object conditioned) error {
	err := t.until(ctx, told(object)+" Ready", func(ctx context.Context) error {
		if err := t.admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(*object.StatusConditions(), v1alpha1.ConditionReady)
		if condition == nil {
			return errors.New("no condition Ready")
		}
		return ready(*object.StatusConditions(), object.GetGeneration(), condition.ObservedGeneration)
	})
	if err == nil {
		t.line("checked", "%s Ready", told(object))
	}
	return err
}

func claimVM(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	claim := claimNamed(worker)
	claim.Spec.ClassName = devmode.ClassName
	if err := t.tenant.Create(ctx, claim); err != nil {
		return err
	}
	t.did("a tenant claims a VM of the class %s (%s)", devmode.ClassName, worker)
	if t.workerServer, err = t.claimReady(ctx, worker); err != nil {
		return err
	}
	if err := t.runs(ctx, t.workerServer, worker); err != nil {
		return err
	}
	t.saw("it got the server %s, which was made for it", t.workerServer)
	if err := t.holds(1, 1, 1); err != nil {
		return err
	}
	if err := t.cloudCalled(m, madeWithFloatingIP...); err != nil {
		return err
	}
	if err := t.reachable(ctx); err != nil {
		return err
	}
	return t.wrote(m)
}

// madeWithFloatingIP are the writes that one VM with a port and a floating IP takes: each thing is made once, and tagged where the API
// takes no tags at creation.
var madeWithFloatingIP = []string{
	"1 POST floatingips", "1 POST ports", "1 POST servers", "1 PUT floatingips/{id}/tags", "1 PUT ports/{id}/tags",
}

// reachable checks that the tenant is told the VM's addresses, and that the VM trusts the authority.
func (t *tour) reachable(ctx context.Context) error {
	cloud := t.stack.Cloud
	floating := cloud.FloatingIPs()[0].Address
	want := fmt.Sprint(append(slices.Clone(cloud.Ports()[0].Addresses), floating))
	claim := claimNamed(worker)
	err := t.until(ctx, "claim "+worker+" tells "+want, func(ctx context.Context) error {
		if err := t.tenant.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		machine := claim.Status.Machine
		if machine == nil || fmt.Sprint(machine.Addresses) != want || machine.FloatingIP != floating {
			return fmt.Errorf("it tells %+v", machine)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.line("checked", "the claim tells its tenant the addresses of the VM: %s", want)
	authority := authorityObject()
	if err := t.admin.Get(ctx, client.ObjectKeyFromObject(authority), authority); err != nil {
		return err
	}
	vm, err := t.vm(t.workerServer)
	if err != nil {
		return err
	}
	userData, err := base64.StdEncoding.DecodeString(vm.UserData)
	if err != nil {
		return fmt.Errorf("user data of %s: %w", vm.Name, err)
	}
	return t.checked("user data trusts the authority", strings.Contains(string(userData), authority.Spec.PublicKeys[0]), true)
}

func loseStatusOfVM(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{claimNamed(worker), serverNamed(t.workerServer)} {
		if err := t.admin.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))); err != nil {
			return fmt.Errorf("wipe the status of %s: %w", object.GetName(), err)
		}
		t.did("wiped the status of %s", told(object))
		if err := t.runs(ctx, t.workerServer, worker); err != nil {
			return err
		}
		t.saw("it is reported again")
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	return t.untouched(m)
}

func restoreVM(ctx context.Context, t *tour) error {
	before, err := t.vm(t.workerServer)
	if err != nil {
		return err
	}
	err = t.restored(ctx, loss{server: t.workerServer, claim: worker, keptServer: keptWorkerServer, keptClaim: keptWorkerClaim})
	if err != nil {
		return err
	}
	after, err := t.vm(t.workerServer)
	if err != nil {
		return err
	}
	if err := t.checked("the same VM", after.ID, before.ID); err != nil {
		return err
	}
	return t.holds(1, 1, 1)
}

func rebuildVM(ctx context.Context, t *tour) error {
	server := serverNamed(bastion)
	vm := devmode.SmallVM()
	vm.FloatingIP, vm.RebuildPolicy = nil, v1alpha1.RebuildOnImageChange
	vm.Networks = append(vm.Networks, v1alpha1.NetworkAttachment{Network: v1alpha1.ResourceSelector{Name: "backend"}})
	server.Spec.OpenStack = &vm
	if err := t.restorer.Create(ctx, server); err != nil {
		return err
	}
	t.did("created the server %s, without a claim: two networks, image debian-12, rebuilt when that is edited", bastion)
	if err := t.serverIs(ctx, bastion, v1alpha1.PhaseRunning); err != nil {
		return err
	}
	if err := t.holds(2, 3, 1); err != nil {
		return err
	}
	before, err := t.vm(bastion)
	if err != nil {
		return err
	}
	m, err := t.mark()
	if err != nil {
		return err
	}
	image := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"openstack":{"image":{"name":"debian-13"}}}}`))
	if err := t.restorer.Patch(ctx, server, image); err != nil {
		return err
	}
	t.did("edited its image: debian-13")
	err = t.until(ctx, "VM "+bastion+" rebuilt", func(context.Context) error {
		if vm, err := t.vm(bastion); err != nil || vm.Image != "debian-13" || vm.Status != "ACTIVE" {
			return errors.Join(err, fmt.Errorf("image %s, %s %s", vm.Image, vm.Status, vm.Task))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.serverIs(ctx, bastion, v1alpha1.PhaseRunning); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.cloudCalled(m, "1 POST servers/{server}/action rebuild"); err != nil {
		return err
	}
	after, err := t.vm(bastion)
	if err != nil {
		return err
	}
	return t.checked("the same VM", after.ID, before.ID)
}

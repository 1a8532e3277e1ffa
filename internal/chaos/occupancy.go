// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/base64"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// What somebody sees who stands before a machine, whatever Kubernetes says of it.

// machineOf is the simulated machine of a Server; nil for a VM's.
func (w *world) machineOf(server *v1alpha1.Server) *redfish.Machine {
	if server.Spec.Redfish == nil {
		return nil
	}
	return w.machine(server.Spec.Redfish.BMCRef.Name)
}

// machineID is how the record calls a Server's machine or VM; empty where there is none.
func (w *world) machineID(server *v1alpha1.Server) string {
	if machine := w.machineOf(server); machine != nil {
		return watch.MachineID(machine.BMC().Name(), machine.ID())
	}
	if server.Status.Observed != nil && server.Status.Observed.Instance != nil {
		return server.Status.Observed.Instance.ID
	}
	return ""
}

// installedFor says that a machine's disk is a tenant's.
func (w *world) installedFor(server *v1alpha1.Server, t *tenancy) bool {
	machine := w.machineOf(server)
	return machine != nil && machine.Status().Disk == watch.ImageURL(t.id)
}

// runsFor says that a machine's disk is a tenant's, or that the tenant is about to be installed there; or that a VM is a tenant's.
func (w *world) runsFor(server *v1alpha1.Server, t *tenancy) bool {
	if machine := w.machineOf(server); machine != nil {
		status := machine.Status()
		return status.Disk == watch.ImageURL(t.id) || status.Running == watch.ImageURL(t.id)
	}
	vm, found := w.vmOf(t)
	return found && vm.Name == server.Name
}

// vmOf is the VM that was made for a tenant.
func (w *world) vmOf(t *tenancy) (openstack.Server, bool) {
	data := base64.StdEncoding.EncodeToString([]byte(watch.UserData(t.id)))
	vms := w.cloud.Servers()
	i := slices.IndexFunc(vms, func(vm openstack.Server) bool { return vm.UserData == data })
	if i < 0 {
		return openstack.Server{}, false
	}
	return vms[i], true
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/base64"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
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

// machineID is how the record calls a Server's machine or VM; empty where there is none. Of a VM the ledger tells, and where that was taken
// away the name, which follows from the identity of the claim that it was made for: a status may be wiped.
func (w *world) machineID(server *v1alpha1.Server) string {
	if machine := w.machineOf(server); machine != nil {
		return watch.MachineID(machine.BMC().Name(), machine.ID())
	}
	if id := server.Annotations[ledger.KeyProviderID]; id != "" {
		return id
	}
	return w.vmNamed(server.Name).ID
}

// vmNamed is the VM of that name; the zero one where there is none.
func (w *world) vmNamed(name string) openstack.Server {
	for _, vm := range w.cloud.Servers() {
		if vm.Name == name {
			return vm
		}
	}
	return openstack.Server{}
}

// installedFor says that a machine's disk is a tenant's.
func (w *world) installedFor(server *v1alpha1.Server, t *tenancy) bool {
	return w.look(server).disk == watch.ImageURL(t.id)
}

// occupancy is what was found on a machine or VM.
type occupancy struct {
	disk, running, userData string
}

// look at the machine or VM of a Server.
func (w *world) look(server *v1alpha1.Server) occupancy {
	if machine := w.machineOf(server); machine != nil {
		status := machine.Status()
		return occupancy{disk: status.Disk, running: status.Running}
	}
	return occupancy{userData: w.vmNamed(server.Name).UserData}
}

// of says that it is a tenant's: its disk, or what is being installed over that, or the VM.
func (o occupancy) of(t *tenancy) bool {
	image := watch.ImageURL(t.id)
	return o.disk == image || o.running == image || o.userData == encodedUserData(t)
}

func encodedUserData(t *tenancy) string {
	return base64.StdEncoding.EncodeToString([]byte(watch.UserData(t.id)))
}

// vmOf is the VM that was made for a tenant.
func (w *world) vmOf(t *tenancy) (openstack.Server, bool) {
	data := encodedUserData(t)
	vms := w.cloud.Servers()
	i := slices.IndexFunc(vms, func(vm openstack.Server) bool { return vm.UserData == data })
	if i < 0 {
		return openstack.Server{}, false
	}
	return vms[i], true
}

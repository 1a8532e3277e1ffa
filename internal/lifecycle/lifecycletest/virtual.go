// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Names and ids of what a virtual scene is made of.
const (
	CloudName = "fra1"
	VMID      = "vm-1"
	ImageName = "debian-12"
	ImageID   = "img-12"
	ProjectID = "project-1"
)

// Virtual makes a scene into one of a VM that no claim has: launched an hour ago, running, and as its spec says.
func Virtual(s *Scene) {
	s.Server.Spec = v1alpha1.ServerSpec{
		OpenStack: &v1alpha1.OpenStackServer{
			CloudRef: v1alpha1.LocalObjectReference{Name: CloudName},
			Flavor:   v1alpha1.FlavorSelector{Name: "m1.small"}, Image: v1alpha1.ResourceSelector{Name: ImageName},
			Networks: []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
		},
		PowerOff: v1alpha1.PowerOffAllowed,
	}
	s.BMC = nil
	s.Cloud = &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: CloudName, Finalizers: []string{v1alpha1.FinalizerInUse}}}
	s.Dependencies = []lifecycle.Dependency{{Kind: "Cloud", Name: CloudName, Guarded: true}}
	s.Ledger.DiscoveredAt = zero
	s.Ledger.ProviderID, s.Ledger.Project = VMID, ProjectID
	s.Ledger.ProvisionedAt = &ledger.Provisioned{ID: VMID, At: Before(60)}
	s.Ledger.Image = &ledger.Image{Selector: "name:" + ImageName, ID: ImageID}
	launched, since := metav1.NewTime(Before(60)), metav1.NewTime(Before(60))
	s.Server.Status.Observed = &v1alpha1.ServerObserved{
		Reachable: true, PowerState: v1alpha1.ObservedOn, Since: &since, ProjectID: ProjectID,
		Instance: &v1alpha1.ObservedInstance{
			ID: VMID, Exists: true, Identity: s.Ledger.Identity, Owner: ClusterID, State: "ACTIVE", LaunchedAt: &launched, ImageID: ImageID,
		},
		Ports: []v1alpha1.ObservedPort{{ID: "port-0", Index: 0, DeviceID: VMID}},
	}
}

// VM changes the picture of the VM, where there is one.
func VM(change func(*v1alpha1.ObservedInstance)) Override {
	return Facts(func(o *v1alpha1.ServerObserved) {
		if o.Instance != nil {
			change(o.Instance)
		}
	})
}

// OpenStack changes what the VM is made of.
func OpenStack(change func(*v1alpha1.OpenStackServer)) Override {
	return func(s *Scene) {
		if s.Server.Spec.OpenStack != nil {
			change(s.Server.Spec.OpenStack)
		}
	}
}

// Unmade is a VM that was not made yet, as far as is known.
var Unmade = All(
	Ledger(func(l *ledger.Server) { l.ProviderID, l.ProvisionedAt, l.Image = "", nil, nil }),
	Facts(func(o *v1alpha1.ServerObserved) {
		o.Instance, o.Ports, o.PowerState, o.Since = nil, nil, v1alpha1.ObservedUnknown, nil
	}),
)

// Unlaunched is a VM in a state of Nova, without any trace of a launch.
func Unlaunched(novaState string) Override {
	return All(
		Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil }),
		Power(v1alpha1.ObservedUnknown),
		VM(func(vm *v1alpha1.ObservedInstance) {
			vm.State, vm.LaunchedAt = novaState, nil
			vm.Errored = novaState == "ERROR"
		}),
	)
}

// Broken is a VM that failed before it ever launched.
var Broken = All(Unlaunched("ERROR"), VM(func(vm *v1alpha1.ObservedInstance) { vm.Fault = "No valid host was found." }))

// Errored is a VM that was launched, and that the cloud calls broken.
var Errored = All(Power(v1alpha1.ObservedUnknown), VM(func(vm *v1alpha1.ObservedInstance) { vm.State, vm.Errored, vm.Fault = "ERROR", true, "host is down" }))

// Gone is a VM for whose id the cloud answered 404.
var Gone = All(Power(v1alpha1.ObservedUnknown), VM(func(vm *v1alpha1.ObservedInstance) { *vm = v1alpha1.ObservedInstance{ID: vm.ID} }))

// NovaState is what Nova calls the state of the VM, and the task it is at.
func NovaState(novaState, task string) Override {
	return VM(func(vm *v1alpha1.ObservedInstance) { vm.State, vm.TaskState = novaState, task })
}

// Stopped is a VM that was launched and is off.
var Stopped = All(Off, NovaState("SHUTOFF", ""))

// Serving makes the VM the one of a claim that is bound to it, made by a class.
var Serving = All(Claimed, Bound, func(s *Scene) {
	s.Server.Spec.ClassRef = &v1alpha1.LocalObjectReference{Name: "small"}
	s.Ledger.Restarted = Before(60)
}, VM(func(vm *v1alpha1.ObservedInstance) { vm.Claim = ClaimID }))

// Retained keeps the VM after its release.
var Retained = Spec(func(s *v1alpha1.ServerSpec) { s.ReclaimPolicy = v1alpha1.ReclaimRetain })

// AnnouncedVM lets an intent about the VM stand, opened some minutes ago under the claim in force.
func AnnouncedVM(op ledger.IntentOp, why ledger.Why, minutes int) Override {
	return func(s *Scene) {
		i := &ledger.Intent{ID: "i-1", Op: op, Why: why, At: Before(minutes), Target: VMID}
		if ref := s.Server.Spec.ClaimRef; ref != nil {
			i.Claim, i.ClaimUID = ref.Identity, types.UID(ref.UID)
		}
		if op == ledger.IntentRebuild && s.Server.Spec.OpenStack != nil {
			i.Image = s.Server.Spec.OpenStack.Image.String()
		}
		s.Ledger.Intent = i
	}
}

// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Placeholders for what the cloud tells and the backup does not.
const (
	anyVM       = "vm"
	anyProject  = "project"
	anyPort     = "port"
	anyImage    = "image"
	anotherOne  = "another-cluster"
	stateActive = "ACTIVE"
	stateOff    = "SHUTOFF"
)

// instance are the conditions of a VM.
func (o observer) instance() []condition {
	expected := o.expectedVMs()
	var all []condition
	add := func(c condition) {
		c.expected = slices.Contains(expected, c.Condition)
		all = append(all, c)
	}
	id := o.vmID()
	if id == "" {
		add(o.noVM(VMNone, ""))
		if o.memory.Identity == "" && o.server.Spec.ClaimRef == nil {
			// Its identity comes from the object, so a VM that ran for an earlier object is not found by it.
			add(o.noVM(VMLeftOver, v1alpha1.ReasonFoundExisting))
			return all
		}
		id = anyVM
	} else {
		add(o.vm(VMGone, id))
	}
	for _, name := range []Condition{VMRunning, VMStopped, VMForeign} {
		add(o.vm(name, id))
	}
	return all
}

// vmID is the id of the VM that is remembered; "" where none is.
func (o observer) vmID() string {
	if o.memory.ProviderID == "" && o.memory.ProvisionedAt != nil {
		return o.memory.ProvisionedAt.ID
	}
	return o.memory.ProviderID
}

// expectedVMs is what the backup tells of the VM.
func (o observer) expectedVMs() []Condition {
	stopped := o.power == v1alpha1.PowerOff
	if seen := o.server.Status.Observed; seen != nil && seen.Reachable && seen.Instance != nil && seen.Instance.ID == o.vmID() {
		stopped = seen.PowerState == v1alpha1.ObservedOff
		if !seen.Instance.Exists {
			return []Condition{VMGone}
		}
	}
	switch {
	case o.vmID() == "" && o.memory.Identity == "" && o.server.Spec.ClaimRef == nil:
		return []Condition{VMNone, VMLeftOver}
	case o.vmID() == "":
		return []Condition{VMNone}
	case stopped:
		return []Condition{VMStopped}
	}
	return []Condition{VMRunning}
}

// cloudPicture is a picture in which there is no VM.
func (o observer) cloudPicture() v1alpha1.ServerObserved {
	since := metav1.NewTime(o.now.Add(-longBefore))
	project := o.memory.Project
	if project == "" {
		project = anyProject
	}
	return v1alpha1.ServerObserved{Reachable: true, PowerState: v1alpha1.ObservedUnknown, Since: &since, ProjectID: project}
}

func (o observer) noVM(name Condition, refused string) condition {
	return condition{Condition: name, picture: o.cloudPicture(), refused: refused}
}

// vm is a picture of the VM that differs from what is remembered only in what its name says.
func (o observer) vm(name Condition, id string) condition {
	launched := metav1.NewTime(o.launchedAt())
	instance := v1alpha1.ObservedInstance{
		ID: id, Exists: true, Identity: o.identity(), Owner: o.owner, Claim: o.claim, State: stateActive, LaunchedAt: &launched, ImageID: anyImage,
	}
	if o.memory.Image != nil {
		instance.ImageID = o.memory.Image.ID
	}
	picture := o.cloudPicture()
	picture.PowerState = v1alpha1.ObservedOn
	if seen := o.server.Status.Observed; seen != nil {
		picture.Ports, picture.FloatingIP = seen.Ports, seen.FloatingIP
	}
	if picture.FloatingIP == nil && o.memory.Network != nil && o.memory.Network.FloatingIP != "" {
		picture.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: anyPort, PortID: anyPort}
	}
	switch name {
	case VMStopped:
		instance.State, picture.PowerState = stateOff, v1alpha1.ObservedOff
	case VMGone:
		instance = v1alpha1.ObservedInstance{ID: id}
		picture.PowerState, picture.Ports, picture.FloatingIP = v1alpha1.ObservedUnknown, nil, nil
	case VMForeign:
		instance.Owner = anotherOne
	}
	picture.Instance = &instance
	return condition{Condition: name, picture: picture}
}

func (o observer) launchedAt() time.Time {
	if o.memory.ProvisionedAt != nil {
		return o.memory.ProvisionedAt.At
	}
	return o.now.Add(-longBefore)
}

// SPDX-License-Identifier: Apache-2.0

package backup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// carryOut is what becomes of a machine, or of a VM, by an acting call that succeeds, as the next picture shows it. It tells what the
// call made; nil for nothing.
func carryOut(picture *v1alpha1.ServerObserved, call lifecycle.Effect, now metav1.Time) *provider.Made {
	if call.Virtual != nil {
		return carryOutAtCloud(picture, call, now)
	}
	switch call.Op {
	case lifecycle.OpPowerOn:
		power(picture, v1alpha1.ObservedOn, now)
		picture.BootProgress = "OSRunning"
		if o := picture.BootOverride; o != nil && o.Enabled == string(provider.BootOnce) {
			disarm(picture)
		}
	case lifecycle.OpShutDown, lifecycle.OpForceOff:
		power(picture, v1alpha1.ObservedOff, now)
		picture.BootProgress = ""
	case lifecycle.OpSetBootOverride:
		picture.BootOverride = &v1alpha1.ObservedBootOverride{
			Target: string(call.Override.Target), Enabled: string(call.Override.Enabled), Mode: call.Override.Mode, HTTPURI: v1alpha1.URL(call.Override.HTTPURI),
		}
	case lifecycle.OpClearBootOverride:
		disarm(picture)
	case lifecycle.OpInsertMedia:
		picture.Media = &v1alpha1.ObservedMedia{Slots: []v1alpha1.ObservedMediaSlot{{Slot: "1", Image: v1alpha1.URL(call.Image), Inserted: true}}}
	case lifecycle.OpEjectMedia:
		picture.Media = nil
	case lifecycle.OpWriteAssetTag:
		picture.AssetTag = call.AssetTag
	case lifecycle.OpSetIndicator:
		picture.IndicatorLED = string(call.Indicator)
	}
	return nil
}

func power(picture *v1alpha1.ServerObserved, state v1alpha1.ObservedPower, now metav1.Time) {
	picture.PowerState, picture.Since = state, &now
}

func disarm(picture *v1alpha1.ServerObserved) {
	picture.BootOverride = &v1alpha1.ObservedBootOverride{Enabled: string(provider.BootDisabled), Target: string(provider.BootNone)}
}

func carryOutAtCloud(picture *v1alpha1.ServerObserved, call lifecycle.Effect, now metav1.Time) *provider.Made {
	e := call.Virtual
	switch call.Op {
	case lifecycle.OpCreateInstance:
		return create(picture, *e, now)
	case lifecycle.OpStampInstance:
		picture.Instance.Owner, picture.Instance.Claim = e.Instance.Owner, e.Claim
	case lifecycle.OpStart:
		power(picture, v1alpha1.ObservedOn, now)
		picture.Instance.State = stateActive
	case lifecycle.OpStop:
		power(picture, v1alpha1.ObservedOff, now)
		picture.Instance.State = stateOff
	case lifecycle.OpRebuild:
		picture.Instance.ImageID = anyImage + "-rebuilt"
		return &provider.Made{ImageID: picture.Instance.ImageID}
	case lifecycle.OpDismantle, lifecycle.OpDeleteFailed:
		picture.Instance = &v1alpha1.ObservedInstance{ID: e.Instance.ID}
		picture.Ports, picture.FloatingIP = nil, nil
	case lifecycle.OpUpdatePorts:
		groups := make([][]string, len(e.Spec.Ports))
		picture.Ports = nil // what was asked for is what stands
		return &provider.Made{SecurityGroups: groups}
	case lifecycle.OpAttachFloatingIP:
		picture.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: anyPort, PortID: anyPort}
	case lifecycle.OpReleaseFloatingIP:
		picture.FloatingIP = nil
	}
	return nil
}

// create makes a VM that is launched by the time it is looked at.
func create(picture *v1alpha1.ServerObserved, e lifecycle.VirtualEffect, now metav1.Time) *provider.Made {
	power(picture, v1alpha1.ObservedOn, now)
	picture.Instance = &v1alpha1.ObservedInstance{
		ID: anyVM, Exists: true, Identity: e.Instance.Identity, Owner: e.Instance.Owner, Claim: e.Spec.Claim,
		State: stateActive, LaunchedAt: &now, ImageID: anyImage,
	}
	return &provider.Made{InstanceID: anyVM, ImageID: anyImage, SecurityGroups: make([][]string, len(e.Spec.Ports))}
}

// isStamp says whether an effect writes a mark of ownership, and nothing else.
func isStamp(call lifecycle.Effect) bool {
	return call.Op == lifecycle.OpStampInstance || (call.Op == lifecycle.OpWriteAssetTag && ledger.IsStamp(call.AssetTag))
}

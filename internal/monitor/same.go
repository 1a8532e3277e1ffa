// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"encoding/json"
	"hash/fnv"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// sameServer says that a picture means what the region says already: nothing is to be written. Lists are compared as sets, times
// and quantities by value. That an intent is no longer open is not told for its own sake: the id that stays behind names no
// intent that could come, and the next picture that differs takes it away.
func sameServer(region, picture *v1alpha1.ServerObserved) bool {
	if region == nil {
		return false
	}
	stands, told := *region, *picture
	if told.Intent == "" {
		stands.Intent, stands.Task, stands.TaskMonitor, stands.TaskMessage = "", "", "", ""
	}
	stands.Hardware = sorted(stands.Hardware)
	return apiequality.Semantic.DeepEqual(&stands, &told)
}

// sorted returns hardware with its lists in the order in which a picture has them. Hardware is not modified.
func sorted(hardware *v1alpha1.Hardware) *v1alpha1.Hardware {
	if hardware == nil || (slices.IsSortedFunc(hardware.NICs, compareNICs) &&
		slices.IsSortedFunc(hardware.Drives, compareDrives) && slices.IsSorted(hardware.Gaps)) {
		return hardware
	}
	ordered := hardware.DeepCopy()
	slices.SortFunc(ordered.NICs, compareNICs)
	slices.SortFunc(ordered.Drives, compareDrives)
	slices.Sort(ordered.Gaps)
	return ordered
}

// sameBMC is sameServer for a BMC. Another message with the same reason is no other fact.
func sameBMC(region, picture *v1alpha1.BMCObserved) bool {
	if region == nil {
		return false
	}
	stands, told := *region, *picture
	if stands.Reason == told.Reason {
		stands.Message = told.Message
	}
	if !slices.IsSortedFunc(stands.Systems, compareSystems) {
		stands.Systems = slices.SortedFunc(slices.Values(stands.Systems), compareSystems)
	}
	return apiequality.Semantic.DeepEqual(&stands, &told)
}

// sameCloud is sameServer for a cloud. Another message with the same reason is no other fact.
func sameCloud(region, picture *v1alpha1.CloudObserved) bool {
	if region == nil {
		return false
	}
	stands := *region
	if stands.Reason == picture.Reason {
		stands.Message = picture.Message
	}
	return apiequality.Semantic.DeepEqual(&stands, picture)
}

// fingerprint tells a region that somebody else has written from one that is as this process left it. It is never 0, which
// stands for a region that this process has not looked at yet.
func fingerprint[T any](region *T) uint64 {
	digest := fnv.New64a()
	// Neither the regions, which marshal always, nor a hash can fail.
	_ = json.NewEncoder(digest).Encode(region)
	return max(digest.Sum64(), 1)
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Bounds of the lists, as in the schema.
const (
	maxOthers = 8
	maxPorts  = 16
)

// virtualPicture is the region of a virtual server after a look. before is the region the look is compared with, nil where there is none;
// it is not modified.
func virtualPicture(before *v1alpha1.ServerObserved, seen sight, look taken) *v1alpha1.ServerObserved {
	picture := &v1alpha1.ServerObserved{
		Reachable:  true,
		PowerState: v1alpha1.ObservedUnknown,
		ProjectID:  v1alpha1.Fact(look.project),
		Intent:     v1alpha1.Fact(look.intent.ID),
		Ports:      portsOf(seen.ports),
		FloatingIP: floatingOf(seen.floating),
	}
	switch {
	case seen.gone:
		picture.Instance = goneInstance(before, seen.id)
	case seen.instance != nil:
		picture.Instance = instanceOf(*seen.instance)
		picture.PowerState = powerOf(seen.instance.Power)
	}
	if picture.Instance != nil {
		for _, other := range bounded(seen.others, maxOthers) {
			picture.Instance.Others = append(picture.Instance.Others, v1alpha1.Fact(other))
		}
	}
	if before != nil {
		picture.Since = before.Since.DeepCopy()
	}
	if picture.Since == nil || before.PowerState != picture.PowerState {
		picture.Since = new(metav1.NewTime(look.at.Truncate(time.Second)))
	}
	return picture
}

func instanceOf(facts provider.InstanceFacts) *v1alpha1.ObservedInstance {
	told := &v1alpha1.ObservedInstance{
		ID:        v1alpha1.Fact(facts.ID),
		Exists:    true,
		Identity:  v1alpha1.Fact(facts.Identity),
		Owner:     v1alpha1.Fact(facts.Owner),
		Claim:     v1alpha1.Fact(facts.Claim),
		State:     v1alpha1.Fact(facts.State),
		TaskState: v1alpha1.Fact(facts.TaskState),
		Errored:   facts.Errored,
		Fault:     v1alpha1.Message(facts.Fault),
		ImageID:   v1alpha1.Fact(facts.ImageID),
		Flavor:    v1alpha1.Fact(facts.Flavor),
		HostID:    v1alpha1.Fact(facts.HostID),
		VCPUs:     int32(facts.VCPUs),
		MemoryMiB: int32(facts.MemoryMiB),
		Addresses: texts(facts.Addresses),
	}
	if !facts.LaunchedAt.IsZero() {
		told.LaunchedAt = new(metav1.NewTime(facts.LaunchedAt.Truncate(time.Second)))
	}
	return told
}

// goneInstance is a VM of which a GET by id said 404. That it was launched once is not forgotten with it: what carried data must not be
// taken for what never did (I2).
func goneInstance(before *v1alpha1.ServerObserved, id string) *v1alpha1.ObservedInstance {
	told := &v1alpha1.ObservedInstance{ID: v1alpha1.Fact(id)}
	if before == nil || before.Instance == nil || before.Instance.ID != told.ID {
		return told
	}
	last := before.Instance
	told.Identity, told.Owner, told.Claim = last.Identity, last.Owner, last.Claim
	told.LaunchedAt, told.ImageID, told.Flavor = last.LaunchedAt.DeepCopy(), last.ImageID, last.Flavor
	told.VCPUs, told.MemoryMiB = last.VCPUs, last.MemoryMiB
	return told
}

func portsOf(facts []provider.PortFacts) []v1alpha1.ObservedPort {
	var told []v1alpha1.ObservedPort
	for _, port := range facts {
		told = append(told, v1alpha1.ObservedPort{
			ID:                  v1alpha1.Fact(port.ID),
			Index:               int32(port.Index),
			NetworkID:           v1alpha1.Fact(port.NetworkID),
			DeviceID:            v1alpha1.Fact(port.DeviceID),
			FixedIPs:            texts(port.FixedIPs),
			SecurityGroups:      texts(port.SecurityGroups),
			AllowedAddressPairs: texts(pairsOf(port.AddressPairs)),
		})
	}
	slices.SortFunc(told, func(a, b v1alpha1.ObservedPort) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.ID, b.ID))
	})
	return bounded(told, maxPorts)
}

func pairsOf(pairs []provider.AddressPair) []string {
	var told []string
	for _, pair := range pairs {
		told = append(told, virtual.PairText(pair.IP, pair.MAC))
	}
	return told
}

// portAsSeen is the other way round: a port of which nothing is known but what was last seen.
func portAsSeen(port v1alpha1.ObservedPort, identity string) provider.PortFacts {
	facts := provider.PortFacts{
		ID: port.ID, Identity: identity, Index: int(port.Index), NetworkID: port.NetworkID, DeviceID: port.DeviceID,
		FixedIPs: port.FixedIPs, SecurityGroups: port.SecurityGroups,
	}
	for _, pair := range port.AllowedAddressPairs {
		address, mac, _ := strings.Cut(pair, " ")
		facts.AddressPairs = append(facts.AddressPairs, provider.AddressPair{IP: address, MAC: mac})
	}
	return facts
}

func floatingOf(facts *provider.FloatingIPFacts) *v1alpha1.ObservedFloatingIP {
	if facts == nil {
		return nil
	}
	return &v1alpha1.ObservedFloatingIP{ID: v1alpha1.Fact(facts.ID), Address: v1alpha1.Fact(facts.Address), PortID: v1alpha1.Fact(facts.PortID)}
}

// texts translates a list in which order means nothing.
func texts(list []string) []string {
	var told []string
	for _, text := range list {
		told = append(told, v1alpha1.Fact(text))
	}
	slices.Sort(told)
	return bounded(told, v1alpha1.MaxAddresses)
}

// cloudPicture is the region of a cloud after it was asked what it is.
func cloudPicture(facts provider.CloudFacts) *v1alpha1.CloudObserved {
	return &v1alpha1.CloudObserved{
		Reachable:           true,
		ProjectID:           v1alpha1.Fact(facts.ProjectID),
		Project:             v1alpha1.Fact(facts.Project),
		ComputeMicroversion: v1alpha1.Fact(facts.ComputeMicroversion),
		Instances:           quotaOf(facts.Instances),
		Cores:               quotaOf(facts.Cores),
		MemoryMiB:           quotaOf(facts.MemoryMiB),
	}
}

func quotaOf(use provider.QuotaUse) *v1alpha1.QuotaUse {
	return &v1alpha1.QuotaUse{Used: int32(use.Used), Limit: int32(use.Limit)}
}

// cloudFailed is the region of a cloud after failures: what it is stays as last seen.
func cloudFailed(before *v1alpha1.CloudObserved, f failure) *v1alpha1.CloudObserved {
	picture := &v1alpha1.CloudObserved{}
	if before != nil {
		picture = before.DeepCopy()
	}
	picture.Reachable = false
	picture.Reason, picture.Message = v1alpha1.Fact(f.reason), v1alpha1.Message(f.message)
	return picture
}

// cloudStanding is how the region speaks of a cloud.
func cloudStanding(observed *v1alpha1.CloudObserved) standing {
	switch {
	case observed == nil:
		return standingUnknown
	case observed.Reachable:
		return standingGood
	}
	return standingBad
}

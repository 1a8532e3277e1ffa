// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Bounds of the lists, as in the schema.
const (
	maxNICs    = 64
	maxDrives  = 64
	maxGaps    = 32
	maxSystems = 64
)

// hardwareOf translates an inventory. Lists are sorted by what does not change by itself, and cut after it, so that one machine
// always gives one picture whatever order its BMC tells it in (B158).
func hardwareOf(hardware provider.Hardware, gaps []string, before *v1alpha1.Hardware) *v1alpha1.Hardware {
	told := &v1alpha1.Hardware{
		Manufacturer:     v1alpha1.Fact(hardware.Manufacturer),
		Model:            v1alpha1.Fact(hardware.Model),
		SerialNumber:     v1alpha1.Fact(hardware.Serial),
		SKU:              v1alpha1.Fact(hardware.SKU),
		BIOSVersion:      v1alpha1.Fact(hardware.BIOSVersion),
		CPUs:             cpusOf(hardware.Processors),
		Memory:           bytesOf(hardware.MemoryBytes),
		NICs:             nicsOf(hardware.NICs, before),
		NICCount:         int32(len(hardware.NICs)),
		Drives:           drivesOf(hardware.Drives),
		DriveCount:       int32(len(hardware.Drives)),
		AcceleratorCount: int32(len(hardware.Accelerators)),
	}
	for _, gap := range gaps {
		told.Gaps = append(told.Gaps, v1alpha1.Fact(gap))
	}
	slices.Sort(told.Gaps)
	told.Gaps = bounded(slices.Compact(told.Gaps), maxGaps)
	return told
}

func cpusOf(processors []provider.Processor) v1alpha1.CPUSummary {
	sum := v1alpha1.CPUSummary{Sockets: int32(len(processors))}
	for _, processor := range processors {
		sum.Cores += int32(processor.Cores)
		sum.Threads += int32(processor.Threads)
	}
	if len(processors) > 0 {
		first := slices.MinFunc(processors, func(a, b provider.Processor) int { return cmp.Compare(a.ID, b.ID) })
		sum.Model = v1alpha1.Fact(first.Model)
	}
	return sum
}

func bytesOf(bytes int64) *resource.Quantity {
	if bytes <= 0 {
		return nil
	}
	return resource.NewQuantity(bytes, resource.BinarySI)
}

// nicsOf keys NICs by MAC. Their names are often no more than positions in a list and rotate with it, so a MAC that is known
// keeps the name it had.
func nicsOf(nics []provider.NIC, before *v1alpha1.Hardware) []v1alpha1.NIC {
	names := namesByMAC(nics, before)
	var told []v1alpha1.NIC
	for _, nic := range nics {
		one := v1alpha1.NIC{
			Name:      v1alpha1.Fact(nic.Name),
			MAC:       v1alpha1.Fact(nic.MAC),
			LinkUp:    nic.LinkUp,
			SpeedMbps: int32(nic.SpeedMbps),
		}
		if name, known := names[one.MAC]; known {
			one.Name = name
		}
		told = append(told, one)
	}
	slices.SortFunc(told, compareNICs)
	return bounded(told, maxNICs)
}

// namesByMAC returns the names that are known of MACs that name one single NIC, before and now.
func namesByMAC(nics []provider.NIC, before *v1alpha1.Hardware) map[string]string {
	names := map[string]string{}
	if before == nil {
		return names
	}
	told, known := map[string]int{}, map[string]int{}
	for _, nic := range nics {
		told[v1alpha1.Fact(nic.MAC)]++
	}
	for _, nic := range before.NICs {
		known[nic.MAC]++
		names[nic.MAC] = nic.Name
	}
	maps.DeleteFunc(names, func(mac, _ string) bool { return mac == "" || known[mac] != 1 || told[mac] != 1 })
	return names
}

func compareNICs(a, b v1alpha1.NIC) int {
	return cmp.Or(cmp.Compare(a.MAC, b.MAC), cmp.Compare(a.Name, b.Name), cmp.Compare(a.SpeedMbps, b.SpeedMbps),
		cmp.Compare(link(a), link(b)))
}

// link orders what is told of a link: nothing, down, up.
func link(nic v1alpha1.NIC) int {
	switch {
	case nic.LinkUp == nil:
		return 0
	case !*nic.LinkUp:
		return 1
	}
	return 2
}

func drivesOf(drives []provider.Drive) []v1alpha1.Drive {
	var told []v1alpha1.Drive
	for _, drive := range drives {
		told = append(told, v1alpha1.Drive{
			Name:     v1alpha1.Fact(drive.Name),
			Model:    v1alpha1.Fact(drive.Model),
			Type:     v1alpha1.Fact(drive.MediaType),
			Protocol: v1alpha1.Fact(drive.Protocol),
			Size:     bytesOf(drive.CapacityBytes),
		})
	}
	slices.SortFunc(told, compareDrives)
	return bounded(told, maxDrives)
}

func compareDrives(a, b v1alpha1.Drive) int {
	size := func(d v1alpha1.Drive) int64 {
		if d.Size == nil {
			return 0
		}
		return d.Size.Value()
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Model, b.Model), cmp.Compare(size(a), size(b)),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Protocol, b.Protocol))
}

func bounded[E any](list []E, length int) []E {
	if len(list) > length {
		return slices.Clip(list[:length])
	}
	return list
}

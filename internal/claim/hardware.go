// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func hardwareOf(s *v1alpha1.Server) *v1alpha1.Hardware {
	if s.Status.Observed == nil {
		return nil
	}
	return s.Status.Observed.Hardware
}

// Meets says whether a machine meets the requirements. What the inventory does not tell is not met: a claim that asks for memory
// gets none that nobody has seen.
func Meets(hardware *v1alpha1.Hardware, required *v1alpha1.Requirements) bool {
	if required == nil {
		return true
	}
	if hardware == nil {
		hardware = &v1alpha1.Hardware{}
	}
	return hardware.CPUs.Cores >= required.CPUCores &&
		bytesOf(hardware.Memory) >= bytesOf(required.Memory) &&
		fitsDisks(hardware.Drives, required.Disks)
}

func bytesOf(q *resource.Quantity) int64 {
	if q == nil {
		return 0
	}
	return q.Value()
}

// fitsDisks says whether each requirement finds a drive of its own: a matching in a bipartite graph, by augmenting paths. Taking
// the first or the smallest drive for each in turn would refuse machines that fit.
func fitsDisks(drives []v1alpha1.Drive, required []v1alpha1.DriveRequirement) bool {
	takenBy := make([]int, len(drives)) // 1 + index of the requirement, 0: free
	var assign func(need int, tried []bool) bool
	assign = func(need int, tried []bool) bool {
		for d := range drives {
			if tried[d] || !fitsDisk(drives[d], required[need]) {
				continue
			}
			tried[d] = true
			if takenBy[d] == 0 || assign(takenBy[d]-1, tried) {
				takenBy[d] = need + 1
				return true
			}
		}
		return false
	}
	for need := range required {
		if !assign(need, make([]bool, len(drives))) {
			return false
		}
	}
	return true
}

func fitsDisk(d v1alpha1.Drive, r v1alpha1.DriveRequirement) bool {
	return (r.Type == "" || r.Type == d.Type) && bytesOf(d.Size) >= bytesOf(r.MinSize)
}

// compareHardware orders machines by what would be wasted of them. All requirements are the same claim's, so the smaller machine
// wastes less; accelerators weigh most, then memory, cores and drives: what is dearest to leave idle.
func compareHardware(a, b *v1alpha1.Hardware) int {
	if a == nil {
		a = &v1alpha1.Hardware{}
	}
	if b == nil {
		b = &v1alpha1.Hardware{}
	}
	return cmp.Or(
		cmp.Compare(a.AcceleratorCount, b.AcceleratorCount),
		cmp.Compare(bytesOf(a.Memory), bytesOf(b.Memory)),
		cmp.Compare(a.CPUs.Cores, b.CPUs.Cores),
		cmp.Compare(capacity(a.Drives), capacity(b.Drives)),
	)
}

func capacity(drives []v1alpha1.Drive) int64 {
	var sum int64
	for _, d := range drives {
		sum += bytesOf(d.Size)
	}
	return sum
}

// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// virtualFacts say what was seen last of a VM, its ports and its floating IP.
func (r *reading) virtualFacts(seen v1alpha1.ServerObserved) []Line {
	lines := []Line{{"vm", strings.Join(append(vm(seen.Instance), r.power(seen)...), ", ")}}
	if i := seen.Instance; i != nil && len(i.Others) > 0 {
		lines = append(lines, Line{"others", "bear the same identity: " + strings.Join(i.Others, ", ")})
	}
	for _, port := range seen.Ports {
		lines = append(lines, Line{"port", portText(port)})
	}
	if ip := seen.FloatingIP; ip != nil {
		text := ip.Address + ", on no port"
		if ip.PortID != "" {
			text = ip.Address + ", on port " + ip.PortID
		}
		lines = append(lines, Line{"floating ip", text})
	}
	return lines
}

// vm says what a VM is and how it is.
func vm(i *v1alpha1.ObservedInstance) []string {
	switch {
	case i == nil:
		return []string{"none is known"}
	case !i.Exists:
		text := i.ID + " is gone: the cloud says that it does not exist"
		if i.LaunchedAt != nil {
			text += "; it was launched " + moment(i.LaunchedAt.Time)
		}
		return []string{text}
	}
	parts := []string{i.ID + " " + i.State}
	if i.TaskState != "" {
		parts[0] += " (" + i.TaskState + ")"
	}
	if i.Fault != "" {
		parts = append(parts, fmt.Sprintf("fault %q", i.Fault))
	}
	if i.LaunchedAt == nil {
		parts = append(parts, "never launched")
	}
	if i.Flavor != "" {
		parts = append(parts, "flavor "+i.Flavor)
	}
	if i.ImageID != "" {
		parts = append(parts, "image "+i.ImageID)
	}
	if len(i.Addresses) > 0 {
		parts = append(parts, strings.Join(i.Addresses, " "))
	}
	return parts
}

func portText(port v1alpha1.ObservedPort) string {
	text := fmt.Sprintf("%d: %s %s", port.Index, port.ID, strings.Join(port.FixedIPs, " "))
	if port.DeviceID == "" {
		return strings.TrimSpace(text) + ", plugged in nowhere"
	}
	return strings.TrimSpace(text) + ", plugged into " + port.DeviceID
}

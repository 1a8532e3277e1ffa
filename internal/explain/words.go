// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// values stand in a way out for what a person would have to look up.
type values struct{ serverIdentity, serverName, stamp, claimIdentity, claimUID, owner, restore string }

// fill writes the object's own values into the ways out of its gates, so that they can be typed as they stand.
func fill(gates []lifecycle.GateDescription, v values) {
	var pairs []string
	for placeholder, value := range map[string]string{
		"<identity of the server>": v.serverIdentity, "<name of the server>": v.serverName,
		"<identity of the claim>": v.claimIdentity, "<UID of the claim object>": v.claimUID, "<old owner>": v.owner,
		"<stamp that it bears>": v.stamp, "<name of the restore>": v.restore,
	} {
		if value != "" {
			pairs = append(pairs, placeholder, value)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	for i := range gates {
		for j, way := range gates[i].WaysOut {
			gates[i].WaysOut[j] = replacer.Replace(way)
		}
	}
}

func (r *reading) serverFacts(v lifecycle.ServerView) []Line {
	lines := []Line{{"machine", r.machine(v.Facts())}}
	if v.Server.Spec.OpenStack != nil {
		lines = r.virtualFacts(v.Facts())
	}
	for _, bound := range v.BoundClaims {
		lines = append(lines, Line{"bound", "claim " + bound.Namespace + "/" + bound.Name + " remembers this machine"})
	}
	return lines
}

// power says how power was seen last, and whether that is of now.
func (r *reading) power(seen v1alpha1.ServerObserved) []string {
	parts := []string{"power " + cmp.Or(string(seen.PowerState), "Unknown")}
	if seen.Since != nil {
		parts[0] += " for " + r.ago(seen.Since.Time)
	}
	if !seen.Reachable {
		parts = append(parts, "not reachable ("+cmp.Or(seen.Reason, v1alpha1.ReasonNotObserved)+"): this is the last picture")
	}
	return parts
}

// machine says what was seen last.
func (r *reading) machine(seen v1alpha1.ServerObserved) string {
	parts := r.power(seen)
	if seen.BootProgress != "" {
		parts = append(parts, "boot progress "+seen.BootProgress)
	}
	if o := seen.BootOverride; o != nil && o.Enabled != "" && o.Enabled != "Disabled" {
		parts = append(parts, "next boot from "+o.Target+" ("+o.Enabled+")")
	}
	if seen.Media != nil {
		for _, slot := range seen.Media.Slots {
			if slot.Inserted {
				parts = append(parts, "virtual drive "+slot.Slot+" holds "+slot.Image)
			}
		}
	}
	switch {
	case ledger.IsStamp(seen.AssetTag):
		parts = append(parts, "stamped "+seen.AssetTag)
	case seen.AssetTag != "":
		parts = append(parts, fmt.Sprintf("asset tag %q", seen.AssetTag))
	}
	return strings.Join(parts, ", ")
}

func (r *reading) ago(at time.Time) string {
	return max(0, r.now.Sub(at)).Round(time.Second).String()
}

func claimFacts(v claim.View) []Line { return []Line{{"asks for", wish(v.Claim.Spec)}} }

func wish(spec v1alpha1.ServerClaimSpec) string {
	which := "any server"
	switch {
	case spec.ClassName != "":
		return fmt.Sprintf("a VM of class %s, power %s", spec.ClassName, cmp.Or(spec.Power, v1alpha1.PowerOn))
	case spec.ServerRef != nil:
		which = "server " + spec.ServerRef.Name
	case spec.Selector != nil:
		var labels []string
		for key, value := range spec.Selector.MatchLabels {
			labels = append(labels, key+"="+value)
		}
		which = "a server with " + cmp.Or(strings.Join(labels, ","), "the labels of its selector")
	}
	return fmt.Sprintf("%s, power %s, boot by %s (%s)", which, cmp.Or(spec.Power, v1alpha1.PowerOn), cmp.Or(spec.Boot.Method, v1alpha1.BootPXE), cmp.Or(spec.Boot.When, v1alpha1.BootOnce))
}

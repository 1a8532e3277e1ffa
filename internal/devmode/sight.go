// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// sight is what people want to hear of an object.
type sight struct {
	kind, name string
	phase      string
	holder     string // the claim that has a server, or the server that a claim has
	ready      bool
	stalled    string // reason and message where it is stalled
	deleting   bool
}

func sightOf(object any) sight {
	switch o := object.(type) {
	case *v1alpha1.Server:
		s := see("server", o.Name, o, o.Status.Conditions)
		s.phase = string(o.Status.Phase)
		if ref := o.Spec.ClaimRef; ref != nil {
			s.holder = "claim " + ref.Namespace + "/" + ref.Name
		}
		return s
	case *v1alpha1.ServerClaim:
		s := see("claim", o.Namespace+"/"+o.Name, o, o.Status.Conditions)
		s.phase = string(o.Status.Phase)
		if o.Spec.ServerName != "" {
			s.holder = "server " + o.Spec.ServerName
		}
		return s
	case *v1alpha1.BMC:
		return see("bmc", o.Name, o, o.Status.Conditions)
	case *v1alpha1.Cloud:
		return see("cloud", o.Name, o, o.Status.Conditions)
	case *v1alpha1.ServerClass:
		return see("class", o.Name, o, o.Status.Conditions)
	case *v1alpha1.ServerMaintenance:
		s := see("maint", o.Name, o, o.Status.Conditions)
		if active := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionActive); active != nil {
			s.phase = active.Reason
		}
		return s
	}
	return sight{}
}

func see(kind, name string, object metav1.Object, conditions []metav1.Condition) sight {
	s := sight{kind: kind, name: name, deleting: object.GetDeletionTimestamp() != nil}
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady); c != nil && c.Status == metav1.ConditionTrue {
		s.ready = true
	}
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionStalled); c != nil && c.Status == metav1.ConditionTrue {
		s.stalled = c.Reason + ": " + c.Message
	}
	return s
}

// changes tell the way from before to s: in one line what moved, and in one of its own what holds it. The zero sight is an object not
// seen before.
func (s sight) changes(before sight) []string {
	var moved []string
	if before.kind == "" {
		moved = append(moved, "there")
	}
	if s.holder != before.holder {
		moved = append(moved, s.heldBy(before))
	}
	switch {
	case s.phase == before.phase || s.phase == "":
	case before.phase == "":
		moved = append(moved, s.phase)
	default:
		moved = append(moved, before.phase+" → "+s.phase)
	}
	if s.deleting && !before.deleting {
		moved = append(moved, "asked to go")
	}
	if s.stalled == "" && before.stalled != "" {
		moved = append(moved, "held no more")
	}
	if s.ready && !before.ready {
		moved = append(moved, "ready")
	}
	var lines []string
	if len(moved) > 0 {
		lines = append(lines, strings.Join(moved, ", "))
	}
	if s.stalled != before.stalled && s.stalled != "" {
		lines = append(lines, "HELD "+s.stalled)
	}
	return lines
}

func (s sight) heldBy(before sight) string {
	if s.holder == "" {
		return "let go by " + before.holder
	}
	return "bound to " + s.holder
}

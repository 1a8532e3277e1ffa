// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// initialSteps write memory before anything else is done: finalizer, identity, owner, and which object they were confirmed for. What the
// VM needs is waited for later: a claim writes down what it got as soon as that remembers itself.
var initialSteps = rules.Named("Initial", steps{
	{Name: "Remember", When: (*state).Fresh, Then: func(s *state) answer {
		return s.confirm("remember which server this is, and that it is ours", ledger.Entries{}.Identity(s.derived()))
	}},
	{Name: "Complete", When: rules.Not((*state).Moved), Then: func(s *state) answer {
		return s.confirm("complete what is remembered", ledger.Entries{})
	}},
	{Name: "AwaitFacts", When: rules.Either(rules.Not((*state).reachable), (*state).unknown), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonInitializing, "the object was restored or moved: waiting for a picture that shows the same VM, or none").Unknown()
	}},
	{Name: "Confirm", When: rules.Always[*state], Then: func(s *state) answer {
		return s.confirm("the object was restored or moved, and the VM is the same: confirm its memory", ledger.Entries{})
	}},
})

// confirm is the patch after which memory is confirmed. A changed object drops any intent: what it announced was another time's.
func (s *state) confirm(message string, entries ledger.Entries) answer {
	p := lifecycle.Patch{Ledger: entries.Owner(s.V.Settings.ClusterID).ObjectUID(s.V.Server.UID)}
	if !s.Deleting() {
		p.AddFinalizer = v1alpha1.FinalizerServer // the API server refuses one on an object being deleted
	}
	s.closeIntent(&p)
	return rules.Patch(v1alpha1.ReasonInitializing, message, p)
}

// cloudMissing rests on the Cloud's absence: it is believed live.
func (s *state) cloudMissing() answer {
	return rules.HoldLive(v1alpha1.ReasonDependencyMissing, "there is no Cloud "+s.openstack.CloudRef.Name+": create it, or restore it")
}

// dependencies are what the VM is made with: there, not on the way out, and kept from going, before their first use.
var dependencies = rules.Named("Dependency", steps{
	{Name: "Missing", When: func(s *state) bool { return s.lacking(isMissing) != "" }, Then: func(s *state) answer {
		return rules.HoldLive(v1alpha1.ReasonDependencyMissing, "there is no "+s.lacking(isMissing)+": create it, or restore it")
	}},
	{Name: "Deleting", When: func(s *state) bool { return s.lacking(isDeleting) != "" }, Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonDependencyDeleting, "the "+s.lacking(isDeleting)+" is being deleted: it takes no new server. Make it anew, or delete the Server")
	}},
	{Name: "AwaitGuard", When: func(s *state) bool { return s.lacking(isUnguarded) != "" }, Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonCreating, "waiting until the "+s.lacking(isUnguarded)+" is guarded by the finalizer "+v1alpha1.FinalizerInUse)
	}},
})

func isMissing(d lifecycle.Dependency) bool   { return d.Missing }
func isDeleting(d lifecycle.Dependency) bool  { return d.Deleting }
func isUnguarded(d lifecycle.Dependency) bool { return !d.Guarded }

// lacking names the first dependency that is so; "" for none.
func (s *state) lacking(so func(lifecycle.Dependency) bool) string {
	for _, d := range s.V.Dependencies {
		if so(d) {
			return d.Kind + " " + d.Name
		}
	}
	return ""
}

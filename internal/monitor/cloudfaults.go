// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"maps"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// fault is what a cloud told of an errored VM when it was asked for by id.
type fault struct {
	text  string
	tries int
}

// faultTries is how often a VM that is errored is asked why, where the cloud tells nothing: it may be writing that down at this moment, and
// it may have nothing to tell.
const faultTries = 3

// explain asks by id why errored VMs are, where their listing does not tell: Nova keeps a VM that no host took in a cell whose listings
// have no faults (B219). It is asked for once an error, whatever the number of looks after.
func (a *asking) explain(ctx context.Context, v *cloudVisit, learned *memory) error {
	maps.DeleteFunc(learned.faults, func(id string, _ fault) bool { return !learned.instances[id].Errored })
	var seen map[string]string
	for _, id := range learned.unexplained(a.owner) {
		if seen == nil {
			seen = faultsAsSeen(v.servers)
		}
		known := learned.faults[id]
		if known.text == "" {
			known.text = seen[id]
		}
		if known.text == "" && known.tries < faultTries {
			facts, answer, err := byID(a, lookInstance, func() (provider.InstanceFacts, error) { return a.observer.Instance(ctx, id) })
			if err != nil {
				return err
			}
			if answer == there {
				known = fault{text: facts.Fault, tries: known.tries + 1}
			}
		}
		learned.faults[id] = known
		one := learned.instances[id]
		one.Fault = known.text
		learned.instances[id] = one
	}
	return nil
}

// unexplained are the ids of owner's errored VMs of which no listing tells why, in order.
func (m *memory) unexplained(owner string) []string {
	var ids []string
	for id, one := range m.instances {
		if one.Errored && one.Fault == "" && one.Owner == owner {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// faultsAsSeen are the faults in the last pictures, by id of the VM: a monitor that was started anew need not ask for them.
func faultsAsSeen(servers []*v1alpha1.Server) map[string]string {
	seen := map[string]string{}
	for _, server := range servers {
		if o := server.Status.Observed; o != nil && o.Instance != nil && o.Instance.Errored {
			seen[o.Instance.ID] = o.Instance.Fault
		}
	}
	return seen
}

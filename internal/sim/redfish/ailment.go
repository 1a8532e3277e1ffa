// SPDX-License-Identifier: Apache-2.0

package redfish

import "fmt"

// Ailment is a fault that BMCs of a model are known for, by name: a mood, or faults of single requests, or both.
type Ailment struct {
	Name string `json:"name"` // what it does, in few words with hyphens
	// Cases are the fault cases it shows.
	Cases []string `json:"cases,omitempty"`
	// Behave changes the mood; nil where it does not.
	Behave func(*Behaviour) `json:"-"`
	// Faults are injected, counted as they say.
	Faults []Fault `json:"faults,omitempty"`
}

// Ailments returns the faults this BMC's model is known for.
func (b *BMC) Ailments() []Ailment { return append([]Ailment{}, b.profile.Ailments...) }

// Suffer switches one of the model's ailments on. [BMC.Behave] and [BMC.ClearFaults] end it.
func (b *BMC) Suffer(name string) error {
	for _, a := range b.profile.Ailments {
		if a.Name != name {
			continue
		}
		if a.Behave != nil {
			b.Behave(a.Behave)
		}
		for _, f := range a.Faults {
			if _, err := b.Inject(f); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("redfish rack: the model of BMC %q is not known for %q", b.spec.Name, name)
}

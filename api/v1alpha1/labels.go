// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"slices"
)

// LabelValue is the value of a label. It is another name of string, so that maps of labels can be handed to apimachinery as
// they are while the schema knows how long a value may be: without that the API server refuses a CEL rule over the values
// as too costly.
// +kubebuilder:validation:MaxLength=63
type LabelValue = string

// DeepCopyInto copies the template. It is written by hand because controller-gen makes no copy of a map whose values have
// the name of an alias.
func (t *ServerTemplate) DeepCopyInto(out *ServerTemplate) {
	*out = *t
	out.Labels = maps.Clone(t.Labels)
	out.Taints = slices.Clone(t.Taints)
}

// DeepCopy copies the template.
func (t *ServerTemplate) DeepCopy() *ServerTemplate {
	if t == nil {
		return nil
	}
	out := new(ServerTemplate)
	t.DeepCopyInto(out)
	return out
}

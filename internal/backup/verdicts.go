// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/bmc"
	"github.com/holdfast-dev/holdfast/internal/reconciler/cloud"
	"github.com/holdfast-dev/holdfast/internal/reconciler/serverclass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/sshca"
)

// verdicts are the outcomes of all plays, object by object.
func (c *check) verdicts(plays []*play) []Object {
	var objects []Object
	for _, kind := range order {
		for _, item := range c.items {
			if item.Kind != kind || kind == KindSecret || kind == KindNamespace {
				continue
			}
			object := Object{Kind: kind, Name: item.Name(), Origin: item.Origin, Made: kind == KindServer && c.made[item.Name()]}
			object.Outcomes = c.outcomes(plays, item)
			object.Verdict = object.Expected().Verdict
			objects = append(objects, object)
		}
	}
	return objects
}

func (c *check) outcomes(plays []*play, item Item) []Outcome {
	switch item.Kind {
	case KindServer:
		return c.inEach(plays, item, item.Name())
	case KindClaim:
		if server := c.serverOf[item.Name()]; server != "" {
			return c.inEach(plays, item, server)
		}
		return []Outcome{expected(plays[0].end(KindClaim, item.Name()).outcome(KindClaim))}
	case KindMaintenance:
		return []Outcome{expected(plays[0].end(KindMaintenance, item.Name()).outcome(KindMaintenance))}
	}
	return []Outcome{expected((&end{gates: standing(plays[0], item.Object)}).outcome(item.Kind))}
}

func expected(o Outcome) Outcome {
	o.Expected = true
	return o
}

// inEach is what became of a server, or of the claim that has it, in each condition of the server's machine.
func (c *check) inEach(plays []*play, item Item, server string) []Outcome {
	var outcomes []Outcome
	for round, found := range c.conditions[server] {
		outcome := plays[round].end(item.Kind, item.Name()).outcome(item.Kind)
		outcome.Condition, outcome.Expected = found.Condition, found.expected
		if picture := plays[round].pictures[server]; !picture.picture.Reachable {
			outcome.Condition = Unreachable
			return []Outcome{expected(outcome)}
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// standing is how an object stands that is only used: what its controller reports of it.
func standing(p *play, object client.Object) []lifecycle.Gate {
	var gates []lifecycle.Gate
	switch o := p.objects[reflect.TypeOf(object)][client.ObjectKeyFromObject(object)].(type) {
	case *v1alpha1.BMC:
		_, gates = bmc.Describe(o, p.behind(o.Name))
	case *v1alpha1.Cloud:
		_, gates = cloud.Describe(o)
	case *v1alpha1.ServerClass:
		dependencies, err := serverclass.Dependencies(context.Background(), p.world, o)
		if err == nil { // a world in memory has no errors
			_, gates = serverclass.Describe(dependencies)
		}
	case *v1alpha1.SSHCertificateAuthority:
		gates = sshca.Describe(o)
	}
	return gates
}

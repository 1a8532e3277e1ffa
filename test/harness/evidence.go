// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// leave takes away what the test made, so that nobody looks at it any more; after a failure it prints it first.
func (k *Kit) leave() {
	k.evidence()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var claims v1alpha1.ServerClaimList
	var servers v1alpha1.ServerList
	var objects []client.Object
	for _, machine := range k.machines {
		objects = append(objects, k.BMCObject(machine.Name)) // first: it makes Servers anew
	}
	for _, cloud := range k.clouds {
		objects = append(objects, &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: cloud.Name}})
	}
	if k.Admin.List(ctx, &servers) == nil {
		for i := range servers.Items {
			if k.machine(servers.Items[i].Labels[v1alpha1.LabelBMC]) != nil || k.cloudOf(&servers.Items[i]) != nil {
				objects = append(objects, &servers.Items[i])
			}
		}
	}
	if k.Admin.List(ctx, &claims, client.InNamespace(k.Namespace)) == nil {
		for i := range claims.Items {
			objects = append(objects, &claims.Items[i])
		}
	}
	for _, object := range objects {
		_ = k.Admin.Patch(ctx, object, withoutFinalizers) // best effort: the control plane ends with its package
		_ = k.Admin.Delete(ctx, object)
		_ = k.Admin.Patch(ctx, object, withoutFinalizers)
	}
}

// evidence prints, after a failure, the objects of the test, what was last asked of its BMCs, and what happened to its machines.
func (k *Kit) evidence() {
	if !k.T.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var out strings.Builder
	for _, list := range []client.ObjectList{&v1alpha1.ServerClaimList{}, &v1alpha1.ServerMaintenanceList{}, &v1alpha1.ServerList{}, &v1alpha1.BMCList{}, &v1alpha1.CloudList{}} {
		if err := k.Admin.List(ctx, list); err != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		k.tell(&out, list)
	}
	for _, machine := range k.machines {
		k.tellMachine(&out, machine)
	}
	for _, cloud := range k.clouds {
		k.tellCloud(&out, cloud)
	}
	k.T.Log(out.String())
}

func (k *Kit) tell(out *strings.Builder, list client.ObjectList) {
	switch l := list.(type) {
	case *v1alpha1.ServerClaimList:
		for i := range l.Items {
			k.print(out, &l.Items[i])
		}
	case *v1alpha1.ServerMaintenanceList:
		for i := range l.Items {
			k.print(out, &l.Items[i])
		}
	case *v1alpha1.ServerList:
		for i := range l.Items {
			if l.Items[i].Status.Observed != nil {
				l.Items[i].Status.Observed.Hardware = nil
			}
			k.print(out, &l.Items[i])
		}
	case *v1alpha1.BMCList:
		for i := range l.Items {
			l.Items[i].Spec.TLS = nil
			k.print(out, &l.Items[i])
		}
	case *v1alpha1.CloudList:
		for i := range l.Items {
			k.print(out, &l.Items[i])
		}
	}
}

// mostEvidence bounds what is printed: a fleet of thousands says no more than its first objects.
const mostEvidence = 1 << 20

// print prints an object of this test.
func (k *Kit) print(out *strings.Builder, object client.Object) {
	if out.Len() > mostEvidence || (!strings.HasPrefix(object.GetName(), k.Name) && object.GetNamespace() != k.Namespace) {
		return
	}
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object)
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	fmt.Fprintf(out, "--- %T\n%s", object, text)
}

func (k *Kit) tellMachine(out *strings.Builder, machine *Machine) {
	fmt.Fprintf(out, "--- machine %s: %+v\n", machine.Name, machine.Status())
	requests, err := k.Rack.Requests(sim.RequestFilter{BMC: machine.Name, After: k.begun.request})
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	const most = 60
	for _, r := range requests[max(0, len(requests)-most):] {
		fmt.Fprintf(out, "%s %s %s %s → %d %s\n", r.At.Format("15:04:05.000"), r.Method, r.Path, r.Body, r.Status, r.Fault)
	}
	for _, e := range k.Rack.MachineLog(sim.EventFilter{BMC: machine.Name, After: k.begun.event}) {
		fmt.Fprintf(out, "%s %s %s→%s %s %s by %s\n", e.At.Format("15:04:05.000"), e.Kind, e.From, e.To, e.Source, e.Detail, e.By)
	}
}

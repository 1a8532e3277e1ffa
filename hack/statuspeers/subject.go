// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// subject is the object that all report on.
type subject struct {
	ctx  context.Context //nolint:containedctx // of the whole program
	key  client.ObjectKey
	api  client.Client
	flux client.Client // knows the same kind as a type that takes part in Flux's contract
}

// prepare makes a Server such as controllers meet: thirty annotations, and a picture of a few KiB that another one writes.
func prepare(ctx context.Context, config *rest.Config) (*subject, error) {
	ours, theirs := runtime.NewScheme(), runtime.NewScheme()
	if err := v1alpha1.AddToScheme(ours); err != nil {
		return nil, err
	}
	theirs.AddKnownTypeWithName(v1alpha1.GroupVersion.WithKind("Server"), &fluxServer{})
	metav1.AddToGroupVersion(theirs, v1alpha1.GroupVersion)
	s := &subject{ctx: ctx, key: client.ObjectKey{Name: "status-peers"}}
	var err error
	if s.api, err = client.New(config, client.Options{Scheme: ours}); err != nil {
		return nil, err
	}
	if s.flux, err = client.New(config, client.Options{Scheme: theirs}); err != nil {
		return nil, err
	}
	server := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: s.key.Name, Annotations: map[string]string{}},
		Spec:       v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: "none"}, SystemID: "1"}},
	}
	for i := range 30 {
		server.Annotations[fmt.Sprintf("notes.example.com/entry-%02d", i)] = fmt.Sprintf("value of the entry number %d", i)
	}
	if err := s.api.Create(ctx, server); err != nil {
		return nil, err
	}
	server.Status = typicalStatus()
	return s, s.api.Status().Update(ctx, server)
}

func typicalStatus() v1alpha1.ServerStatus {

	hardware := &v1alpha1.Hardware{Manufacturer: "Example", Model: "Rack server", SerialNumber: "S0000001"}
	for i := range 16 {
		hardware.NICs = append(hardware.NICs, v1alpha1.NIC{Name: fmt.Sprintf("nic-%d", i), MAC: fmt.Sprintf("02:00:00:00:00:%02x", i)})
		hardware.Drives = append(hardware.Drives, v1alpha1.Drive{Name: fmt.Sprintf("disk-%d", i), Model: fmt.Sprintf("model %030d", i)})
	}
	return v1alpha1.ServerStatus{Observed: &v1alpha1.ServerObserved{Reachable: true, Hardware: hardware}}
}

// fluxServer is a Server that takes part in the contract of Flux's runtime.
type fluxServer v1alpha1.Server

// GetConditions implements the contract.
func (f *fluxServer) GetConditions() []metav1.Condition { return f.Status.Conditions }

// SetConditions implements the contract.
func (f *fluxServer) SetConditions(conditions []metav1.Condition) { f.Status.Conditions = conditions }

// DeepCopyObject implements runtime.Object.
func (f *fluxServer) DeepCopyObject() runtime.Object {
	return (*fluxServer)((*v1alpha1.Server)(f).DeepCopy())
}

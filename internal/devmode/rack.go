// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// slot is one place in the rack.
type slot struct {
	name, rack string
	profile    sim.Profile
	hardware   sim.Hardware
	assetTag   string // what a person wrote there before
}

// slots are two big and two small machines, each of another vendor's model.
func slots() []slot {
	small := sim.DefaultHardware()
	small.Processors = []sim.Processor{{Model: "Simulated Processor 4410", Cores: 12, Threads: 24}}
	small.MemoryGiB = []float64{64, 64}
	return []slot{
		{name: "rack1-u01", rack: "r1", profile: sim.DellIDRAC9(), hardware: sim.DefaultHardware()},
		{name: "rack1-u02", rack: "r1", profile: sim.HPEiLO6(), hardware: sim.DefaultHardware(), assetTag: "INV-4711"},
		{name: "rack2-u01", rack: "r2", profile: sim.Conforming(), hardware: small},
		{name: "rack2-u02", rack: "r2", profile: sim.LenovoXCC(), hardware: small},
	}
}

// credentials of all BMCs of the rack.
const (
	credentials = "rack-credentials"
	username    = "holdfast"
	password    = "simulated"
)

func (s *Stack) startRack(port int) error {
	rack, err := sim.NewRack(sim.Config{
		HTTPS:    fmt.Sprintf("0.0.0.0:%d", port), // every address of 127/8; connections from elsewhere are refused
		Control:  "127.0.0.1:0",
		Timing:   &s.options.Tempo.Machines,
		Netboot:  &s.options.Tempo.Netboot,
		StateDir: filepath.Join(s.places.dir, "machines"),
	})
	if err != nil {
		return err
	}
	s.Rack = rack
	for _, slot := range slots() {
		_, err := rack.AddBMC(sim.BMCSpec{
			Name: slot.name, Username: username, Password: password, Profile: &slot.profile,
			Systems: []sim.MachineSpec{{Hardware: &slot.hardware, AssetTag: slot.assetTag}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Machine is the simulated machine behind the BMC of that name; nil where there is none.
func (s *Stack) Machine(bmc string) *sim.Machine {
	if b := s.Rack.BMC(bmc); b != nil {
		return b.Machines()[0]
	}
	return nil
}

// Enroll registers the rack: a Secret, and a BMC object for each BMC. Where they exist they are brought up to date: the rack's
// certificate authority is another one with each start. It returns the names of the BMCs.
func (s *Stack) Enroll(ctx context.Context) ([]string, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: credentials}}
	err := s.apply(ctx, secret, func() {
		secret.Type = corev1.SecretTypeBasicAuth
		secret.Data = map[string][]byte{corev1.BasicAuthUsernameKey: []byte(username), corev1.BasicAuthPasswordKey: []byte(password)}
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, slot := range slots() {
		names = append(names, slot.name)
		bmc := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: slot.name}}
		err := s.apply(ctx, bmc, func() {
			bmc.Spec.Endpoint = s.Rack.BMC(slot.name).Endpoint()
			bmc.Spec.CredentialsSecretRef.Name = credentials
			bmc.Spec.TLS = &v1alpha1.BMCTLS{CABundle: string(s.Rack.CAPEM())}
			bmc.Spec.ServerTemplate = &v1alpha1.ServerTemplate{Labels: map[string]string{"rack": slot.rack}}
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (s *Stack) apply(ctx context.Context, object client.Object, change func()) error {
	_, err := controllerutil.CreateOrPatch(ctx, s.Admin, object, func() error {
		change()
		return nil
	})
	if err != nil {
		return fmt.Errorf("register %s: %w", object.GetName(), err)
	}
	return nil
}

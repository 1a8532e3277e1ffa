// SPDX-License-Identifier: Apache-2.0

// Package lifecycletest builds what decisions look at: servers, claims, maintenances and the views made of them. A scene begins as a
// server of bare metal that is Available, and is changed by overrides that say what is different in a case.
package lifecycletest

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Names and ids of what a scene is made of.
const (
	ClusterID   = "cluster-1"
	ServerName  = "rack1-u07"
	ServerUID   = types.UID("uid-server")
	SystemUUID  = "38947555-7742-3448-3784-823347823834"
	BMCName     = "bmc-u07"
	Namespace   = "tenant"
	ClaimName   = "web"
	ClaimID     = "claim-web" // identity of the claim
	ClaimUID    = types.UID("uid-web")
	Maintenance = "replace-fan"
)

// Identity of the scene's server.
var Identity = ledger.MachineIdentity(ledger.Hardware{SystemUUID: SystemUUID})

// Now is the time of every scene.
var Now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// zero clears a time of a ledger.
var zero time.Time

// Before is a time of the past, by minutes.
func Before(minutes int) time.Time { return Now.Add(-time.Duration(minutes) * time.Minute) }

// Scene is what a view is made of. Ledger is rendered into the server's annotations last.
type Scene struct {
	Settings    lifecycle.Settings
	Server      *v1alpha1.Server
	Ledger      ledger.Server
	Claim       *v1alpha1.ServerClaim
	Maintenance *v1alpha1.ServerMaintenance
	BMC         *v1alpha1.BMC
	Cloud       *v1alpha1.Cloud
	Bound       []*v1alpha1.ServerClaim
	Twins       []string
	UserData    lifecycle.UserData
	// Dependencies of a virtual server.
	Dependencies []lifecycle.Dependency
	Live         bool
	// Garbled entries replace those of the ledger, as they stand.
	Garbled map[string]string
}

// Override says what is different from an Available server.
type Override func(*Scene)

// New builds a scene.
func New(overrides ...Override) *Scene {
	s := &Scene{
		Settings: lifecycle.DefaultSettings(ClusterID),
		Server:   available(),
		Ledger: ledger.Server{
			Identity: Identity, Owner: ClusterID, ObjectUID: ServerUID, DiscoveredAt: Before(600),
		},
		BMC: &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: BMCName, Finalizers: []string{v1alpha1.FinalizerInUse}}},
	}
	for _, o := range overrides {
		if o != nil {
			o(s)
		}
	}
	return s
}

func available() *v1alpha1.Server {
	return &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{
			Name: ServerName, UID: ServerUID, ResourceVersion: "100", Generation: 1, Finalizers: []string{v1alpha1.FinalizerServer},
			CreationTimestamp: metav1.NewTime(Before(700)),
		},
		Spec: v1alpha1.ServerSpec{
			Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: BMCName}, SystemUUID: SystemUUID},
			Power:   v1alpha1.PowerOff, PowerOff: v1alpha1.PowerOffAllowed, FoundRunning: v1alpha1.FoundRunningHold,
			ReclaimPolicy: v1alpha1.ReclaimRecycle, Cleaning: v1alpha1.CleaningNone,
		},
		Status: v1alpha1.ServerStatus{Observed: seen(v1alpha1.ObservedOff)},
	}
}

func seen(power v1alpha1.ObservedPower) *v1alpha1.ServerObserved {
	since := metav1.NewTime(Before(60))
	return &v1alpha1.ServerObserved{
		Reachable: true, SystemUUID: SystemUUID, SystemID: "1", PowerState: power, Since: &since,
		BootOverride: &v1alpha1.ObservedBootOverride{Target: "None", Enabled: "Disabled"},
		IndicatorLED: "Off", Hardware: &v1alpha1.Hardware{Manufacturer: "Acme", Model: "R1", SerialNumber: "S-1"},
	}
}

// View builds the view of a scene.
func View(overrides ...Override) lifecycle.ServerView { return New(overrides...).View() }

// View of the scene: a copy, so that two views share nothing.
func (s *Scene) View() lifecycle.ServerView {
	server := s.Server.DeepCopy()
	server.Annotations = s.annotations()
	v := lifecycle.NewServerView(server, Now, s.Settings)
	v.Live, v.Twins, v.UserData = s.Live, s.Twins, s.UserData
	v.Claim, v.Maintenance, v.BMC = s.Claim.DeepCopy(), s.Maintenance.DeepCopy(), s.BMC.DeepCopy()
	v.Cloud, v.Dependencies = s.Cloud.DeepCopy(), slices.Clone(s.Dependencies)
	v.BoundClaims = s.boundClaims()
	return v
}

func (s *Scene) annotations() map[string]string {
	all := s.Ledger.Render()
	maps.Copy(all, s.Server.Annotations)
	maps.Copy(all, s.Garbled)
	return all
}

// boundClaims are what the reconciler would find: the claims whose ledger names this server's identity.
func (s *Scene) boundClaims() []*v1alpha1.ServerClaim {
	var found []*v1alpha1.ServerClaim
	for _, c := range append(slices.Clone(s.Bound), s.Claim) {
		if c != nil && s.Ledger.Identity != "" && c.Annotations[ledger.KeyBound] == s.Ledger.Identity {
			found = append(found, c.DeepCopy())
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.ServerClaim) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found
}

// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

var (
	now      = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	settings = lifecycle.DefaultSettings("cluster-a")
)

// systemOf is the machine behind a server of that name, idOf its identity.
func systemOf(name string) string { return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(name)).String() }
func idOf(name string) string {
	return ledger.MachineIdentity(ledger.Hardware{SystemUUID: systemOf(name)})
}

type serverOption func(*v1alpha1.Server)

// server is Available unless an option says otherwise.
func server(name string, options ...serverOption) *v1alpha1.Server {
	uid := types.UID(name + "-uid")
	s := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: uid, ResourceVersion: "7", Labels: map[string]string{"rack": "r1"},
			Finalizers:  []string{v1alpha1.FinalizerServer},
			Annotations: ledger.Server{Identity: idOf(name), Owner: settings.ClusterID, ObjectUID: uid, DiscoveredAt: now}.Render(),
		},
		Spec: v1alpha1.ServerSpec{
			Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: name}, SystemUUID: systemOf(name)},
			Power:   v1alpha1.PowerOff, PowerOff: v1alpha1.PowerOffAllowed, FoundRunning: v1alpha1.FoundRunningHold,
			ReclaimPolicy: v1alpha1.ReclaimRecycle, Cleaning: v1alpha1.CleaningNone,
		},
		Status: v1alpha1.ServerStatus{Observed: &v1alpha1.ServerObserved{
			Reachable: true, SystemUUID: systemOf(name), PowerState: v1alpha1.ObservedOff, Hardware: hardware(16, "64Gi"),
		}},
	}
	for _, option := range options {
		option(s)
	}
	return s
}

func hardware(cores int32, memory string, drives ...v1alpha1.Drive) *v1alpha1.Hardware {
	q := resource.MustParse(memory)
	return &v1alpha1.Hardware{Model: "M1", CPUs: v1alpha1.CPUSummary{Sockets: 1, Cores: cores}, Memory: &q, Drives: drives}
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

func drive(size, kind string) v1alpha1.Drive {
	q := resource.MustParse(size)
	return v1alpha1.Drive{Size: &q, Type: kind}
}

func machine(h *v1alpha1.Hardware) serverOption {
	return func(s *v1alpha1.Server) { s.Status.Observed.Hardware = h }
}

func labelled(key, value string) serverOption {
	return func(s *v1alpha1.Server) { s.Labels = map[string]string{key: value} }
}

func tainted(key, value string) serverOption {
	return func(s *v1alpha1.Server) {
		s.Spec.Taints = append(s.Spec.Taints, v1alpha1.Taint{Key: key, Value: value, Effect: v1alpha1.TaintNoBind})
	}
}

// heldBy gives the server the claimRef of a claim; its UID as it is now.
func heldBy(c *v1alpha1.ServerClaim) serverOption {
	return func(s *v1alpha1.Server) {
		s.Spec.ClaimRef = &v1alpha1.ClaimReference{
			Namespace: c.Namespace, Name: c.Name, Identity: c.Annotations[ledger.KeyIdentity], UID: string(c.UID),
		}
	}
}

func entries(e ledger.Entries) serverOption {
	return func(s *v1alpha1.Server) {
		for key, value := range e {
			s.Annotations[key] = value
			if value == "" {
				delete(s.Annotations, key)
			}
		}
	}
}

func booting(identity string, stage ledger.Stage) serverOption {
	return entries(ledger.Entries{}.Boot(&ledger.Boot{Claim: identity, Stage: stage, At: now}))
}

func released(identity string) serverOption {
	return entries(ledger.Entries{}.Released(&ledger.Released{Claim: identity, At: now}))
}

func intent(why ledger.Why, claim string, uid types.UID) serverOption {
	return entries(ledger.Entries{}.Intent(&ledger.Intent{
		ID: "i1", Op: ledger.IntentPowerOff, Why: why, At: now, Target: "sys", Claim: claim, ClaimUID: uid,
	}))
}

type claimOption func(*v1alpha1.ServerClaim)

// tenant is a claim that has its memory and has chosen nothing yet.
func tenant(options ...claimOption) *v1alpha1.ServerClaim {
	c := &v1alpha1.ServerClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "web", UID: "web-uid", ResourceVersion: "3",
			Finalizers:  []string{v1alpha1.FinalizerClaim},
			Annotations: ledger.Claim{Identity: "web-uid"}.Render(),
		},
		Spec: v1alpha1.ServerClaimSpec{Power: v1alpha1.PowerOn, Boot: v1alpha1.ClaimBoot{Method: v1alpha1.BootPXE, When: v1alpha1.BootOnce}},
	}
	for _, option := range options {
		option(c)
	}
	return c
}

func named(name string) claimOption {
	return func(c *v1alpha1.ServerClaim) { c.Spec.ServerName = name }
}

func boundTo(identity string) claimOption {
	return func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyBound] = identity }
}

func deleted(c *v1alpha1.ServerClaim) { c.DeletionTimestamp = &metav1.Time{Time: now} }

func restored(c *v1alpha1.ServerClaim) { c.UID = "web-uid-2" }

func view(c *v1alpha1.ServerClaim, servers ...*v1alpha1.Server) claim.View {
	v := claim.View{Now: now, Settings: settings, Live: true, Claim: c}
	for _, s := range servers {
		if s.Name == c.Spec.ServerName {
			v.Server = s
		}
		if ref := s.Spec.ClaimRef; ref != nil && ref.Identity == c.Annotations[ledger.KeyIdentity] {
			v.Holders = append(v.Holders, s)
		}
		if id := s.Annotations[ledger.KeyIdentity]; id != "" && id == claim.SpeaksFor(c) {
			v.ByIdentity = append(v.ByIdentity, s)
		}
		v.Candidates = append(v.Candidates, claim.Assess(s, settings))
	}
	return v
}

type viewOption func(*claim.View)

func with(v claim.View, options ...viewOption) claim.View {
	for _, option := range options {
		option(&v)
	}
	return v
}

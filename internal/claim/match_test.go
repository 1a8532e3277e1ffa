// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

func selecting(key, value string) claimOption {
	return func(c *v1alpha1.ServerClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
}

func tolerating(t v1alpha1.Toleration) claimOption {
	return func(c *v1alpha1.ServerClaim) { c.Spec.Tolerations = append(c.Spec.Tolerations, t) }
}

func requiring(cores int32, memory string, disks ...v1alpha1.DriveRequirement) claimOption {
	return func(c *v1alpha1.ServerClaim) {
		q := resource.MustParse(memory)
		c.Spec.Requirements = &v1alpha1.Requirements{CPUCores: cores, Memory: &q, Disks: disks}
	}
}

func disk(size, kind string) v1alpha1.DriveRequirement {
	r := v1alpha1.DriveRequirement{Type: kind}
	if size != "" {
		q := resource.MustParse(size)
		r.MinSize = &q
	}
	return r
}

func TestMatchFilter(t *testing.T) {
	gpu := v1alpha1.Toleration{Key: "gpu", Operator: v1alpha1.TolerationEqual, Value: "a100"}
	cordoned := func(s *v1alpha1.Server) { s.Spec.Unschedulable = true }
	maintained := func(s *v1alpha1.Server) { s.Spec.MaintenanceRef = &v1alpha1.MaintenanceReference{Name: "m", UID: "m"} }
	for _, c := range []struct {
		name   string
		claim  *v1alpha1.ServerClaim
		server *v1alpha1.Server
		want   claim.Unfit
	}{
		{"fits", tenant(), server("s1"), ""},
		{"labels differ", tenant(selecting("rack", "r2")), server("s1"), claim.UnfitLabels},
		{"labels match", tenant(selecting("rack", "r1")), server("s1"), ""},
		{"too few cores", tenant(requiring(17, "1Gi")), server("s1"), claim.UnfitTooSmall},
		{"too little memory", tenant(requiring(1, "65Gi")), server("s1"), claim.UnfitTooSmall},
		{"exactly enough", tenant(requiring(16, "64Gi")), server("s1"), ""},
		{"no inventory is not enough", tenant(requiring(1, "1Gi")), server("s1", machine(nil)), claim.UnfitTooSmall},
		{"tainted", tenant(), server("s1", tainted("gpu", "a100")), claim.UnfitTainted},
		{"tolerated by value", tenant(tolerating(gpu)), server("s1", tainted("gpu", "a100")), ""},
		{"another value is not tolerated", tenant(tolerating(gpu)), server("s1", tainted("gpu", "h100")), claim.UnfitTainted},
		{"tolerated by key", tenant(tolerating(v1alpha1.Toleration{Key: "gpu", Operator: v1alpha1.TolerationExists})), server("s1", tainted("gpu", "h100")), ""},
		{"Exists without key tolerates all", tenant(tolerating(v1alpha1.Toleration{Operator: v1alpha1.TolerationExists})), server("s1", tainted("gpu", "h100"), tainted("x", "")), ""},
		{"each taint needs a toleration", tenant(tolerating(gpu)), server("s1", tainted("gpu", "a100"), tainted("x", "")), claim.UnfitTainted},
		{"cordoned", tenant(), server("s1", cordoned), claim.UnfitCordoned},
		{"being deleted", tenant(), server("s1", inDeletion), claim.UnfitDeleting},
		{"claimed", tenant(), server("s1", heldBy(other())), claim.UnfitClaimed},
		{"in maintenance", tenant(), server("s1", maintained), claim.UnfitMaintenance},
		{"an intent is open (R2)", tenant(), server("s1", intent(ledger.WhySpec, "", "")), claim.UnfitIntent},
		{"discovery not finished", tenant(), server("s1", entries(ledger.Entries{ledger.KeyDiscoveredAt: ""})), claim.UnfitNotAvailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := claim.UnfitFor(view(c.claim), claim.Assess(c.server, settings)); got != c.want {
				t.Errorf("unfit %q, want %q", got, c.want)
			}
		})
	}
}

func TestMatchHeedsWhoElseSpeaksForAServer(t *testing.T) {
	chooser, boundClaim := other(), other()
	chooser.Spec.ServerName = "s1"
	boundClaim.Annotations[ledger.KeyBound] = idOf("s2")
	self := tenant()
	v := view(self, server("s1"), server("s2"), server("s3"))
	v.Speakers = claim.SpeakersBut(claim.NameOf(self), []*v1alpha1.ServerClaim{self, chooser, boundClaim})
	if name, tally := claim.Match(v); name != "s3" || tally.Unfit[claim.UnfitChosen] != 1 || tally.Unfit[claim.UnfitBound] != 1 {
		t.Errorf("matched %q: %v", name, tally)
	}
	v.Speakers = claim.SpeakersBut(claim.NameOf(chooser), []*v1alpha1.ServerClaim{chooser})
	if name, tally := claim.Match(v); name != "s1" {
		t.Errorf("a claim is kept away by itself: matched %q: %v", name, tally)
	}
}

func TestMatchRefusesServersOfOneIdentity(t *testing.T) {
	twin := entries(ledger.Entries{}.Identity("same"))
	name, tally := claim.Match(view(tenant(), server("s1", twin), server("s2", twin)))
	if name != "" || tally.Unfit[claim.UnfitDuplicate] != 2 {
		t.Errorf("matched %q: %v", name, tally)
	}
}

func TestMatchRank(t *testing.T) {
	gpus := hardware(16, "64Gi")
	gpus.AcceleratorCount = 8
	all := tolerating(v1alpha1.Toleration{Operator: v1alpha1.TolerationExists})
	for _, c := range []struct {
		name    string
		servers []*v1alpha1.Server
		want    string
	}{
		{"by name among equals", []*v1alpha1.Server{server("s2"), server("s1"), server("s3")}, "s1"},
		{"less memory first", []*v1alpha1.Server{server("s1", machine(hardware(16, "128Gi"))), server("s2")}, "s2"},
		{"memory before cores", []*v1alpha1.Server{server("s1", machine(hardware(8, "128Gi"))), server("s2", machine(hardware(64, "64Gi")))}, "s2"},
		{"fewer cores first", []*v1alpha1.Server{server("s1", machine(hardware(32, "64Gi"))), server("s2")}, "s2"},
		{"smaller drives first", []*v1alpha1.Server{server("s1", machine(hardware(16, "64Gi", drive("2T", "SSD")))), server("s2", machine(hardware(16, "64Gi", drive("1T", "SSD"))))}, "s2"},
		{"accelerators are kept", []*v1alpha1.Server{server("s1", machine(gpus)), server("s2", machine(hardware(128, "2Ti")))}, "s2"},
		{"tainted servers are kept", []*v1alpha1.Server{server("s1", tainted("x", "")), server("s2", machine(gpus))}, "s2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, tally := claim.Match(view(tenant(all), c.servers...)); got != c.want {
				t.Errorf("matched %q, want %q (%v)", got, c.want, tally)
			}
		})
	}
}

func TestEachDiskNeedsADriveOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		name   string
		drives []v1alpha1.Drive
		disks  []v1alpha1.DriveRequirement
		want   bool
	}{
		{"one for one", []v1alpha1.Drive{drive("500G", "SSD")}, []v1alpha1.DriveRequirement{disk("400G", "SSD")}, true},
		{"one drive is not two", []v1alpha1.Drive{drive("2T", "SSD")}, []v1alpha1.DriveRequirement{disk("400G", ""), disk("400G", "")}, false},
		{"wrong type", []v1alpha1.Drive{drive("2T", "HDD")}, []v1alpha1.DriveRequirement{disk("", "SSD")}, false},
		{"too small", []v1alpha1.Drive{drive("300G", "SSD")}, []v1alpha1.DriveRequirement{disk("400G", "SSD")}, false},
		{"a choice that must be taken back", []v1alpha1.Drive{drive("400G", "SSD"), drive("500G", "HDD")}, []v1alpha1.DriveRequirement{disk("400G", ""), disk("300G", "SSD")}, true},
		{"no drives, none asked for", nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			required := &v1alpha1.Requirements{Disks: c.disks}
			if got := claim.Meets(hardware(1, "1Gi", c.drives...), required); got != c.want {
				t.Errorf("meets %v, want %v", got, c.want)
			}
		})
	}
}

func TestTallyTellsWhyPerReason(t *testing.T) {
	var servers []*v1alpha1.Server
	add := func(n int, options ...serverOption) {
		for range n {
			servers = append(servers, server("s"+strconv.Itoa(len(servers)), options...))
		}
	}
	add(7, labelled("rack", "r9"))
	add(3, heldBy(other()))
	add(2, tainted("gpu", ""))
	_, tally := claim.Match(view(tenant(selecting("rack", "r1")), servers...))
	if got, want := tally.String(), "0 of 12 servers: 7 labels, 3 claimed, 2 tainted"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if _, none := claim.Match(view(tenant())); none.String() != "there are no servers" {
		t.Errorf("told %q of no servers", none)
	}
}

func TestSelectorThatCannotBeReadMatchesNothing(t *testing.T) {
	c := tenant(func(c *v1alpha1.ServerClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	})
	d := claim.Decide(view(c, server("s1")))
	if d.Step.Clause != "Claim.NoMatch" || d.Gates[0].Message == "" {
		t.Errorf("step %s: %q", d.Step.Clause, d.Gates[0].Message)
	}
}

// TestOneSweepBindsWithoutConflict: claims that see each other's choices spread over the servers.
func TestOneSweepBindsWithoutConflict(t *testing.T) {
	const n = 20
	var claims []*v1alpha1.ServerClaim
	var servers []*v1alpha1.Server
	for i := range n {
		c := tenant()
		c.Name, c.UID = "c"+strconv.Itoa(i), types.UID("uid"+strconv.Itoa(i))
		c.Annotations[ledger.KeyIdentity] = string(c.UID)
		claims = append(claims, c)
		servers = append(servers, server("s"+strconv.Itoa(i)))
	}
	taken := map[string]string{}
	for _, c := range claims {
		v := view(c, servers...)
		v.Speakers = claim.SpeakersBut(claim.NameOf(c), claims)
		d := claim.Decide(v)
		if d.Step.Clause != "Claim.Choose" {
			t.Fatalf("claim %s: %s", c.Name, d.Step.Clause)
		}
		d.Step.Patch.Apply(c)
		if by := taken[c.Spec.ServerName]; by != "" {
			t.Errorf("server %s chosen by %s and %s", c.Spec.ServerName, by, c.Name)
		}
		taken[c.Spec.ServerName] = c.Name
	}
}

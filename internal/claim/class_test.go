// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// template is what the class small makes.
func template() v1alpha1.OpenStackServer {
	return v1alpha1.OpenStackServer{
		CloudRef: v1alpha1.LocalObjectReference{Name: "fra1"}, Flavor: v1alpha1.FlavorSelector{Name: "m1.small"},
		Image:    v1alpha1.ResourceSelector{Name: "debian-12"},
		Networks: []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
	}
}

// small is a class in use.
func small(changes ...func(*v1alpha1.ServerClass)) viewOption {
	class := &v1alpha1.ServerClass{
		ObjectMeta: metav1.ObjectMeta{Name: "small", Finalizers: []string{v1alpha1.FinalizerInUse}},
		Spec:       v1alpha1.ServerClassSpec{OpenStack: template(), Labels: map[string]string{"size": "s"}},
	}
	for _, change := range changes {
		change(class)
	}
	return func(v *claim.View) { v.Class = class }
}

// ofClass is a claim that asks for a VM.
func ofClass(c *v1alpha1.ServerClaim) { c.Spec.ClassName = "small" }

// nth is a name for the Server of a claim.
func nth(c *v1alpha1.ServerClaim, n int) string {
	for name := range claim.ServerNames(c) {
		if n--; n < 0 {
			return name
		}
	}
	return ""
}

// wanting is a claim for a VM whose Server's name is written.
func wanting(options ...claimOption) *v1alpha1.ServerClaim {
	c := tenant(ofClass)
	named(nth(c, 0))(c)
	for _, option := range options {
		option(c)
	}
	return c
}

var vmIdentity = ledger.ClaimedIdentity("web-uid")

// vm is the Server that the class made for a claim, with its memory confirmed.
func vm(c *v1alpha1.ServerClaim, options ...serverOption) *v1alpha1.Server {
	vm := template()
	s := server(nth(c, 0), func(s *v1alpha1.Server) {
		s.Spec.Redfish, s.Spec.OpenStack, s.Spec.ReclaimPolicy, s.Spec.Power = nil, &vm, v1alpha1.ReclaimDelete, ""
		s.Spec.ClassRef = &v1alpha1.LocalObjectReference{Name: "small"}
		s.Annotations = ledger.Server{Identity: ledger.ClaimedIdentity(c.Annotations[ledger.KeyIdentity]), Owner: settings.ClusterID, ObjectUID: s.UID}.Render()
		s.Status.Observed = &v1alpha1.ServerObserved{Reachable: true, PowerState: v1alpha1.ObservedUnknown}
	}, heldBy(c))
	for _, option := range options {
		option(s)
	}
	return s
}

func free(s *v1alpha1.Server) { s.Spec.ClaimRef = nil }

func retained(s *v1alpha1.Server) { s.Spec.ReclaimPolicy = v1alpha1.ReclaimRetain }

func bare(s *v1alpha1.Server) { s.Annotations = map[string]string{} }

var launched serverOption = func(s *v1alpha1.Server) {
	entries(ledger.Entries{}.ProviderID("vm1").ProvisionedAt(&ledger.Provisioned{ID: "vm1", At: now}))(s)
	s.Status.Observed.PowerState = v1alpha1.ObservedOn
	s.Status.Observed.Instance = &v1alpha1.ObservedInstance{
		ID: "vm1", Exists: true, Flavor: "m1.small", VCPUs: 2, MemoryMiB: 4096, Addresses: []string{"10.0.0.5"},
	}
	s.Status.Observed.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: "fip1", Address: "198.51.100.7"}
}

// stamped gives the VM the identity and the owner that its Server has.
func stamped(s *v1alpha1.Server) {
	s.Status.Observed.Instance.Identity, s.Status.Observed.Instance.Owner = s.Annotations[ledger.KeyIdentity], settings.ClusterID
}

func holds(reason string) viewOption {
	return func(v *claim.View) { v.ServerHold = &lifecycle.Gate{Level: lifecycle.Stalled, Reason: reason} }
}

func waitsFor(reason string) viewOption {
	return func(v *claim.View) {
		v.ServerWaits = append(v.ServerWaits, lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason})
	}
}

// classCases: a claim with a class that no server bears (B049, B189, B197).
func classCases() []decideCase {
	first := tenant(ofClass)
	waits := func(name string, v claim.View, clause, reason string, kind lifecycle.StepKind) decideCase {
		return decideCase{name: name, view: v, clause: clause, kind: kind, reason: reason, phase: v1alpha1.ClaimPending}
	}
	tainted := func(c *v1alpha1.ServerClass) {
		c.Spec.Taints = []v1alpha1.Taint{{Key: "gpu", Effect: v1alpha1.TaintNoBind}}
	}
	tolerating := func(c *v1alpha1.ServerClaim) {
		c.Spec.Tolerations = []v1alpha1.Toleration{{Operator: v1alpha1.TolerationExists}}
	}
	return []decideCase{
		{
			name: "Class: the name is decided and written first",
			view: with(view(first), small()), clause: "Claim.Class.Name", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(nth(first, 0)),
		}, {
			name: "Class: a name that somebody's Server bears is passed over",
			view: with(view(first), small(), func(v *claim.View) { v.TakenNames = []string{nth(first, 0)} }), clause: "Claim.Class.Name", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(nth(first, 1)),
		}, {
			name: "Class: makes the Server under that name",
			view: with(view(wanting()), small()), clause: "Claim.Class.Create", kind: lifecycle.StepCreate,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending,
		}, {
			name: "Class: a claim restored from before its VM makes the same Server again (P11)",
			view: with(view(wanting(restored)), small()), clause: "Claim.Class.Create", kind: lifecycle.StepCreate,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending,
		}, {
			name: "Class: a Server of that name that is not ours: another name",
			view: with(view(wanting(), vm(wanting(), free, bare)), small()), clause: "Claim.Class.NameTaken", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		}, {
			name: "Class: a Server of that name that is another claim's: another name",
			view: with(view(wanting(), vm(wanting(), heldBy(other()), bare)), small()), clause: "Claim.Class.NameTaken", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		}, {
			name: "Class: bound, and its Server is gone: never another one (I8)",
			view: with(view(wanting(boundTo(vmIdentity))), small()), clause: "Claim.Bound.ServerMissing", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonServerMissing, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Class: its Server with a cleared claimRef is bound again, though bound was not written",
			view: with(view(wanting(), vm(wanting(), free)), small()), clause: "Claim.Bound.BindAgain", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: nth(first, 0), patch: &lifecycle.Patch{ClaimRef: ref("web-uid")},
		}, {
			name: "Class: the Server that was released from it is not taken again",
			view: with(view(wanting(), vm(wanting(), free, released("web-uid"))), small()), clause: "Claim.AlreadyReleased", kind: lifecycle.StepHold,
			reason: v1alpha1.ReasonAlreadyReleased, phase: v1alpha1.ClaimHeld,
		}, {
			name: "Class: the read of holders that missed its Server does not make another",
			view: with(view(wanting(), vm(wanting())), small(), func(v *claim.View) { v.Holders, v.ByIdentity = nil, nil }), clause: "Claim.WriteBound",
			kind: lifecycle.StepPatch, reason: v1alpha1.ReasonCreating, phase: v1alpha1.ClaimBound,
			patch: &lifecycle.Patch{Ledger: ledger.Entries{}.Bound(vmIdentity)},
		},
		waits("Class: missing, whether a name is written or not", view(wanting()), "Claim.Class.Missing", v1alpha1.ReasonClassMissing, lifecycle.StepSettled),
		waits("Class: missing, and no name is written, so that className can be corrected", view(first), "Claim.Class.Missing", v1alpha1.ReasonClassMissing, lifecycle.StepSettled),
		waits("Class: being deleted, it makes nothing new", with(view(wanting()), small(func(c *v1alpha1.ServerClass) { c.DeletionTimestamp = &metav1.Time{Time: now} })),
			"Claim.Class.Deleting", v1alpha1.ReasonClassDeleting, lifecycle.StepSettled),
		waits("Class: guarded before its first use", with(view(wanting()), small(func(c *v1alpha1.ServerClass) { c.Finalizers = nil })),
			"Claim.Class.Unguarded", v1alpha1.ReasonBinding, lifecycle.StepWait),
		waits("Class: taints that the claim does not tolerate", with(view(first), small(tainted)), "Claim.Class.Tainted", v1alpha1.ReasonNoMatch, lifecycle.StepSettled),
		{
			name: "Class: taints that the claim tolerates",
			view: with(view(tenant(ofClass, tolerating)), small(tainted)), clause: "Claim.Class.Name", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(nth(first, 0)),
		},
		waits("A VM that exists is not had by asking for it", view(tenant(func(c *v1alpha1.ServerClaim) {
			c.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: nth(first, 0)}
		}), vm(first, free)), "Claim.NamedVM", v1alpha1.ReasonServerNotAvailable, lifecycle.StepSettled),
		waits("A VM that exists matches no selector", view(tenant(), vm(first, free)), "Claim.NoMatch", v1alpha1.ReasonNoMatch, lifecycle.StepSettled),
	}
}

// withVMCases: the Server that a class made bears the claim.
func withVMCases() []decideCase {
	c, b := wanting(), wanting(boundTo(vmIdentity))
	has := func(name string, v claim.View, clause, reason string, kind lifecycle.StepKind) decideCase {
		return decideCase{name: name, view: v, clause: clause, reason: reason, kind: kind, phase: v1alpha1.ClaimBound}
	}
	settled := func(name string, v claim.View, reason string) decideCase {
		return has(name, v, "Claim.Settled", reason, lifecycle.StepSettled)
	}
	write := has("VM: bound is written when the Server's memory is confirmed", view(c, vm(c)), "Claim.WriteBound", v1alpha1.ReasonCreating, lifecycle.StepPatch)
	write.patch = &lifecycle.Patch{Ledger: ledger.Entries{}.Bound(vmIdentity)}
	consenting := func(image string) *v1alpha1.ServerClaim {
		return wanting(boundTo(vmIdentity), func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationRebuildApproved] = image })
	}
	built := entries(ledger.Entries{}.Image(&ledger.Image{Selector: "name:debian-12", ID: "image1"}))
	rebuilt := has("VM: a consent to the image that it runs is used up", view(consenting("name:debian-12"), vm(b, launched, built)), "Claim.Rebuilt", v1alpha1.ReasonBound, lifecycle.StepPatch)
	rebuilt.patch = &lifecycle.Patch{Remove: []string{v1alpha1.AnnotationRebuildApproved}}
	withUserData := func(c *v1alpha1.ServerClaim) {
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "s"}
	}
	unpowered := wanting(boundTo(vmIdentity), withUserData, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	writeAgain := has("VM: bound that was lost is written back, though the Server is being deleted", view(c, vm(c, inDeletion, launched, stamped)), "Claim.WriteBound", v1alpha1.ReasonBound, lifecycle.StepPatch)
	writeAgain.patch = write.patch
	return []decideCase{
		write,
		writeAgain,
		settled("VM: made when power is asked for", with(view(unpowered, vm(b)), func(v *claim.View) { v.ServerAwaitsPower = true }), v1alpha1.ReasonPowerNotWanted),
		settled("VM: stopped", view(unpowered, vm(b, launched, func(s *v1alpha1.Server) { s.Status.Observed.PowerState = v1alpha1.ObservedOff })), v1alpha1.ReasonBound),
		has("VM: no power wanted any more while it is made", with(view(unpowered, vm(b, entries(ledger.Entries{}.ProviderID("vm1")))), waitsFor(v1alpha1.ReasonCreating)),
			"Claim.Settled", v1alpha1.ReasonCreating, lifecycle.StepSettled),
		settled("VM: not before its memory is confirmed", view(c, vm(c, bare)), v1alpha1.ReasonCreating),
		settled("VM: not while its memory is another object's", view(c, vm(c, func(s *v1alpha1.Server) { s.UID = "restored" })), v1alpha1.ReasonCreating),
		settled("VM: not to a Server that is being deleted", view(c, vm(c, inDeletion)), v1alpha1.ReasonCreating),
		settled("VM: nor does that Server wait for it in vain", with(view(c, vm(c, inDeletion)), waitsFor(v1alpha1.ReasonAwaitingBound)), v1alpha1.ReasonDeleting),
		settled("VM: what its deletion waits for is this claim", with(view(b, vm(b, inDeletion, launched)), waitsFor(v1alpha1.ReasonInUse)), v1alpha1.ReasonBound),
		settled("VM: not to another cluster's", view(c, vm(c, entries(ledger.Entries{}.Owner("cluster-b")))), v1alpha1.ReasonCreating),
		settled("VM: being made", view(b, vm(b)), v1alpha1.ReasonCreating),
		settled("VM: being made, and what it waits for", with(view(b, vm(b)), waitsFor(v1alpha1.ReasonUserDataDenied)), v1alpha1.ReasonUserDataDenied),
		settled("VM: the claim is told why it failed", with(view(b, vm(b)), holds(v1alpha1.ReasonCreateFailed)), v1alpha1.ReasonCreateFailed),
		has("VM: user data is looked at again without a wake", view(wanting(boundTo(vmIdentity), withUserData), vm(b)), "Claim.AwaitBoot", v1alpha1.ReasonCreating, lifecycle.StepWait),
		settled("VM: runs", view(b, vm(b, launched)), v1alpha1.ReasonBound),
		settled("VM: its cloud's outage is not its tenant's", with(view(b, vm(b, launched)), waitsFor(v1alpha1.ReasonProviderUnreachable)), v1alpha1.ReasonBound),
		rebuilt,
		settled("VM: a consent to an image that it does not run yet stays", view(consenting("name:debian-13"), vm(b, launched, built)), v1alpha1.ReasonBound),
		settled("VM: being rebuilt", with(view(b, vm(b, launched)), waitsFor(v1alpha1.ReasonRebuilding)), v1alpha1.ReasonRebuilding),
		settled("VM: its floating IP is not there yet", view(b, vm(b, launched, func(s *v1alpha1.Server) {
			s.Spec.OpenStack.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
		})), v1alpha1.ReasonNetworkUpdating),
		settled("VM: the claim is told that it is lost", with(view(b, vm(b, launched)), holds(v1alpha1.ReasonLost)), v1alpha1.ReasonLost),
		{
			name: "VM: a claim restored with a new UID is stamped anew (P11)",
			view: view(wanting(boundTo(vmIdentity), restored), vm(b, launched)), clause: "Claim.StampUID", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, on: nth(c, 0), patch: &lifecycle.Patch{ClaimRef: ref("web-uid-2")},
		}, {
			name: "VM: a name that is not its server's is cleared before the right one is written",
			view: view(wanting(named("another")), vm(c, bare)), clause: "Claim.Unname", kind: lifecycle.StepPatch,
			reason: v1alpha1.ReasonBinding, phase: v1alpha1.ClaimPending, patch: serverName(""),
		},
	}
}

// The Server is the class's to the letter, and the claim's from the beginning (B197).
func TestWhatAClassMakes(t *testing.T) {
	c := wanting()
	v := with(view(c), small(func(class *v1alpha1.ServerClass) {
		class.Spec.ReclaimPolicy = v1alpha1.ReclaimRetain
		class.Spec.Taints = []v1alpha1.Taint{{Key: "gpu", Effect: v1alpha1.TaintNoBind}}
	}))
	v.Claim.Spec.Tolerations = []v1alpha1.Toleration{{Operator: v1alpha1.TolerationExists}}
	vm := template()
	want := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: c.Spec.ServerName, Labels: map[string]string{"size": "s"}},
		Spec: v1alpha1.ServerSpec{
			OpenStack: &vm, ClassRef: &v1alpha1.LocalObjectReference{Name: "small"}, ReclaimPolicy: v1alpha1.ReclaimRetain,
			Taints:   []v1alpha1.Taint{{Key: "gpu", Effect: v1alpha1.TaintNoBind}},
			ClaimRef: &v1alpha1.ClaimReference{Namespace: "team", Name: "web", Identity: "web-uid", UID: "web-uid"},
		},
	}
	got := claim.Decide(v).Create
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Labels["size"], got.Spec.OpenStack.Networks[0].Network.Name = "changed", "changed"
	if v.Class.Labels["size"] == "changed" || v.Class.Spec.OpenStack.Networks[0].Network.Name == "changed" {
		t.Error("shares memory with the class, which the cache shares with everybody")
	}
}

// Names are labels of DNS, follow from the claim alone, and are another claim's never.
func TestServerNames(t *testing.T) {
	label := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	seen := map[string]bool{}
	for _, c := range []*v1alpha1.ServerClaim{
		tenant(),
		tenant(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity] = "made-again" }),
		tenant(func(c *v1alpha1.ServerClaim) { c.Namespace, c.Name = "team-web", "x" }),
		tenant(func(c *v1alpha1.ServerClaim) { c.Namespace, c.Name = "team", "web-x" }),
		tenant(func(c *v1alpha1.ServerClaim) { c.Name = strings.Repeat("a", 48) + ".b." + strings.Repeat("c", 200) }),
		tenant(func(c *v1alpha1.ServerClaim) { c.Name = strings.Repeat("a", 48) + ".d" }),
	} {
		for n := range 3 {
			name := nth(c, n)
			if !label.MatchString(name) || seen[name] {
				t.Errorf("name %q of %s: no label, or another's", name, claim.NameOf(c))
			}
			seen[name] = true
			if again := nth(c.DeepCopy(), n); again != name {
				t.Errorf("%q, then %q", name, again)
			}
		}
	}
	if name := nth(tenant(restored), 0); name != nth(tenant(), 0) {
		t.Errorf("a restored claim has another name: %q", name)
	}
}

// A tenant sees of its VM what it needs to use it.
func TestTheMachineOfAVM(t *testing.T) {
	c := wanting(boundTo(vmIdentity))
	got := claim.Decide(view(c, vm(c, launched))).Machine
	want := &v1alpha1.ClaimedMachine{
		Model: "m1.small", CPUs: v1alpha1.CPUSummary{Cores: 2}, Memory: quantity("4Gi"), PowerState: v1alpha1.ObservedOn,
		Addresses: []string{"10.0.0.5"}, FloatingIP: "198.51.100.7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SpeaksFor: what is made for a claim is known before it is made, and by the claim's identity alone.
func TestSpeaksFor(t *testing.T) {
	for _, row := range []struct {
		name string
		c    *v1alpha1.ServerClaim
		want string
	}{
		{"no class, not bound", tenant(), ""},
		{"no class, bound", tenant(boundTo("s1")), "s1"},
		{"a class", tenant(ofClass), vmIdentity},
		{"a class, restored", tenant(ofClass, restored), vmIdentity},
		{"a class, bound to what it is bound to", tenant(ofClass, boundTo("s1")), "s1"},
		{"a class, without memory", tenant(ofClass, bareClaim), ""},
	} {
		if got := claim.SpeaksFor(row.c); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// Nothing is created or deleted but on a live view, for the claim at hand (I8, P10): drawn at random.
func expectOwnServer(v claim.View, d claim.Decision) string {
	switch d.Step.Kind {
	case lifecycle.StepCreate:
		ref := d.Create.Spec.ClaimRef
		if boundOf(v.Claim) || !v.Claim.DeletionTimestamp.IsZero() || v.Server != nil || ref == nil || ref.Identity != v.Claim.Annotations[ledger.KeyIdentity] ||
			d.Create.Name != v.Claim.Spec.ServerName {
			return "creates a Server that is not to be"
		}
	case lifecycle.StepDelete:
		i := slices.IndexFunc(v.Candidates, func(c claim.Candidate) bool { return c.Server.Name == d.OnServer })
		s := v.Candidates[i].Server
		ref := s.Spec.ClaimRef
		if v.Claim.DeletionTimestamp.IsZero() || s.Spec.OpenStack == nil || s.Spec.ReclaimPolicy == v1alpha1.ReclaimRetain ||
			ref == nil || ref.Identity != v.Claim.Annotations[ledger.KeyIdentity] || types.UID(ref.Identity) == "" {
			return "deletes a Server that is not to be deleted"
		}
	}
	return ""
}

func boundOf(c *v1alpha1.ServerClaim) bool { return c.Annotations[ledger.KeyBound] != "" }

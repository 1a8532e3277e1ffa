// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// trouble is one thing that is wrong with a BMC from the beginning, what is said about it, and how it is mended.
type trouble struct {
	wrong  func(*harness.Enrollment)
	begin  func(t *testing.T, machine *harness.Machine)
	reason string
	hints  []string
	mend   func(k *harness.Kit, machine *harness.Machine)
}

// Each ends in a condition with a reason of its own and a message a person can act on; mended, everything goes on by itself (B085, B171,
// B224). No credential is sent to a BMC that is not trusted (B181), and none is tried over and over (B173).
func TestTroubleWithABMC(t *testing.T) {
	t.Parallel()
	secretOf := func(k *harness.Kit, machine *harness.Machine) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: machine.Name}}
	}
	password := func(word string) func(k *harness.Kit, machine *harness.Machine) {
		return func(k *harness.Kit, machine *harness.Machine) {
			harness.Change(k, client.Object(secretOf(k, machine)), func(o client.Object) {
				o.(*corev1.Secret).StringData = map[string]string{corev1.BasicAuthPasswordKey: word}
			})
		}
	}
	certificate := func(mode sim.CertificateMode) func(t *testing.T, machine *harness.Machine) {
		return func(t *testing.T, machine *harness.Machine) {
			if err := machine.BMC.SetCertificate(mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	trust := []string{"spec.tls.caBundle", "spec.tls.pinnedSHA256"}
	good := func(k *harness.Kit, machine *harness.Machine) { certificate(sim.CertificateValid)(k.T, machine) }
	for name, trouble := range map[string]trouble{
		"wrong password": {
			wrong:  func(e *harness.Enrollment) { e.Secret.StringData[corev1.BasicAuthPasswordKey] = "wrong" },
			reason: v1alpha1.ReasonCredentialsInvalid, hints: []string{"secret"}, mend: password(harness.Password),
		},
		"no secret": {
			wrong:  func(e *harness.Enrollment) { e.Secret = nil },
			reason: v1alpha1.ReasonCredentialsMissing, hints: []string{"username and password"},
			mend: func(k *harness.Kit, machine *harness.Machine) {
				secret := secretOf(k, machine)
				secret.Type = corev1.SecretTypeBasicAuth
				secret.StringData = map[string]string{corev1.BasicAuthUsernameKey: harness.Username, corev1.BasicAuthPasswordKey: harness.Password}
				k.Create(secret)
			},
		},
		"expired certificate":     {begin: certificate(sim.CertificateExpired), reason: v1alpha1.ReasonTLSVerifyFailed, hints: trust, mend: good},
		"self-signed certificate": {begin: certificate(sim.CertificateSelfSigned), reason: v1alpha1.ReasonTLSVerifyFailed, hints: trust, mend: good},
		"another's certificate":   {begin: certificate(sim.CertificateWrongHost), reason: v1alpha1.ReasonTLSVerifyFailed, hints: trust, mend: good},
		"no Redfish there": { // B125
			begin: func(t *testing.T, machine *harness.Machine) {
				inject(t, machine, sim.Fault{Kind: sim.FaultGarbage, Status: 400})
			},
			reason: "NotRedfish", hints: []string{"spec.endpoint"},
			mend: func(_ *harness.Kit, machine *harness.Machine) { machine.BMC.ClearFaults() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "trouble")
			machine := k.Register(func(e *harness.Enrollment) {
				if trouble.wrong != nil {
					trouble.wrong(e)
				}
				if trouble.begin != nil {
					endpoint := e.BMC.Spec.Endpoint
					e.BMC.Spec.Endpoint = orElse(endpoint, "https://192.0.2.1:1") // until the trouble has begun
				}
			})
			bmc := k.BMCObject(machine.Name)
			if trouble.begin != nil {
				trouble.begin(t, machine)
				harness.Change(k, bmc, func(b *v1alpha1.BMC) { b.Spec.Endpoint = machine.BMC.Endpoint() })
			}
			message := k.UntilHeld(bmc, trouble.reason, trouble.hints...)
			if len(message) < 20 || len(message) > 256 || strings.Contains(message, "<html") {
				t.Errorf("a message of %d characters: %s", len(message), message)
			}
			t.Log(trouble.reason + ": " + message)
			if auth := machine.BMC.AuthStats(); auth.Logins > 0 || (trouble.reason == v1alpha1.ReasonTLSVerifyFailed && auth.Failures > 0) || auth.Failures > 3 {
				t.Errorf("%d logins, %d failures", auth.Logins, auth.Failures)
			}
			trouble.mend(k, machine)
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
			k.UntilReady(bmc)
		})
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// The same under a server that carries a workload: its machine is not touched, and what is to be done waits.
func TestTroubleUnderAWorkload(t *testing.T) {
	t.Parallel()
	type mended struct {
		spoil, mend func(k *harness.Kit, machine *harness.Machine) error
	}
	for name, trouble := range map[string]mended{
		"password rotated at the BMC": { // B071, B171, B173
			func(_ *harness.Kit, machine *harness.Machine) error {
				machine.BMC.SetCredentials(harness.Username, "another")
				machine.BMC.EndSessions()
				return nil
			},
			func(k *harness.Kit, machine *harness.Machine) error {
				if failures := machine.BMC.AuthStats().Failures; failures > 3 {
					k.T.Errorf("%d logins failed: that locks accounts", failures)
				}
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: machine.Name}}
				harness.Change(k, client.Object(secret), func(o client.Object) {
					o.(*corev1.Secret).StringData = map[string]string{corev1.BasicAuthPasswordKey: "another"}
				})
				return nil
			},
		},
		"certificate expired": {
			func(_ *harness.Kit, machine *harness.Machine) error {
				return machine.BMC.SetCertificate(sim.CertificateExpired)
			},
			func(_ *harness.Kit, machine *harness.Machine) error {
				return machine.BMC.SetCertificate(sim.CertificateValid)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "under")
			machine := k.Enroll()
			claim := k.Booted(machine.Name)
			mark := k.Mark()
			if err := trouble.spoil(k, machine); err != nil {
				t.Fatal(err)
			}
			k.UntilCondition(k.BMCObject(machine.Name), v1alpha1.ConditionStalled, metav1.ConditionTrue, "")
			k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
			if f := k.Since(mark, machine); len(f.Writes) > 0 {
				t.Errorf("writes: %v", f.Writes)
			}
			if err := trouble.mend(k, machine); err != nil {
				t.Fatal(err)
			}
			k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionProviderReachable, metav1.ConditionTrue, "")
			k.UntilReady(claim)
			k.ExpectUntouched(mark, machine)
		})
	}
}

// A pinned certificate is trusted whoever signed it, and no other one is. An opt-out of verification is shown where people look (B181, B183).
func TestPinningAndOptOut(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "pin")
	machine := k.Register(func(e *harness.Enrollment) { e.BMC.Spec.TLS = &v1alpha1.BMCTLS{PinnedSHA256: strings.Repeat("0", 64)} })
	bmc := k.BMCObject(machine.Name)
	k.UntilHeld(bmc, v1alpha1.ReasonTLSVerifyFailed)
	fingerprint, err := machine.BMC.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	harness.Change(k, bmc, func(b *v1alpha1.BMC) { b.Spec.TLS.PinnedSHA256 = fingerprint })
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	harness.Change(k, bmc, func(b *v1alpha1.BMC) { b.Spec.TLS = &v1alpha1.BMCTLS{InsecureSkipVerify: true} })
	k.UntilReady(bmc)
	if condition := k.UntilCondition(bmc, v1alpha1.ConditionProviderReachable, metav1.ConditionTrue, ""); !strings.Contains(condition.Message, "insecureSkipVerify") {
		t.Errorf("the opt-out is not shown: %s", condition.Message)
	}
}

// B043, B204: a UUID that the BMC does not have, an endpoint that is none, an endpoint that carries a password (B245): each is told to
// the person who wrote it, and to nobody else's cost.
func TestBadInput(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "badinput")
	machine := k.Enroll()
	stray := k.Server(machine.Name + "-stray")
	stray.Spec = v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{
		BMCRef: v1alpha1.LocalObjectReference{Name: machine.Name}, SystemUUID: "00000000-0000-4000-8000-00000000dead",
	}}
	mark := k.Mark()
	k.Create(stray)
	k.UntilHeld(stray, v1alpha1.ReasonSystemNotFound, "00000000-0000-4000-8000-00000000dead", "endpoint")
	orphan := k.Server(machine.Name + "-orphan")
	orphan.Spec = v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: "no-such-bmc"}}}
	k.Create(orphan)
	k.UntilHeld(orphan, v1alpha1.ReasonDependencyMissing, "no-such-bmc")
	k.ExpectUntouched(mark, machine)
	for _, object := range []*v1alpha1.Server{stray, orphan} {
		k.Delete(object)
		k.UntilGone(object)
	}
	for endpoint, hint := range map[string]string{
		"redfish:///":                      "https://",
		"https://root:hunter2@10.0.0.7":    "credentialsSecretRef",
		"https://10.0.0.7:99999":           "port",
		"https://fd00::7":                  "brackets",
		"https://10.0.0.7/?token=hunter2":  "query",
		"https://10.0.0.7/redfish#session": "fragment",
	} {
		bmc := k.BMCObject(machine.Name + "-bad")
		bmc.Spec = v1alpha1.BMCSpec{Endpoint: endpoint, CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: machine.Name}}
		if err := k.Admin.Create(t.Context(), bmc); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), hint) {
			t.Errorf("endpoint %s: %v", endpoint, err)
		}
	}
}

// A claim that can match nothing says why, per reason and count, and one for a server that does not exist is told at once.
func TestAClaimThatMatchesNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "nomatch")
	k.Enroll()
	memory := resource.MustParse("64Ti")
	claim := k.Claim("", labelled(k), func(c *v1alpha1.ServerClaim) { c.Spec.Requirements = &v1alpha1.Requirements{Memory: &memory} })
	why := k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
	if !strings.Contains(why.Message, "1 too small") {
		t.Errorf("the message does not say what is lacking: %s", why.Message)
	}
	t.Log(why.Message)
	k.UntilHeld(k.Claim(k.Name+"-nowhere"), v1alpha1.ReasonNoSuchServer, k.Name+"-nowhere")
}

// An object edited by hand while an intent is open: what the edit forbids is not done, and what was begun goes on when it may (P6).
func TestEditedWhileAnIntentIsOpen(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "edited")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	machine.BMC.Behave(func(b *sim.Behaviour) { b.IgnoreShutdown = true })
	mark := k.Mark()
	server := k.Server(machine.Name)
	k.Delete(claim)
	k.Until("announced", remembers(k, server, ledger.KeyIntent, "Released"))
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.PowerOff = v1alpha1.PowerOffNever })
	k.UntilHeld(server, v1alpha1.ReasonPowerOffForbidden)
	k.Watched(k.Mark(), machine)
	for _, reset := range k.Since(mark, machine).Resets {
		if reset != "GracefulShutdown" {
			t.Errorf("%s though powerOff is Never", reset)
		}
	}
	k.BreakLedger(server, map[string]any{ledger.KeyIntent: nil})
	k.Until("announced again", remembers(k, server, ledger.KeyIntent, "Released"))
	harness.Change(k, server, func(s *v1alpha1.Server) {
		s.Spec.PowerOff, s.Spec.IndicatorLED = v1alpha1.PowerOffAllowed, v1alpha1.IndicatorLit
		s.Labels["edited"] = "yes"
	})
	k.UntilGone(claim)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
}

// SPDX-License-Identifier: Apache-2.0

// Package security leads machines through lives full of faults, at the highest verbosity there is, with canaries in all that is secret;
// then it looks for the canaries in everything that anybody could read.
package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

var (
	suite *harness.Suite
	log   = &output{}
)

// output keeps what is logged.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Log: log}, func(s *harness.Suite) { suite = s }))
}

// The canaries, one for each kind of secret, none a part of another.
const (
	username    = "canary-user-3f1c"
	password    = "canary-pass-9b7e"
	wrong       = "canary-wrong-5d20"
	rotated     = "canary-rotated-c4a8"
	seed        = "canary-seed-71ee"
	otherTenant = "canary-token-e6b2"
)

func canaries() []string { return []string{username, password, wrong, rotated, seed, otherTenant} }

// B244, B245, B247, B165: no credential, session token or user data in any log line, event, condition, object or metric, whatever goes
// wrong, at the highest verbosity.
func TestNoSecretIsTold(t *testing.T) {
	k := suite.Kit(t, "canary")
	manager := k.Manage()
	machine := k.Register(func(e *harness.Enrollment) {
		e.Simulated.Username, e.Simulated.Password = username, password
		e.Secret.StringData = map[string]string{corev1.BasicAuthUsernameKey: username, corev1.BasicAuthPasswordKey: wrong}
	})
	bmc := k.BMCObject(machine.Name)
	k.UntilHeld(bmc, v1alpha1.ReasonCredentialsInvalid)
	setPassword(k, machine, password)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)

	faulty(t, machine)
	claim := aClaimWithUserData(k, machine)
	k.UntilReady(claim)
	k.UntilQuiet(machine.Name)
	rotate(t, k, machine)
	trust(t, k, machine)
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	refusedByTheAPI(k, machine)
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}

	expectNone(t, "log", log.String())
	if lines := strings.Count(log.String(), "\n"); lines < 100 {
		t.Errorf("%d lines were logged: not at the highest verbosity", lines)
	}
	for what, text := range told(t, k, manager) {
		expectNone(t, what, text)
	}
	requests, err := k.Rack.Requests(sim.RequestFilter{BMC: machine.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		expectNone(t, "URL asked for", r.Path)
	}
}

func expectNone(t *testing.T, what, text string) {
	t.Helper()
	for _, canary := range canaries() {
		if at := strings.Index(text, canary); at >= 0 {
			t.Errorf("%s holds %s: …%s…", what, canary, text[max(0, at-200):min(len(text), at+len(canary)+100)])
		}
	}
}

func setPassword(k *harness.Kit, machine *harness.Machine, word string) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: machine.Name}}
	harness.Change(k, client.Object(secret), func(o client.Object) {
		o.(*corev1.Secret).StringData = map[string]string{corev1.BasicAuthPasswordKey: word}
	})
}

// faulty has the next requests fail in every way that an error is made of.
func faulty(t *testing.T, machine *harness.Machine) {
	t.Helper()
	for _, fault := range []sim.Fault{
		{Kind: sim.FaultStatus, Status: 500, Method: "POST|PATCH", Path: "/Systems/", Count: 2},
		{Kind: sim.FaultDropReply, Method: "POST|PATCH", Path: "/Systems/", Count: 2},
		{Kind: sim.FaultGarbage, Status: 400, Method: "POST|PATCH", Path: "/Systems/", Count: 1},
		{Kind: sim.FaultEndSession, Method: "GET", Path: "/Systems/", Count: 1},
		{Kind: sim.FaultTruncate, Method: "GET", Path: "/Systems/", Count: 2},
		{Kind: sim.FaultHang, Method: "GET", Path: "/Systems/", Count: 1},
	} {
		if _, err := machine.BMC.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
}

// aClaimWithUserData names first a secret that its tenant did not offer (B247), then has it offered.
func aClaimWithUserData(k *harness.Kit, machine *harness.Machine) *v1alpha1.ServerClaim {
	k.LetUserDataBeRead()
	token := k.UserData("token", otherTenant)
	token.Labels = nil
	k.Create(token)
	refused := k.Claim(machine.Name, userData("token"))
	k.UntilHeld(refused, v1alpha1.ReasonUserDataDenied, v1alpha1.LabelUserData)
	k.Delete(refused)
	k.UntilGone(refused)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	k.Create(k.UserData("seed", seed))
	return k.Claim(machine.Name, userData("seed"))
}

func userData(secret string) func(*v1alpha1.ServerClaim) {
	return func(c *v1alpha1.ServerClaim) {
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: secret}
	}
}

func rotate(t *testing.T, k *harness.Kit, machine *harness.Machine) {
	t.Helper()
	machine.BMC.SetCredentials(username, rotated)
	machine.BMC.EndSessions()
	k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
	setPassword(k, machine, rotated)
	k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionProviderReachable, metav1.ConditionTrue, "")
}

func trust(t *testing.T, k *harness.Kit, machine *harness.Machine) {
	t.Helper()
	for _, mode := range []sim.CertificateMode{sim.CertificateExpired, sim.CertificateValid} {
		if err := machine.BMC.SetCertificate(mode); err != nil {
			t.Fatal(err)
		}
		status := metav1.ConditionFalse
		if mode == sim.CertificateValid {
			status = metav1.ConditionTrue
		}
		k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionProviderReachable, status, "")
	}
}

// refusedByTheAPI: an endpoint with a password in it never becomes an object.
func refusedByTheAPI(k *harness.Kit, machine *harness.Machine) {
	k.T.Helper()
	bmc := k.BMCObject(machine.Name + "-userinfo")
	bmc.Spec = v1alpha1.BMCSpec{
		Endpoint:             strings.Replace(machine.BMC.Endpoint(), "://", "://"+username+":"+password+"@", 1),
		CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: machine.Name},
	}
	if err := k.Admin.Create(k.T.Context(), bmc); err == nil {
		k.T.Error("an endpoint with a password became an object")
	}
}

// told is all that the operator told to anybody: objects with their conditions, events, metrics.
func told(t *testing.T, k *harness.Kit, manager *harness.Manager) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for what, list := range map[string]client.ObjectList{
		"servers": &v1alpha1.ServerList{}, "claims": &v1alpha1.ServerClaimList{}, "BMCs": &v1alpha1.BMCList{},
		"maintenances": &v1alpha1.ServerMaintenanceList{}, "events": &eventsv1.EventList{},
	} {
		if err := k.Admin.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		texts[what] = string(text)
	}
	families, err := manager.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) == 0 {
		t.Error("no metrics")
	}
	for _, family := range families {
		texts["metric "+family.GetName()] = fmt.Sprint(family)
	}
	return texts
}

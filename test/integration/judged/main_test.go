// SPDX-License-Identifier: Apache-2.0

// Package judged leads machines and VMs through ordinary lives on the whole stack, and has the judge of fault campaigns look at what the
// simulators logged of them: it must find nothing in a life without faults, and what somebody does behind the tenant's back it must find.
package judged

import (
	"bytes"
	"net/http"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{impatient}}, func(s *harness.Suite) { suite = s }))
}

func impatient(o *operator.Options) { o.Settings.CreateBackoff = time.Second }

// record is what is known of a test's machines without Holdfast.
type record struct {
	k      *harness.Kit
	drain  func() ([]judge.Event, error)
	events []judge.Event
}

// ask records what a tenant asks for while it does so.
func (r *record) ask(kind judge.Kind, tenant string, do func()) {
	r.k.T.Helper()
	e := judge.Event{At: time.Now(), Kind: kind, Tenant: tenant}
	do()
	e.Acked = time.Now()
	r.events = append(r.events, e)
}

// change has a tenant change its claim.
func (r *record) change(kind judge.Kind, tenant string, claim *v1alpha1.ServerClaim, change func(*v1alpha1.ServerClaim)) {
	r.k.T.Helper()
	r.ask(kind, tenant, func() { harness.Change(r.k, claim, change) })
}

// restart has a tenant ask for a restart, later than anything that was recorded: the times are of whole seconds.
func (r *record) restart(tenant string, claim *v1alpha1.ServerClaim) {
	r.k.T.Helper()
	at := metav1.NewTime(time.Now().Add(time.Second))
	r.change(judge.AskedRestart, tenant, claim, func(c *v1alpha1.ServerClaim) { c.Spec.RestartedAt = &at })
}

func (r *record) giveUp(tenant string, claim *v1alpha1.ServerClaim) {
	r.k.T.Helper()
	r.ask(judge.GaveUp, tenant, func() { r.k.Delete(claim) })
	r.k.UntilGone(claim)
}

// judge looks at all that happened, as if all had come to rest now.
func (r *record) judge() judge.Report {
	r.k.T.Helper()
	events, err := r.drain()
	if err != nil {
		r.k.T.Fatal(err)
	}
	r.events = append(r.events, events...)
	return judge.Judge(append(r.events[:len(r.events):len(r.events)], judge.Event{At: time.Now(), Kind: judge.Settled}))
}

// expectInnocent checks that nothing is found, in a history in which each of the kinds happened.
func (r *record) expectInnocent(kinds ...judge.Kind) {
	r.k.T.Helper()
	report := r.judge()
	for _, v := range append(report.Violations, report.Excused...) {
		r.k.T.Error(v)
	}
	for _, kind := range kinds {
		if report.Counts[kind] == 0 {
			r.k.T.Errorf("no %s in %v", kind, report.Counts)
		}
	}
}

// expectGuilty checks that one violation is found.
func (r *record) expectGuilty(rule, tenant string) {
	r.k.T.Helper()
	report := r.judge()
	if v := report.Violations; len(v) != 1 || v[0].Rule != rule || v[0].Tenant != tenant {
		r.k.T.Errorf("found %v, want one of %s for %s", v, rule, tenant)
	}
}

// send asks something of a simulator in the name of nobody.
func send(k *harness.Kit, caller *http.Client, method, url, body string, prepare func(*http.Request)) {
	k.T.Helper()
	request, err := http.NewRequestWithContext(k.T.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		k.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	prepare(request)
	response, err := caller.Do(request)
	if err != nil {
		k.T.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode >= http.StatusMultipleChoices {
		k.T.Fatalf("%s %s: %s, %v", method, url, response.Status, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// TestConfirmed: a claim may write down what it got as soon as that remembers itself, and not before.
func TestConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		given lt.Override
		want  bool
	}{
		"remembers itself, and nothing is made": {given(lt.Serving, lt.Unmade), true},
		"runs":                                  {given(lt.Serving), true},
		"remembers nothing":                     {given(lt.Serving, fresh), false},
		"restored":                              {given(lt.Serving, moved), false},
		"another cluster's":                     {given(lt.Serving, foreign), false},
		"unreadable":                            {given(lt.Serving, lt.Garbled(ledger.KeyImage, "{")), false},
		"paused":                                {given(lt.Serving, paused), false},
		"being deleted":                         {given(lt.Serving, lt.Unmade, lt.Deleting), false},
		"being deleted, and has its VM":         {given(lt.Serving, lt.Deleting), true},
		"restored from a snapshot":              {given(lt.Serving, afterEpoch), false},
		"stamped for another claim":             {given(lt.Serving, otherClaim), false},
		"stamped by another cluster":            {given(lt.Serving, oldStamp), false},
	} {
		if v := lt.View(c.given); virtual.Confirmed(v.Server, v.Settings) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
	if virtual.Confirmed(nil, lifecycle.Settings{}) {
		t.Error("no server remembers itself")
	}
}

// TestLaunched: what a claim reports as booted.
func TestLaunched(t *testing.T) {
	for name, c := range map[string]struct {
		given lt.Override
		want  bool
	}{
		"runs": {given(), true}, "stopped": {given(lt.Stopped), true}, "not latched yet": {given(lt.Ledger(func(l *ledger.Server) { l.ProvisionedAt = nil })), true},
		"status wiped": {given(lt.Unseen), true}, "not made": {given(lt.Unmade), false}, "building": {given(lt.Unlaunched("BUILD")), false},
		"failed": {given(lt.Broken), false}, "gone": {given(lt.Gone), false},
	} {
		if virtual.Launched(lt.View(c.given).Server) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
	if virtual.Launched(nil) {
		t.Error("no server is launched")
	}
}

// TestNetworkSettled: what a claim waits for beside the launch.
func TestNetworkSettled(t *testing.T) {
	for name, c := range map[string]struct {
		given lt.Override
		want  bool
	}{
		"nothing is asked for": {given(), true}, "brought about": {given(webKept), true}, "a floating IP that stands": {given(publicKept), true},
		"ports to bring about": {given(web), false}, "a floating IP to attach": {given(publicIP), false}, "one to release": {given(keptIP, attached), false},
		"not made": {given(lt.Unmade), false}, "status wiped": {given(lt.Unseen), false}, "unreadable": {given(lt.Garbled(ledger.KeyNetwork, "{")), false},
	} {
		if virtual.NetworkSettled(lt.View(c.given).Server) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
	if virtual.NetworkSettled(nil) {
		t.Error("no server has a network")
	}
}

// TestUnsettled: the monitor looks often only where a picture brings something forward (P8).
func TestUnsettled(t *testing.T) {
	for name, c := range map[string]struct {
		given lt.Override
		want  bool
	}{
		"runs as asked": {given(), false}, "as its claim asks": {given(lt.Serving), false}, "Off as asked": {given(specOff, lt.Stopped), false},
		"to be Off": {given(specOff), true}, "to be On": {given(lt.Stopped), true}, "on its way": {given(pausedVM), true}, "the cloud is at it": {given(lt.NovaState("REBUILD", "")), true},
		"no memory": {given(fresh), true}, "not made": {given(lt.Unmade), true}, "building": {given(lt.Unlaunched("BUILD")), true}, "to be made again": {given(lt.Broken), true},
		"given up": {given(lt.Broken, attempts(3, 60)), false}, "broken": {given(lt.Errored), false}, "lost": {given(lt.Gone), false}, "not seen": {given(noPicture), true},
		"an intent": {given(lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhyRestart, 1)), true}, "to be rebuilt": {rebuild(), true}, "a network to bring about": {given(web), true},
		"a network that stands": {given(webKept), false}, "a floating IP to release": {given(keptIP), true}, "a port that drifted": {given(webKept, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Ports[0].SecurityGroups = nil })), true},
		"its claim goes": {given(leaving, releaseOpen), true}, "given up under a claim": {given(lt.Serving, lt.Broken, attempts(3, 60)), false}, "building for a claim": {given(lt.Serving, lt.Unlaunched("BUILD")), true}, "released": {given(lt.Serving, lt.Retained, wasReleased), false}, "deleted": {given(lt.Deleting), true}, "paused": {given(paused, lt.Deleting), false},
		"unreadable": {given(lt.Garbled(ledger.KeyImage, "{")), false}, "in maintenance": {given(lt.InMaintenance(v1alpha1.PowerKeep), web), false}, "a consent": {given(retryConsent), true},
	} {
		if _, got := virtual.Unsettled(lt.View(c.given).Server); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	if since, _ := virtual.Unsettled(lt.View(given(attempts(1, 3))).Server); !since.Equal(lt.Before(3)) {
		t.Errorf("since %s, want the last attempt", since)
	}
	if _, got := virtual.Unsettled(nil); got {
		t.Error("no server is unsettled")
	}
}

// TestDescribe: explain tells the text of the rule.
func TestDescribe(t *testing.T) {
	d := virtual.Describe(lt.View(given(lt.Gone)))
	if d.RuleText == "" || d.Phase != "Lost" || len(d.Gates) == 0 || len(d.Gates[0].WaysOut) == 0 {
		t.Errorf("%+v", d)
	}
}

// TestConditions: each speaks of what it is about, whatever the phase is.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		given  lt.Override
		status map[string]string
	}{
		"runs": {given(lt.Serving), map[string]string{
			v1alpha1.ConditionDependenciesReady: "True", v1alpha1.ConditionProviderReachable: "True", v1alpha1.ConditionProvisioned: "True",
			v1alpha1.ConditionPowerAsDesired: "True", v1alpha1.ConditionNetworkReady: "True", v1alpha1.ConditionClaimed: "True", v1alpha1.ConditionInMaintenance: "False",
		}},
		"not made": {given(lt.Unmade, classMissing), map[string]string{
			v1alpha1.ConditionDependenciesReady: "False", v1alpha1.ConditionProvisioned: "False", v1alpha1.ConditionNetworkReady: "Unknown", v1alpha1.ConditionPowerAsDesired: "Unknown",
		}},
		"failed":            {given(lt.Broken), map[string]string{v1alpha1.ConditionProvisioned: "False"}},
		"lost":              {given(lt.Gone), map[string]string{v1alpha1.ConditionProvisioned: "False"}},
		"to be Off":         {given(specOff), map[string]string{v1alpha1.ConditionPowerAsDesired: "False"}},
		"to be On":          {given(lt.Stopped), map[string]string{v1alpha1.ConditionPowerAsDesired: "False"}},
		"not seen":          {given(lt.Unseen), map[string]string{v1alpha1.ConditionProviderReachable: "Unknown"}},
		"not reachable":     {given(lt.Unreachable), map[string]string{v1alpha1.ConditionProviderReachable: "False"}},
		"the Cloud goes":    {given(dependency(func(d *lifecycle.Dependency) { d.Deleting = true })), map[string]string{v1alpha1.ConditionDependenciesReady: "True"}},
		"no Cloud":          {given(func(s *lt.Scene) { s.Cloud = nil }), map[string]string{v1alpha1.ConditionDependenciesReady: "False"}},
		"a network differs": {given(web), map[string]string{v1alpha1.ConditionNetworkReady: "False"}},
		"no floating IP":    {given(publicIP), map[string]string{v1alpha1.ConditionNetworkReady: "False"}},
		"one too many":      {given(keptIP), map[string]string{v1alpha1.ConditionNetworkReady: "False"}},
		"being released":    {given(leaving), map[string]string{v1alpha1.ConditionPowerAsDesired: "False", v1alpha1.ConditionClaimed: "True"}},
		"in maintenance":    {given(lt.InMaintenance(v1alpha1.PowerOff)), map[string]string{v1alpha1.ConditionInMaintenance: "True", v1alpha1.ConditionPowerAsDesired: "False"}},
		"its claim missing": {given(lt.Serving, lt.ClaimGone), map[string]string{v1alpha1.ConditionClaimed: "Unknown"}},
	} {
		got := map[string]string{}
		for _, condition := range virtual.Decide(lt.View(c.given)).Conditions {
			got[condition.Type] = condition.Status
			if condition.Reason == "" || condition.Message == "" {
				t.Errorf("%s: %s has no reason or message", name, condition.Type)
			}
		}
		for condition, want := range c.status {
			if got[condition] != want {
				t.Errorf("%s: %s is %s, want %s", name, condition, got[condition], want)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/holdfast-dev/holdfast/status"
)

// gate is one contribution, and what it must lead to when it is the one that counts.
type gate struct {
	name       string
	contribute func(r *status.Readiness, reason string)
	level      status.Level
	ready      metav1.ConditionStatus
	kstatus    kstatus.Status
}

var gates = []gate{
	{"converged", func(r *status.Readiness, reason string) { r.Converged(reason, "message of "+reason) }, status.LevelConverged, yes, kstatus.CurrentStatus},
	{"progressing", func(r *status.Readiness, reason string) { r.Progressing(reason, "message of "+reason) }, status.LevelProgressing, no, kstatus.InProgressStatus},
	{"unknown", func(r *status.Readiness, reason string) { r.Unknown(reason, "message of "+reason) }, status.LevelProgressing, unknown, kstatus.InProgressStatus},
	{"stalled", func(r *status.Readiness, reason string) { r.Stalled(reason, "message of "+reason) }, status.LevelStalled, no, kstatus.FailedStatus},
}

var silent = gate{name: "silent", level: status.LevelSilent, ready: unknown, kstatus: kstatus.InProgressStatus}

// combinations calls visit with every sequence of up to three gates: each order, each repetition.
func combinations(visit func(sequence []gate)) {
	var extend func(sequence []gate)
	extend = func(sequence []gate) {
		visit(sequence)
		if len(sequence) == 3 {
			return
		}
		for _, g := range gates {
			extend(append(append([]gate(nil), sequence...), g))
		}
	}
	extend(nil)
}

// decisive is the contract, said differently from the code: the first of the worst.
func decisive(sequence []gate) (gate, string) {
	worst, reason := silent, status.ReasonUnspecified
	for i, g := range sequence {
		if g.level > worst.level {
			worst, reason = g, fmt.Sprintf("Gate%d", i)
		}
	}
	return worst, reason
}

// The worst wins, the first within a level; kstatus agrees, for every combination of gates, for False and
// Unknown, with the generation observed and with one that is stale. B221, B222.
func TestKstatusAgreesForEveryCombinationOfGates(t *testing.T) {
	count := 0
	combinations(func(sequence []gate) {
		for _, stale := range []bool{false, true} {
			count++
			name := fmt.Sprintf("stale=%v", stale)
			for _, g := range sequence {
				name += " " + g.name
			}
			t.Run(name, func(t *testing.T) {
				worst, reason := decisive(sequence)
				w := settled(t, func(s *status.Session) {
					for i, g := range sequence {
						g.contribute(&s.Readiness, fmt.Sprintf("Gate%d", i))
					}
					if s.Level() != worst.level {
						t.Errorf("level %s, want %s", s.Level(), worst.level)
					}
				})
				if c := conditionOf(t, w, "Ready"); c.Status != worst.ready || c.Reason != reason {
					t.Errorf("Ready is %s %s, want %s %s", c.Status, c.Reason, worst.ready, reason)
				}
				want := worst.kstatus
				if stale {
					w.Generation++
					want = kstatus.InProgressStatus
				}
				result, err := kstatus.Compute(toUnstructured(t, w))
				if err != nil {
					t.Fatal(err)
				}
				if result.Status != want {
					t.Errorf("kstatus reads %s (%s), want %s", result.Status, result.Message, want)
				}
			})
		}
	})
	if count != 2*(1+4+16+64) {
		t.Errorf("%d combinations", count)
	}
}

func TestTheAbnormalPairIsWrittenAlsoWhenFalseAndNeverBothTrue(t *testing.T) {
	combinations(func(sequence []gate) {
		var r status.Readiness
		for i, g := range sequence {
			g.contribute(&r, fmt.Sprintf("Gate%d", i))
		}
		ready, reconciling, stalled := r.Values()
		for _, v := range []status.Value{reconciling, stalled} {
			if (v.Status != yes && v.Status != no) || v.Reason == "" || v.Message == "" {
				t.Fatalf("incomplete: %+v", v)
			}
		}
		if reconciling.Status == yes && stalled.Status == yes {
			t.Fatal("both True")
		}
		if (ready.Status == yes) != (reconciling.Status == no && stalled.Status == no) {
			t.Fatalf("Ready=%s with Reconciling=%s and Stalled=%s", ready.Status, reconciling.Status, stalled.Status)
		}
	})
}

func TestThePairThatIsTrueSaysWhatReadySays(t *testing.T) {
	var waiting, broken status.Readiness
	waiting.Progressing("Booting", "the machine boots")
	broken.Stalled("BadCredentials", "the BMC refuses the password; correct the secret")
	if ready, reconciling, _ := waiting.Values(); reconciling.Reason != ready.Reason || reconciling.Message != ready.Message {
		t.Errorf("%+v, %+v", ready, reconciling)
	}
	if ready, _, stalled := broken.Values(); stalled.Reason != ready.Reason || stalled.Message != ready.Message {
		t.Errorf("%+v, %+v", ready, stalled)
	}
}

// A pass that returned early, or forgot, must not publish success.
func TestSilenceIsNotReadiness(t *testing.T) {
	w := settled(t, func(*status.Session) {})
	if c := conditionOf(t, w, "Ready"); c.Status != unknown {
		t.Errorf("Ready=%s", c.Status)
	}
}

// Code that decides without a session hands its readiness over as one value.
func TestAReadinessFilledElsewhereCanBeAssigned(t *testing.T) {
	var decided status.Readiness
	decided.Stalled("BadSpec", "")
	w := settled(t, func(s *status.Session) {
		s.Readiness = decided
		s.Converged("Succeeded", "")
	})
	if c := conditionOf(t, w, "Ready"); c.Reason != "BadSpec" {
		t.Errorf("%+v", c)
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for level, want := range map[status.Level]string{
		status.LevelSilent: "Silent", status.LevelConverged: "Converged",
		status.LevelProgressing: "Progressing", status.LevelStalled: "Stalled", 42: "Invalid",
	} {
		if level.String() != want {
			t.Errorf("%d is %s", level, level)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/status"
)

func TestAPassWhoseOnlyNewsIsTheGenerationStillWrites(t *testing.T) {
	w := settled(t, converged)
	w.Generation++
	s := &server{}
	if outcome := commit(t, s, nil, w, converged); outcome != status.Written {
		t.Errorf("outcome %s", outcome)
	}
	mustContain(t, s.only(t), `"observedGeneration":4`)
	if w.Status.ObservedGeneration != 4 {
		t.Errorf("observedGeneration %d", w.Status.ObservedGeneration)
	}
}

func TestTheGenerationReadIsReportedNotTheOneThatCameLater(t *testing.T) {
	w := settled(t, converged)
	commit(t, &server{}, nil, w, func(s *status.Session) {
		w.Generation = 9 // as a write of the spec inside the pass would leave it
		s.Set("Counted", yes, "Counted", "")
		s.Converged("Succeeded", "")
	})
	if w.Status.ObservedGeneration != 3 || conditionOf(t, w, "Counted").ObservedGeneration != 3 {
		t.Errorf("reports a generation that was not looked at: %+v", w.Status)
	}
}

func TestSetWritesInPlaceAndKeepsTheOrder(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.Set("A", yes, "R", "")
		s.Set("B", yes, "R", "")
		s.Converged("Succeeded", "")
	})
	commit(t, &server{}, nil, w, func(s *status.Session) {
		s.Set("C", yes, "R", "")
		s.Set("B", no, "Changed", "now")
		s.Set("A", yes, "R", "")
		s.Converged("Succeeded", "")
	})
	var order []string
	for _, c := range w.Status.Conditions {
		order = append(order, c.Type)
	}
	want := []string{"A", "B", "Ready", "Reconciling", "Stalled", "C"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if c := conditionOf(t, w, "B"); c.Status != no || c.Reason != "Changed" || c.Message != "now" {
		t.Errorf("B is %+v", c)
	}
}

func TestASetConditionIsPinnedToTheGenerationAndAnOlderOneKeepsItsOwn(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.Set("Old", yes, "R", "")
		s.Converged("Succeeded", "")
	})
	w.Generation = 4
	commit(t, &server{}, nil, w, func(s *status.Session) {
		s.Set("New", yes, "R", "")
		s.Converged("Succeeded", "")
	})
	for conditionType, want := range map[string]int64{"Old": 3, "New": 4, "Ready": 4, "Reconciling": 4, "Stalled": 4} {
		if got := conditionOf(t, w, conditionType).ObservedGeneration; got != want {
			t.Errorf("%s observed generation %d, want %d", conditionType, got, want)
		}
	}
}

func TestLastTransitionTimeMovesOnlyWhenTheStatusDoes(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.Set("Scheduled", no, "NoNode", "")
		s.Converged("Succeeded", "")
	})
	later := start.Add(time.Hour)
	at := func(value metav1.ConditionStatus, reason, message string) time.Time {
		commit(t, &server{}, nil, w, func(s *status.Session) {
			s.Set("Scheduled", value, reason, message)
			s.Converged("Succeeded", "")
		}, status.WithClock(clocktesting.NewFakePassiveClock(later)))
		return conditionOf(t, w, "Scheduled").LastTransitionTime.Time
	}
	if got := at(no, "OtherReason", "other message"); !got.Equal(start) {
		t.Errorf("moved to %s with the reason alone", got)
	}
	if got := at(yes, "OtherReason", "other message"); !got.Equal(later) {
		t.Errorf("%s after the status changed, want %s", got, later)
	}
}

func TestLastTransitionTimeIsWholeSecondsAsItIsStored(t *testing.T) {
	w := newWidget()
	commit(t, &server{}, nil, w, converged, status.WithClock(clocktesting.NewFakePassiveClock(start.Add(1500*time.Millisecond))))
	if got := conditionOf(t, w, "Ready").LastTransitionTime.Time; !got.Equal(start.Add(time.Second)) {
		t.Errorf("%s", got)
	}
}

// A pass may report provisional values; what counts is what it says at last.
func TestAValueChangedAndChangedBackWithinAPassIsNoChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SampledFrom([]metav1.ConditionStatus{yes, no, unknown})
		last := values.Draw(rt, "persisted")
		report := func(s *status.Session) {
			s.Set("Scheduled", last, "Reason", "message")
			s.Converged("Succeeded", "")
		}
		w := settled(t, report)
		s := &server{}
		outcome, err := try(s, nil, w, func(session *status.Session) {
			for i, provisional := range rapid.SliceOfN(values, 0, 5).Draw(rt, "provisional") {
				session.Set("Scheduled", provisional, fmt.Sprintf("Provisional%d", i), "")
			}
			report(session)
		}, status.WithClock(clocktesting.NewFakePassiveClock(start.Add(time.Hour))))
		if err != nil || outcome != status.Unchanged || len(s.patches) != 0 {
			rt.Fatalf("%s, %v, sent %q", outcome, err, s.patches)
		}
	})
}

func TestAReasonTheSchemaRefusesBecomesUnspecified(t *testing.T) {
	for name, test := range map[string]struct{ reason, message, wantReason, wantMessage string }{
		"empty":              {"", "text", "Unspecified", "text"},
		"blank inside":       {"not found", "text", "Unspecified", "not found: text"},
		"leading digit":      {"404", "text", "Unspecified", "404: text"},
		"trailing colon":     {"Odd:", "text", "Unspecified", "Odd:: text"},
		"trailing comma":     {"Odd,", "text", "Unspecified", "Odd,: text"},
		"beyond the length":  {strings.Repeat("R", 1025), "text", "Unspecified", strings.Repeat("R", 1025) + ": text"},
		"colon and comma":    {"A:b,C_9", "text", "A:b,C_9", "text"},
		"one letter":         {"R", "", "R", ""},
		"the longest":        {strings.Repeat("R", 1024), "", strings.Repeat("R", 1024), ""},
		"not ASCII":          {"Größe", "text", "Unspecified", "Größe: text"},
		"underscore at last": {"R_", "", "R_", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(s *status.Session) {
				s.Set("Domain", yes, test.reason, test.message)
				s.Stalled(test.reason, test.message)
			})
			for _, conditionType := range []string{"Domain", "Ready"} {
				c := conditionOf(t, w, conditionType)
				if c.Reason != test.wantReason || c.Message != test.wantMessage {
					t.Errorf("%s: reason %q, message %q", conditionType, c.Reason, c.Message)
				}
			}
		})
	}
}

func TestAMessageTheSchemaRefusesIsCutAtACharacter(t *testing.T) {
	for name, message := range map[string]string{
		"ASCII":     strings.Repeat("x", 40_000),
		"two bytes": strings.Repeat("ü", 40_000),
		"at an odd": "x" + strings.Repeat("ü", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(s *status.Session) {
				s.Set("Domain", yes, "R", message)
				s.Converged("Succeeded", "")
			})
			got := conditionOf(t, w, "Domain").Message
			if len(got) > 32768 || len(got) < 32760 || !strings.HasSuffix(got, "…") {
				t.Errorf("%d bytes, ends in %q", len(got), got[len(got)-4:])
			}
			if strings.ToValidUTF8(got, "") != got {
				t.Error("cut within a character")
			}
		})
	}
}

func TestTheLongestMessageTheSchemaTakesIsKeptWhole(t *testing.T) {
	longest := strings.Repeat("x", 32768)
	w := settled(t, func(s *status.Session) {
		s.Set("Domain", yes, "R", longest)
		s.Converged("Succeeded", "")
	})
	if got := conditionOf(t, w, "Domain").Message; got != longest {
		t.Errorf("%d bytes", len(got))
	}
}

// Bytes that are not UTF-8 are replaced in JSON; kept in memory they would differ from what is read back,
// for ever.
func TestAMessageThatIsNotUTF8IsReportedAsItReadsBack(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.Set("Domain", yes, "R", "reply: \xff\xfe")
		s.Converged("Succeeded", "")
	})
	if got := conditionOf(t, w, "Domain").Message; got != "reply: \uFFFD" {
		t.Errorf("%q", got)
	}
}

func TestTheZeroValueIsAValidCondition(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.SetValue("Domain", status.Value{})
		s.Converged("Succeeded", "")
	})
	if c := conditionOf(t, w, "Domain"); c.Status != unknown || c.Reason != status.ReasonUnspecified {
		t.Errorf("%+v", c)
	}
}

func TestRemoveIsTheOnlyWayAConditionGoes(t *testing.T) {
	w := settled(t, func(s *status.Session) {
		s.Set("Kept", yes, "R", "")
		s.Set("Dropped", yes, "R", "")
		converged(s)
	})
	if commit(t, &server{}, nil, w, converged) != status.Unchanged {
		t.Error("a pass that does not mention a condition changed it")
	}
	s := &server{}
	commit(t, s, nil, w, func(s *status.Session) {
		s.Remove("Dropped")
		s.Remove("NeverThere")
		s.Converged("Succeeded", "")
	})
	for _, c := range w.Status.Conditions {
		if c.Type == "Dropped" {
			t.Error("still there")
		}
	}
	conditionOf(t, w, "Kept")
	if strings.Contains(s.only(t), "Dropped") {
		t.Error("still in the patch")
	}
}

func TestReadyReconcilingAndStalledAreDerivedByNobodyElse(t *testing.T) {
	for _, conditionType := range []string{"Ready", "Reconciling", "Stalled"} {
		for verb, misuse := range map[string]func(*status.Session){
			"set":    func(s *status.Session) { s.Set(conditionType, yes, "Mine", "") },
			"remove": func(s *status.Session) { s.Remove(conditionType) },
		} {
			t.Run(verb+" "+conditionType, func(t *testing.T) {
				s := &server{}
				outcome, err := try(s, nil, newWidget(), func(session *status.Session) {
					misuse(session)
					session.Converged("Succeeded", "")
				})
				if outcome != status.Failed || err == nil || len(s.patches) != 0 {
					t.Errorf("%s, %v, sent %q", outcome, err, s.patches)
				}
				mustContain(t, fmt.Sprint(err), conditionType)
			})
		}
	}
}

func TestValueOfReadsAnotherObjectsConditionWithDefaultsForWhatIsEmpty(t *testing.T) {
	fallback := status.Value{Status: unknown, Reason: "Silent", Message: "it says nothing"}
	conditions := []metav1.Condition{
		{Type: "Full", Status: yes, Reason: "R", Message: "m"},
		{Type: "NoReason", Status: no, Message: "m"},
		{Type: "NoMessage", Status: no, Reason: "R"},
		{Type: "Empty"},
	}
	for conditionType, want := range map[string]status.Value{
		"Full":      {Status: yes, Reason: "R", Message: "m"},
		"NoReason":  {Status: no, Reason: "Silent", Message: "m"},
		"NoMessage": {Status: no, Reason: "R", Message: "it says nothing"},
		"Empty":     fallback,
		"Absent":    fallback,
	} {
		if diff := cmp.Diff(want, status.ValueOf(conditions, conditionType, fallback)); diff != "" {
			t.Errorf("%s: %s", conditionType, diff)
		}
	}
}

func TestANilClockIsTheRealOne(t *testing.T) {
	w, before := newWidget(), time.Now().Truncate(time.Second)
	session := status.Begin(&server{}, nil, w, status.WithClock(nil))
	session.Converged("Succeeded", "")
	if _, err := session.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := conditionOf(t, w, "Ready").LastTransitionTime.Time; got.Before(before) || got.After(time.Now()) {
		t.Errorf("%s", got)
	}
}

func TestAConditionSaidAgainWithinAPassKeepsTheTimeOfTheFirst(t *testing.T) {
	w, ticking := newWidget(), clocktesting.NewFakePassiveClock(start)
	commit(t, &server{}, nil, w, func(s *status.Session) {
		s.Set("Scheduled", yes, "R", "")
		ticking.SetTime(start.Add(time.Minute))
		s.Set("Scheduled", yes, "R", "said again")
		converged(s)
	}, status.WithClock(ticking))
	if got := conditionOf(t, w, "Scheduled").LastTransitionTime.Time; !got.Equal(start) {
		t.Errorf("%s", got)
	}
}

// Clients decode the API server's answer over the local object: a write of metadata inside the session
// brings back the status as stored, with what others have reported meanwhile.
func TestMetadataWrittenCarriesAWriteInsideTheSession(t *testing.T) {
	stored := settled(t, func(s *status.Session) {
		s.Set("Kept", yes, "R", "")
		s.Set("Dropped", yes, "R", "")
		s.Converged("Succeeded", "")
	})
	foreign := metav1.Condition{Type: "Foreign", Status: yes, Reason: "Meanwhile", LastTransitionTime: metav1.NewTime(start)}
	for name, object := range map[string]status.Object{
		"structured":   stored.DeepCopy(),
		"unstructured": mustUnstructured(t, toUnstructured(t, stored)),
	} {
		t.Run(name, func(t *testing.T) {
			object.SetGeneration(4)
			s := &server{}
			session := status.Begin(s, nil, object, status.WithClock(clocktesting.NewFakePassiveClock(start)))
			session.Set("Kept", no, "Changed", "")
			session.Remove("Dropped")

			answerMetadataWrite(t, object, append(slices.Clone(stored.Status.Conditions), foreign), "8")
			session.MetadataWritten()

			session.Converged("Succeeded", "the widget runs")
			if outcome, err := session.Commit(context.Background()); outcome != status.Written {
				t.Fatal(outcome, err)
			}
			mustContain(t, s.only(t), `"resourceVersion":"8"`)
			mustHaveFields(t, s.only(t), "conditions", "observedGeneration")
			if c := conditionOf(t, object, "Kept"); c.Status != no || c.Reason != "Changed" {
				t.Errorf("the report made before the write is lost: %+v", c)
			}
			if strings.Contains(s.only(t), "Dropped") {
				t.Error("the removal made before the write is lost")
			}
			if c := conditionOf(t, object, "Foreign"); c.Reason != "Meanwhile" {
				t.Errorf("what another reported meanwhile is undone: %+v", c)
			}
		})
	}
}

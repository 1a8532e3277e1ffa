// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestChangedFactIsWrittenOnce: one write for each picture that differs, none for its repetitions.
func TestChangedFactIsWrittenOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		before := w.server("rack1").Status.Observed.Since
		w.pass(10 * time.Minute)
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(time.Hour)
		if diff := cmp.Diff([]string{"Server rack1"}, w.written()); diff != "" {
			t.Error(diff)
		}
		observed := w.server("rack1").Status.Observed
		if observed.PowerState != v1alpha1.ObservedOn || !observed.Since.After(before.Time) {
			t.Errorf("picture %+v, since %s", observed, observed.Since)
		}
		since := observed.Since
		bmc.facts(func(f *provider.SystemFacts) { f.Health = "Warning" })
		w.pass(time.Hour)
		if got := w.server("rack1").Status.Observed; got.Health != "Warning" || !got.Since.Equal(since) {
			t.Errorf("since %s moved with the health, was %s", got.Since, since)
		}
	})
}

// TestNoPowerStateIsOlderThanItsAnswer: a machine that comes On while it is being asked is On since the answer, not since the question: a
// restart that is asked for in between is older than that On (docs/decisions/0161).
func TestNoPowerStateIsOlderThanItsAnswer(t *testing.T) {
	const slow = 3 * time.Second
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.pass(time.Minute)
		var on time.Time
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				<-time.After(slow)
				bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
				on = time.Now()
				bmc.set(func(b *scriptedBMC) { b.during = nil })
			}
		})
		cloud := w.connect("fra1", 1)
		w.pass(time.Hour)
		if got := w.seen("rack1"); got.PowerState != v1alpha1.ObservedOn || got.Since.Time.Before(on.Truncate(time.Second)) {
			t.Errorf("a BMC's answer: %s since %s, and it was so from %s on", got.PowerState, got.Since, on)
		}
		cloud.set(func(c *scriptedCloud) {
			c.before = func() {
				<-time.After(slow)
				cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.Power = provider.PowerOff })
				on = time.Now()
				cloud.set(func(c *scriptedCloud) { c.before = nil })
			}
		})
		w.pass(time.Minute)
		if got := w.seen("fra1-vm1"); got.PowerState != v1alpha1.ObservedOff || got.Since.Time.Before(on.Truncate(time.Second)) {
			t.Errorf("a cloud's answer: %s since %s, and it was so from %s on", got.PowerState, got.Since, on)
		}
	})
}

// TestRotatedListsAreNoChange: B158. Ids and order of NICs and drives rotate with each look; nothing is written.
func TestRotatedListsAreNoChange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.cadence.Inventory = time.Minute // read in each look
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		turn := 0
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				turn++
				b.facts(func(f *provider.SystemFacts) {
					hardware := *f.Hardware
					hardware.NICs, hardware.Drives = slices.Clone(hardware.NICs), slices.Clone(hardware.Drives)
					slices.Reverse(hardware.NICs)
					slices.Reverse(hardware.Drives)
					for i := range hardware.NICs {
						hardware.NICs[i].Name = fmt.Sprintf("NIC.%d.%d", turn, i)
					}
					f.Hardware = &hardware
				})
				b.set(func(b *scriptedBMC) { b.bmc.Systems = slices.Clone(b.bmc.Systems) })
			}
		})
		w.pass(2 * time.Hour)
		if got := kinds(bmc.asked())["inventory"]; got < 50 {
			t.Fatalf("%d inventories read, want one in each look", got)
		}
		if written := w.written(); len(written) != 0 {
			t.Errorf("written: %v", written)
		}
		bmc.set(func(b *scriptedBMC) { b.during = nil })
		bmc.facts(func(f *provider.SystemFacts) {
			f.Hardware = &provider.Hardware{NICs: []provider.NIC{{Name: "1", MAC: "02:00:00:00:00:99"}}}
		})
		w.pass(5 * time.Minute)
		if got := w.server("rack1").Status.Observed.Hardware.NICs; len(got) != 1 || got[0].MAC != "02:00:00:00:00:99" {
			t.Errorf("a NIC that was replaced is not told: %v", got)
		}
	})
}

// TestStatusWipedIsHealed: P1, I5. Nobody misses the region longer than a moment, also where the BMC would say NotModified.
func TestStatusWipedIsHealed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		w.pass(10 * time.Minute)
		want := w.server("rack1").Status.Observed
		w.change("rack1", func(s *v1alpha1.Server) { s.Status = v1alpha1.ServerStatus{} })
		w.pass(time.Second)
		got := w.server("rack1").Status.Observed
		if got != nil {
			got.Since = want.Since
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a second after a wipe: %s", diff)
		}
		wiped := w.bmc("rack1")
		wiped.Status = v1alpha1.BMCStatus{}
		w.put(wiped)
		w.pass(time.Second)
		if got := w.bmc("rack1").Status.Observed; got == nil || !got.Reachable {
			t.Errorf("region of the BMC a second after a wipe: %+v", got)
		}
	})
}

// TestOlderCopyIsHealed: I5. NotModified never keeps an older copy of the region: the ETag is not sent once it was replaced.
func TestOlderCopyIsHealed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		w.pass(10 * time.Minute)
		older := w.server("rack1").Status.Observed
		older.Hardware.SerialNumber = "from before the board was replaced"
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(10 * time.Minute)
		calls := bmc.asked()
		if last := calls[len(calls)-1]; last.etag == "" {
			t.Fatal("no conditional look at rest")
		}
		w.change("rack1", func(s *v1alpha1.Server) { s.Status.Observed = older })
		w.pass(time.Second)
		got := w.server("rack1").Status.Observed
		if got.PowerState != v1alpha1.ObservedOn || got.Hardware.SerialNumber != "S1" {
			t.Errorf("a second after an older copy was restored: %s, serial %s", got.PowerState, got.Hardware.SerialNumber)
		}
	})
}

// TestOlderStateIsHealed: the same where the hardware did not change, so that a conditional look would do.
func TestOlderStateIsHealed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		older := w.server("rack1").Status.Observed
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(10 * time.Minute)
		w.change("rack1", func(s *v1alpha1.Server) { s.Status.Observed = older })
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed.PowerState; got != v1alpha1.ObservedOn {
			t.Errorf("power %s a second after an older copy was restored", got)
		}
	})
}

// TestOlderStateRestoredWhileUnreachable: the failure is told again on top of the older facts; they do not outlive the outage.
func TestOlderStateRestoredWhileUnreachable(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		older := w.server("rack1").Status.Observed
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(10 * time.Minute)
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.pass(30 * time.Minute)
		w.change("rack1", func(s *v1alpha1.Server) { s.Status.Observed = older })
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed; got.Reachable {
			t.Error("an older copy said reachable for longer than a second")
		}
		bmc.set(func(b *scriptedBMC) { b.failing = nil })
		w.pass(10 * time.Minute)
		if got := w.server("rack1").Status.Observed; !got.Reachable || got.PowerState != v1alpha1.ObservedOn {
			t.Errorf("region after the outage: %+v", got)
		}
	})
}

// TestNotModifiedKeepsTheFacts and takes the intent along.
func TestNotModifiedKeepsTheFacts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		w.pass(5 * time.Minute)
		want := w.server("rack1").Status.Observed
		want.Intent = "i1"
		w.change("rack1", setIntent("i1"))
		w.pass(time.Second)
		if diff := cmp.Diff(want, w.server("rack1").Status.Observed); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPictureBearsTheIntentReadBefore: R4. An intent opened while the BMC is being asked is not on that picture.
func TestPictureBearsTheIntentReadBefore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.pass(time.Minute)
		var during []string
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				if len(during) == 0 {
					w.meanwhile("rack1", setIntent("i1"))
				}
				during = append(during, w.server("rack1").Status.Observed.Intent)
			}
		})
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		var pictures []string
		w.onPatch(func() { pictures = append(pictures, w.server("rack1").Status.Observed.Intent) })
		w.pass(2 * time.Minute)
		observed := w.server("rack1").Status.Observed
		if diff := cmp.Diff([]string{"", ""}, during[:2]); diff != "" {
			t.Errorf("intents on the region during the first two looks: %s", diff)
		}
		if observed.Intent != "i1" || len(pictures) != 2 {
			t.Errorf("intent on the picture %q after %d writes, want i1 with the second", observed.Intent, len(pictures))
		}
	})
}

// TestIntentAloneIsWritten: an object that waits for a picture bearing its intent's id gets it though nothing else changed, once;
// and that the intent is closed is not worth a write.
func TestIntentAloneIsWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		w.enroll("rack1")
		w.written()
		w.change("rack1", setIntent("i1"))
		w.pass(time.Minute)
		if diff := cmp.Diff([]string{"Server rack1"}, w.written()); diff != "" {
			t.Errorf("opened: %s", diff)
		}
		w.change("rack1", setIntent(""))
		w.pass(time.Hour)
		if diff := cmp.Diff([]string(nil), w.written()); diff != "" {
			t.Errorf("closed: %s", diff)
		}
		w.change("rack1", setIntent("i2"))
		w.pass(time.Minute)
		if got := w.server("rack1").Status.Observed.Intent; got != "i2" {
			t.Errorf("intent on the picture: %q, want i2", got)
		}
	})
}

// TestTaskOfTheIntent: it is asked about until it has come to its end, and before the picture that tells so is taken (B142). An effect
// that is asked for again becomes another task: what failed before is no news of it (B067).
func TestTaskOfTheIntent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		bmc.set(func(b *scriptedBMC) { b.task = provider.TaskState{Phase: provider.TaskRunning} })
		w.change("rack1", func(s *v1alpha1.Server) {
			setIntent("i1")(s)
			s.Annotations[ledger.KeyIntent] = strings.Replace(s.Annotations[ledger.KeyIntent], `"id"`, `"task":"/tasks/7","id"`, 1)
		})
		w.pass(time.Second)
		calls := bmc.asked()
		if len(calls) < 2 || calls[0].what != "task" || calls[0].system != "/tasks/7" || calls[1].what != "state" {
			t.Errorf("asked: %v, want the task, then the state", calls)
		}
		if got := w.server("rack1").Status.Observed; got.Intent != "i1" || got.Task != "Running" {
			t.Errorf("intent %q, task %q", got.Intent, got.Task)
		}
		bmc.set(func(b *scriptedBMC) { b.broken["/tasks/7"] = timeout() })
		w.pass(10 * time.Second)
		if got := w.server("rack1").Status.Observed; got.Task != "Running" || !got.Reachable {
			t.Errorf("task %q, reachable %t after an error about the task alone", got.Task, got.Reachable)
		}
		bmc.set(func(b *scriptedBMC) {
			b.broken, b.task = map[string]error{}, provider.TaskState{Phase: provider.TaskFailed, Message: "no power"}
		})
		w.pass(30 * time.Second)
		if got := w.server("rack1").Status.Observed; got.Task != "Failed" || got.TaskMessage != "no power" {
			t.Errorf("task %q, %q, want Failed, and why", got.Task, got.TaskMessage)
		}
		bmc.asked()
		w.pass(10 * time.Minute)
		if got := kinds(bmc.asked())["task"]; got != 0 {
			t.Errorf("asked %d times about a task that had come to its end", got)
		}
		bmc.set(func(b *scriptedBMC) { b.task = provider.TaskState{Phase: provider.TaskRunning} })
		w.change("rack1", func(s *v1alpha1.Server) {
			s.Annotations[ledger.KeyIntent] = strings.Replace(s.Annotations[ledger.KeyIntent], "/tasks/7", "/tasks/8", 1)
		})
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed; got.Intent != "i1" || got.Task != "Running" || got.TaskMonitor != "/tasks/8" || got.TaskMessage != "no power" {
			t.Errorf("intent %q, task %q of %q: the effect was asked for again and became another task", got.Intent, got.Task, got.TaskMonitor)
		}
		w.change("rack1", setIntent("i2"))
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed; got.Intent != "i2" || got.Task != "" || got.TaskMonitor != "" || got.TaskMessage != "" {
			t.Errorf("intent %q, task %q: another intent's", got.Intent, got.Task)
		}
	})
}

// TestUnreadableLedgerHasNoIntent: what nobody can read, no picture may close.
func TestUnreadableLedgerHasNoIntent(t *testing.T) {
	server := newServer("rack1")
	server.Annotations = map[string]string{v1alpha1.LedgerPrefix + "intent": `{"id":"i1","unheard-of":true}`}
	if got := openIntent(server).ID; got != "" {
		t.Errorf("intent %q of an unreadable ledger", got)
	}
}

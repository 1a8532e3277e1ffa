// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// B219: a cloud whose listings do not tell why a VM is errored is asked by id, once an error; one that has nothing to tell is asked a few
// times, and then left alone.
func TestTheFaultOfAnErroredVMIsAskedForOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		asked int
	}{
		"told":            {"No valid host was found.", 1},
		"nothing to tell": {"", faultTries},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start()
				cloud := w.connect("fra1", 2)
				cloud.set(func(s *scriptedCloud) { s.mute = true })
				w.pass(time.Minute)
				cloud.asked()
				for range 2 { // an error, and another one after it
					cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.State, f.Errored, f.Fault = "ERROR", true, c.fault })
					w.pass(20 * time.Minute)
					if got := w.seen("fra1-vm1").Instance; !got.Errored || got.Fault != c.fault {
						t.Errorf("the picture says %+v", got)
					}
					if got := countCalls(cloud.asked())[lookInstance]; got != c.asked {
						t.Errorf("asked by id %d times, not %d", got, c.asked)
					}
					cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.State, f.Errored, f.Fault = "ACTIVE", false, "" })
					w.pass(5 * time.Minute)
					if got := w.seen("fra1-vm1").Instance; got.Errored || got.Fault != "" {
						t.Errorf("once it is back the picture says %+v", got)
					}
				}
			})
		})
	}
}

// A fault that the listing tells is not asked for.
func TestAFaultThatIsListedIsNotAskedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		cloud := w.connect("fra1", 1)
		w.pass(time.Minute)
		cloud.asked()
		cloud.vm("fra1-vm1", func(f *provider.InstanceFacts) { f.State, f.Errored, f.Fault = "ERROR", true, "aborted" })
		w.pass(10 * time.Minute)
		if got := w.seen("fra1-vm1").Instance; got.Fault != "aborted" {
			t.Errorf("the picture says %+v", got)
		}
		if got := countCalls(cloud.asked())[lookInstance]; got != 0 {
			t.Errorf("asked by id %d times", got)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// listen opens the event stream and returns a function that waits for the next event's origin; it
// returns "" when the stream has ended.
func (b *bench) listen() (next func() string) {
	b.t.Helper()
	uri := b.get("/redfish/v1/EventService")["ServerSentEventUri"].(string)
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.bmc.Endpoint()+uri, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "password")
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		b.t.Fatalf("Content-Type %q", got)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var event struct {
					Events []struct {
						OriginOfCondition map[string]string
					}
				}
				if err := json.Unmarshal([]byte(data), &event); err != nil || len(event.Events) != 1 {
					b.t.Fatalf("event %q: %v", data, err)
				}
				return event.Events[0].OriginOfCondition["@odata.id"]
			}
		}
		return ""
	}
}

func TestEventStreamTellsWhichMachineChanged(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{}, redfish.MachineSpec{}))
	next := b.listen()
	b.bmc.Machine("2").SetDisk("debian")
	if got := next(); got != "/redfish/v1/Systems/2" {
		t.Errorf("event of %q", got)
	}
	b.reset("On", http.StatusNoContent)
	if got := next(); got != system {
		t.Errorf("event of %q", got)
	}
}

func TestEventStreamEndsWithTheBMC(t *testing.T) {
	b := newBench(t)
	next := b.listen()
	b.bmc.Reboot()
	if got := next(); got != "" {
		t.Errorf("event of %q after the BMC has gone", got)
	}
}

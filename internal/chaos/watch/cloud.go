// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// identityMark is what VMs, ports and floating IPs of Holdfast are stamped with, before their identity: a part of its interface, that
// people filter by.
const identityMark = "holdfast:"

// Cloud watches the VMs of a simulated cloud.
type Cloud struct {
	cloud *openstack.Cloud
	last  entry
	// there is what the log has told that is there, by id.
	there map[string]bool
}

// NewCloud watches a cloud from its beginning.
func NewCloud(cloud *openstack.Cloud) *Cloud { return &Cloud{cloud: cloud, there: map[string]bool{}} }

// Drain returns what happened since the last time, oldest first. It fails when the log has a gap: then nothing can be judged.
func (w *Cloud) Drain() ([]judge.Event, error) {
	var events []judge.Event
	log := w.cloud.Events(openstack.EventFilter{After: uint64(w.last)})
	for i := range log {
		e := &log[i]
		if err := w.last.follow(e.Seq); err != nil {
			return events, fmt.Errorf("log of the cloud: %w", err)
		}
		w.note(e)
		if kind := kindOf(e); kind != "" {
			events = append(events, judge.Event{
				At: e.At, Arrived: e.Arrived, Kind: kind, Machine: e.ID, Tenant: tenantOfUserData(e.UserData), Identity: identityOf(e), Detail: detailOf(e),
			})
		}
	}
	return events, nil
}

var kinds = map[openstack.EventKind]judge.Kind{
	openstack.EventServerCreated: judge.CreatedVM, openstack.EventServerLaunched: judge.LaunchedVM, openstack.EventServerRebuilt: judge.Installed,
	openstack.EventServerDelete: judge.DeletedVM, openstack.EventServerGone: judge.GoneVM,
	openstack.EventPortCreated: judge.PortMade, openstack.EventPortDeleted: judge.PortGone,
	openstack.EventFloatingIPCreated: judge.AddressMade, openstack.EventFloatingIPDeleted: judge.AddressGone,
}

// kindOf is what an entry means to the judge; empty for nothing.
func kindOf(e *openstack.Event) judge.Kind {
	action, _, _ := strings.Cut(e.Detail, " ")
	switch e.Kind {
	case openstack.EventServerAction:
		return map[string]judge.Kind{
			"os-start": judge.PoweredOn, "os-stop": judge.PoweredOff, "reboot": judge.Reset, "rebuild": judge.RebuiltVM,
		}[action]
	case openstack.EventServerPower:
		return map[string]judge.Kind{"ACTIVE": judge.WentOn, "SHUTOFF": judge.WentOff}[e.State]
	}
	return kinds[e.Kind]
}

// detailOf is who did it, where no request did.
func detailOf(e *openstack.Event) string {
	if e.By == "request" {
		return ""
	}
	return e.By
}

// identityOf is what something is stamped with.
func identityOf(e *openstack.Event) string {
	for _, mark := range append([]string{e.Description}, e.Tags...) {
		if identity, is := strings.CutPrefix(mark, identityMark); is {
			return identity
		}
	}
	return ""
}

func (w *Cloud) note(e *openstack.Event) {
	switch e.Kind {
	case openstack.EventServerCreated, openstack.EventPortCreated, openstack.EventFloatingIPCreated:
		w.there[e.ID] = true
	case openstack.EventServerGone, openstack.EventPortDeleted, openstack.EventFloatingIPDeleted:
		delete(w.there, e.ID)
	}
}

// Compare fails where what the log told until the last Drain is not what is there.
func (w *Cloud) Compare() error {
	there := map[string]bool{}
	for _, s := range w.cloud.Servers() {
		there[s.ID] = true
	}
	for _, p := range w.cloud.Ports() {
		there[p.ID] = true
	}
	for _, f := range w.cloud.FloatingIPs() {
		there[f.ID] = true
	}
	if !maps.Equal(there, w.there) {
		return fmt.Errorf("at the cloud are %v; its log told of %v", slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(w.there)))
	}
	return nil
}

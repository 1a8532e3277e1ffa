// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// saveDelay is how long changes are collected before they are written.
const saveDelay = 200 * time.Millisecond

// saver keeps the state of machines in a directory, one file a BMC. Without a directory it does nothing.
type saver struct {
	rack *Rack
	dir  string

	writing sync.Mutex // one writer at a time, in the order of what is written

	// Guarded by the rack's lock.
	dirty map[*BMC]struct{}
	stop  func() bool
}

func (s *saver) file(b *BMC) string {
	return filepath.Join(s.dir, "bmc-"+url.PathEscape(b.spec.Name)+".json")
}

// markDirty has the BMC's machines saved shortly, by real time.
func (r *Rack) markDirty(b *BMC) {
	s := r.saver
	if s.dir == "" {
		return
	}
	s.dirty[b] = struct{}{}
	if s.stop == nil && !r.closed {
		s.stop = time.AfterFunc(saveDelay, func() { _ = r.Save() }).Stop
	}
}

// Save writes what has changed since the last time, now. It does nothing without a StateDir.
func (r *Rack) Save() error {
	s := r.saver
	s.writing.Lock()
	defer s.writing.Unlock()
	pending, err := s.snapshot()
	if err != nil {
		return err
	}
	var errs []error
	for b, data := range pending {
		if err := wire.ReplaceFile(s.file(b), data); err != nil {
			errs = append(errs, fmt.Errorf("redfish rack: state: %w", err))
			leave := s.rack.enter()
			s.dirty[b] = struct{}{} // for the next Save, and for Close to tell
			leave()
		}
	}
	return errors.Join(errs...)
}

func (s *saver) snapshot() (map[*BMC][]byte, error) {
	defer s.rack.enter()()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	pending := map[*BMC][]byte{}
	for b := range s.dirty {
		states := map[string]*machineState{}
		for _, m := range b.machines {
			states[m.id] = &m.state
		}
		data, err := json.MarshalIndent(states, "", "  ")
		if err != nil {
			return nil, err
		}
		pending[b] = data
	}
	clear(s.dirty)
	return pending, nil
}

// load gives the machines of a BMC the state they were saved with; a machine without one keeps its spec's.
// A step that was under way begins anew.
func (s *saver) load(b *BMC) error {
	if s.dir == "" {
		return nil
	}
	data, err := os.ReadFile(s.file(b))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("redfish rack: state: %w", err)
	}
	states := map[string]machineState{}
	if err := json.Unmarshal(data, &states); err != nil {
		return fmt.Errorf("redfish rack: state: %s: %w", s.file(b), err)
	}
	now := s.rack.now()
	for _, m := range b.machines {
		if state, ok := states[m.id]; ok {
			m.state = state
			m.resume(now)
		}
	}
	return nil
}

func (s *saver) close() error { return s.rack.Save() }

// resume takes up the step a machine was saved in.
func (m *Machine) resume(at time.Time) {
	t := m.bmc.timing()
	lasts := map[step]time.Duration{
		stepPowerOn: t.PowerOn, stepPOST: t.POST, stepOSBoot: t.OSBoot, stepShutdown: t.Shutdown,
		stepPowerOff: t.PowerOff, stepPause: t.Pause,
	}
	if m.state.Step == stepProgram {
		lasts[stepProgram] = m.state.Program.Duration
	}
	if m.state.Step != stepRest {
		m.begin(m.state.Step, at, lasts[m.state.Step])
	}
}

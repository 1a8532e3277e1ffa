// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// saveDelay is how long changes are collected before they are written.
const saveDelay = 200 * time.Millisecond

// saver keeps the world in a file. Without a directory it does nothing.
type saver struct {
	cloud *Cloud
	dir   string

	writing sync.Mutex // one writer at a time, in the order of what is written

	// Guarded by the cloud's lock.
	dirty  bool
	closed bool
	stop   func() bool
}

func (s *saver) file() string { return filepath.Join(s.dir, "cloud.json") }

// markDirty has the world saved shortly, by real time.
func (c *Cloud) markDirty() {
	s := c.saver
	if s.dir == "" {
		return
	}
	s.dirty = true
	if s.stop == nil && !s.closed {
		s.stop = time.AfterFunc(saveDelay, func() { _ = c.Save() }).Stop
	}
}

// Save writes the world, if it has changed since the last time, now. It does nothing without a StateDir.
func (c *Cloud) Save() error {
	s := c.saver
	s.writing.Lock()
	defer s.writing.Unlock()
	data, err := s.snapshot()
	if err != nil || data == nil {
		return err
	}
	if err := wire.ReplaceFile(s.file(), data); err != nil {
		defer c.enter()()
		s.dirty = true // for the next Save, and for Close to tell
		return err
	}
	return nil
}

// snapshot is the world as it is to be written; nil where it has not changed.
func (s *saver) snapshot() ([]byte, error) {
	defer s.cloud.enter()()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	if !s.dirty {
		return nil, nil
	}
	s.dirty = false
	return json.Marshal(s.cloud.world)
}

func (s *saver) close() error {
	leave := s.cloud.enter()
	s.closed = true
	leave()
	return s.cloud.Save()
}

// load takes up the world that was saved. What servers were going through begins anew.
func (c *Cloud) load() error {
	if c.saver.dir == "" {
		return nil
	}
	if err := os.MkdirAll(c.saver.dir, 0o750); err != nil {
		return fmt.Errorf("openstack simulator: state: %w", err)
	}
	data, err := os.ReadFile(c.saver.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("openstack simulator: state: %w", err)
	}
	defer c.enter()()
	if err := json.Unmarshal(data, &c.world); err != nil {
		return fmt.Errorf("openstack simulator: state: %s: %w", c.saver.file(), err)
	}
	return c.takeUp()
}

// takeUp makes of the records what is not kept in them: addresses in use, and what is due.
func (c *Cloud) takeUp() error {
	for _, p := range c.world.Ports {
		n := c.networkByID(p.Network)
		if n == nil {
			return fmt.Errorf("openstack simulator: state: port %s is on a network that there is no more", p.ID)
		}
		for _, ip := range p.FixedIPs {
			n.occupy(ip.Address)
		}
	}
	for _, f := range c.world.FIPs {
		if n := c.networkByID(f.Network); n != nil {
			n.occupy(f.Address)
		}
		if f.Port != "" {
			c.made.byPort[f.Port] = f
		}
	}
	for _, s := range c.newestFirst() {
		if c.flavor(s.Flavor) == nil {
			return fmt.Errorf("openstack simulator: state: server %s is of a flavor that there is no more", s.ID)
		}
		c.resume(s, c.now())
	}
	return nil
}

func (n *netRecord) occupy(address string) {
	if a, err := netip.ParseAddr(address); err == nil {
		n.used[a] = true
	}
}

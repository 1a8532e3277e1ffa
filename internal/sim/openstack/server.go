// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// The states of a server (vm_state).
const (
	vmBuilding = "building"
	vmActive   = "active"
	vmStopped  = "stopped"
	vmError    = "error"
	vmDeleted  = "deleted"
)

// What a server is just going through (task_state).
const (
	taskNone            = ""
	taskScheduling      = "scheduling"
	taskSpawning        = "spawning"
	taskRebuilding      = "rebuilding"
	taskRebuildSpawning = "rebuild_spawning"
	taskPoweringOn      = "powering-on"
	taskPoweringOff     = "powering-off"
	taskRebooting       = "rebooting"
	taskRebootingHard   = "rebooting_hard"
	taskDeleting        = "deleting"
)

// What the hypervisor says of power.
const (
	powerNoState  = 0
	powerRunning  = 1
	powerShutdown = 4
)

// server is a virtual machine.
type server struct {
	ID, Name    string
	Project     string
	User        string
	Description *string
	Flavor      string // id
	Image       string // id
	Key         string
	Zone        string // asked for; empty: any
	Group       string // id of its server group
	Host        string // empty until it is scheduled
	ConfigDrive bool
	UserData    string
	Metadata    map[string]string
	Tags        []string
	SGs         []string // names or ids, for ports that Nova makes

	VM, Task string
	Power    int
	Fault    *serverFault `json:",omitempty"`

	Created, Updated     time.Time
	Launched, Terminated time.Time // zero: not

	Wanted []wantedNIC // networks asked for, until there are ports
	NICs   []nic

	// Unplaced: no host took it. Nova keeps such servers apart, and listings do not tell why they failed.
	Unplaced bool `json:",omitempty"`

	// Hidden rows are missing from listings; GET by id finds them.
	Hidden bool

	next *clock.Appointment
	rows map[microversion]json.RawMessage // of listings, as they were last told; see row
}

// serverFault is why a server is in ERROR.
type serverFault struct {
	Code    int
	Message string
	At      time.Time
}

// wantedNIC is what a user asks for: a port, or a network on which Nova makes one.
type wantedNIC struct {
	Port, Network, FixedIP string
}

// nic is a port of the server. Nova deletes the ports that it made with the server, and gives others back.
type nic struct {
	Port string
	Made bool
}

// status is what the API makes of vm_state and task_state.
func (s *server) status() string {
	switch s.VM {
	case vmBuilding:
		return "BUILD"
	case vmDeleted:
		return "DELETED"
	}
	switch s.Task {
	case taskRebuilding, taskRebuildSpawning:
		return "REBUILD"
	case taskRebooting:
		return "REBOOT"
	case taskRebootingHard:
		return "HARD_REBOOT"
	}
	switch s.VM {
	case vmStopped:
		return "SHUTOFF"
	case vmError:
		return "ERROR"
	}
	return "ACTIVE"
}

// hostID is the host as users see it.
func (s *server) hostID() string {
	if s.Host == "" {
		return ""
	}
	sum := sha256.Sum224([]byte(s.Project + s.Host))
	return hex.EncodeToString(sum[:])
}

func (s *server) zone() string {
	if s.Host == "" {
		return ""
	}
	return orElse(s.Zone, "nova")
}

func (s *server) hasPort(id string) bool {
	return slices.ContainsFunc(s.NICs, func(n nic) bool { return n.Port == id })
}

// server is one of the project's; nil where there is none.
func (cl *call) server(id string) *server {
	s := cl.cloud.world.Servers[id]
	if s == nil || s.Project != cl.project() {
		return nil
	}
	return s
}

// touch notes that the server was changed.
func (c *Cloud) touch(s *server, at time.Time) {
	s.Updated, s.rows = at, nil
	c.made.servers.moved = true
	c.markDirty()
}

// ordered keeps a listing in order, newest first, without sorting it for each request.
type ordered[T any] struct {
	rows  []T
	moved bool // a row came, went or changed
}

// made is what the simulator knows of the world besides its records.
type made struct {
	down    map[string]bool        // servers whose cell is down
	byPort  map[string]*floatingIP // the floating IP of each port that has one
	servers ordered[*server]
}

func newMade() *made { return &made{byPort: map[string]*floatingIP{}, down: map[string]bool{}} }

// newestFirst are all servers as Nova lists them: by creation, the newest first, then by id.
func (c *Cloud) newestFirst() []*server {
	list := &c.made.servers
	if len(list.rows) == len(c.world.Servers) && !list.moved {
		return list.rows
	}
	list.rows, list.moved = make([]*server, 0, len(c.world.Servers)), false
	for _, s := range c.world.Servers {
		list.rows = append(list.rows, s)
	}
	slices.SortFunc(list.rows, byCreation)
	return list.rows
}

func byCreation(a, b *server) int {
	if d := b.Created.Compare(a.Created); d != 0 {
		return d
	}
	if a.ID < b.ID {
		return 1
	}
	return -1
}

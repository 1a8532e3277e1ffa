// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// Config says how a cloud is built. Its zero value is a small cloud on plain HTTP, on a free loopback port, on
// the wall clock.
type Config struct {
	// Listen is the address of all services, "host:port", loopback only. Empty: "127.0.0.1:0".
	Listen string

	// TLS has the services speak HTTPS with a certificate that verifies against [Cloud.CAPEM].
	TLS bool

	// Control is the address of the control endpoint, for instance "127.0.0.1:0". Empty: none.
	Control string

	// Clock is what servers and tokens live by. Nil: the wall clock.
	Clock clock.Clock

	// Timing is how long things take. Nil: [DefaultTiming].
	Timing *Timing

	// Behaviour is how the services answer from the start.
	Behaviour Behaviour

	// Inventory is what the operator of the cloud offers. Nil: [DefaultInventory].
	Inventory *Inventory

	// StateDir, when set, keeps what users made (servers, ports, floating IPs, …) across restarts: it is loaded by
	// [Start], and saved shortly after changes and by [Cloud.Close]. Tokens are not kept.
	StateDir string

	// RequestLog is how many requests are remembered in full. Zero: 50,000.
	RequestLog int

	// Seed makes faults that strike at a Rate repeatable.
	Seed uint64
}

// Timing is how long things take. Zero is at once, but never within the request that asks for it.
type Timing struct {
	Schedule time.Duration // from the POST until a host is chosen, or none
	Spawn    time.Duration // from the host until ACTIVE
	Rebuild  time.Duration
	PowerOn  time.Duration
	PowerOff time.Duration
	Reboot   time.Duration
	Delete   time.Duration // from the DELETE until 404
}

// DefaultTiming is a lively cloud, about two seconds from a request to a running server.
func DefaultTiming() Timing {
	return Timing{
		Schedule: 300 * time.Millisecond, Spawn: 1500 * time.Millisecond, Rebuild: 2 * time.Second,
		PowerOn: time.Second, PowerOff: time.Second, Reboot: time.Second, Delete: 500 * time.Millisecond,
	}
}

// Behaviour is how the services answer. It can be changed at any time, by [Cloud.Behave] and over the control
// endpoint. The zero value is a Zed cloud with common settings.
type Behaviour struct {
	// MaxMicroversion of the compute service, for instance "2.38". Empty: 2.93, that of Zed.
	MaxMicroversion string `json:"maxMicroversion,omitempty"`
	// PageSize is the most rows of one page of servers (max_limit of Nova). Zero: 1000.
	PageSize int `json:"pageSize,omitempty"`
	// ImagePage is the page of images that name no limit (limit_param_default of Glance). Zero: 25.
	ImagePage int `json:"imagePage,omitempty"`
	// TokenLife is how long tokens that are issued from now on are good for. Zero: one hour.
	TokenLife clock.Duration `json:"tokenLife,omitzero"`
	// RevokeBySecond: with tokens that are revoked go those that are issued in the same second, afterwards too, as
	// Keystone does. On a clock that stands still nobody comes in again.
	RevokeBySecond bool `json:"revokeBySecond,omitempty"`
	// WithoutServices are the types of services that are left out of the catalogue (B205).
	WithoutServices []string `json:"withoutServices,omitempty"`
}

// Inventory is what the operator of a cloud offers. Ids are derived from names, so that the same inventory has
// the same ids every time.
type Inventory struct {
	Region   string
	Users    []User
	Flavors  []Flavor
	Images   []Image
	Networks []Network
	Zones    []Zone
	Quotas   Quotas // of each project
}

// User is one user, member of one project.
type User struct {
	Name, Password, Project string
}

// Flavor is a size of servers.
type Flavor struct {
	ID   string // empty: derived from Name
	Name string
	RAM  int // MiB
	Disk int // GiB
	CPUs int
	// Unhostable: no host is large enough. Servers of it end in ERROR, "No valid host was found.".
	Unhostable bool
}

// Image is an image that everybody may use.
type Image struct {
	ID      string // empty: derived from Name
	Name    string
	Tags    []string
	Status  string // empty: active
	MinDisk int    // GiB
	MinRAM  int    // MiB
	// Broken: nothing can be built from it. Servers and rebuilds of it fail on their host.
	Broken bool
}

// Network is a network with one IPv4 subnet.
type Network struct {
	Name string
	CIDR string
	Tags []string
	// External: floating IPs come from it. Every other network is connected to the first external one by a router.
	External bool
	// Project owns it; empty: it is shared with everybody. External ones belong to nobody.
	Project string
}

// Zone is an availability zone of the compute service.
type Zone struct {
	Name        string
	Unavailable bool
}

// Quotas are limits of a project; -1 is none.
type Quotas struct {
	Instances      int `json:"instances"`
	Cores          int `json:"cores"`
	RAM            int `json:"ram"` // MiB
	Ports          int `json:"ports"`
	FloatingIPs    int `json:"floatingIPs"`
	SecurityGroups int `json:"securityGroups"`
}

// DefaultInventory is a project "demo" with user "demo" (password "secret") in region "RegionOne": flavors
// m1.tiny to m1.large, and m1.huge, which no host can take; images debian-12, debian-13 and a broken one;
// networks "private" (of demo), "backend" (shared) and "public" (for floating IPs); zones nova and, out of order, az-down.
func DefaultInventory() Inventory {
	return Inventory{
		Region: "RegionOne",
		Users:  []User{{Name: "demo", Password: "secret", Project: "demo"}},
		Flavors: []Flavor{
			{Name: "m1.tiny", RAM: 512, Disk: 1, CPUs: 1}, {Name: "m1.small", RAM: 2048, Disk: 20, CPUs: 1},
			{Name: "m1.medium", RAM: 4096, Disk: 40, CPUs: 2}, {Name: "m1.large", RAM: 8192, Disk: 80, CPUs: 4},
			{Name: "m1.huge", RAM: 1 << 20, Disk: 1000, CPUs: 256, Unhostable: true},
		},
		Images: []Image{
			{Name: "debian-12", Tags: []string{"debian", "stable"}}, {Name: "debian-13", Tags: []string{"debian", "testing"}},
			{Name: "broken", Broken: true},
		},
		Networks: []Network{
			{Name: "public", CIDR: "172.24.0.0/16", External: true},
			{Name: "private", CIDR: "10.20.0.0/16", Tags: []string{"tier:private"}, Project: "demo"},
			{Name: "backend", CIDR: "10.30.0.0/16"},
		},
		Zones:  []Zone{{Name: "nova"}, {Name: "az-down", Unavailable: true}},
		Quotas: Quotas{Instances: 20_000, Cores: -1, RAM: -1, Ports: 50_000, FloatingIPs: 20_000, SecurityGroups: 100},
	}
}

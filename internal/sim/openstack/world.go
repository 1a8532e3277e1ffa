// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// The records of the world. Slices and maps in them are never changed in place, for answers that are being
// written may still refer to them: they are replaced.

// project is a tenant of the cloud.
type project struct{ ID, Name string }

// account is a user.
type account struct {
	ID, Name, Password string
	Project            *project
}

// netRecord is a network with its one subnet.
type netRecord struct {
	ID, Name, SubnetID string
	Project            string // empty: the operator's
	External, Shared   bool
	Tags               []string
	Prefix             netip.Prefix
	Gateway            netip.Addr
	Created            time.Time

	used map[netip.Addr]bool
	next netip.Addr
}

// offer is what the operator of the cloud has furnished it with.
type offer struct {
	region   string
	projects map[string]*project
	accounts []*account
	flavors  []*Flavor
	images   []*Image
	networks []*netRecord
	zones    []Zone
	router   *routerRecord // nil without an external network
	since    time.Time
}

// routerRecord connects every inner network with the external one.
type routerRecord struct {
	ID       string
	External *netRecord
	Address  netip.Addr
}

// world is what users have made, by id. It is what a StateDir keeps.
type world struct {
	Servers map[string]*server        `json:"servers"`
	Ports   map[string]*port          `json:"ports"`
	FIPs    map[string]*floatingIP    `json:"floatingIPs"`
	SGs     map[string]*securityGroup `json:"securityGroups"`
	Keys    map[string]*keyPair       `json:"keyPairs"` // by name
	Groups  map[string]*serverGroup   `json:"serverGroups"`
	Creds   map[string]*appCredential `json:"applicationCredentials"`
	Deleted []*server                 `json:"deletedServers"` // newest last
}

func newWorld() world {
	return world{
		Servers: map[string]*server{}, Ports: map[string]*port{}, FIPs: map[string]*floatingIP{}, SGs: map[string]*securityGroup{},
		Keys: map[string]*keyPair{}, Groups: map[string]*serverGroup{}, Creds: map[string]*appCredential{},
	}
}

// newUUID is an id of something new.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return formatUUID(b)
}

// namedUUID is an id that belongs to a name, the same every time.
func namedUUID(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "/" + name))
	return formatUUID([16]byte(sum[:16]))
}

func formatUUID(b [16]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// plainID is an id as Keystone writes it, without hyphens.
func plainID(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "/" + name))
	return hex.EncodeToString(sum[:16])
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// furnish makes what the operator offers.
func (c *Cloud) furnish(in Inventory) error {
	since := c.config.Clock.Now()
	c.world = newWorld()
	c.offer = offer{region: in.Region, projects: map[string]*project{}, zones: slices.Clone(in.Zones), since: since}
	for _, u := range in.Users {
		c.addUser(u)
	}
	for _, f := range in.Flavors {
		f.ID = orElse(f.ID, namedUUID("flavor", f.Name))
		c.offer.flavors = append(c.offer.flavors, &f)
	}
	for _, i := range in.Images {
		i.ID, i.Status = orElse(i.ID, namedUUID("image", i.Name)), orElse(i.Status, "active")
		c.offer.images = append(c.offer.images, &i)
	}
	for _, n := range in.Networks {
		if err := c.addNetwork(n); err != nil {
			return err
		}
	}
	c.connect()
	return nil
}

func (c *Cloud) addUser(u User) {
	p := c.offer.projects[plainID("project", u.Project)]
	if p == nil {
		p = &project{ID: plainID("project", u.Project), Name: u.Project}
		c.offer.projects[p.ID] = p
	}
	c.offer.accounts = append(c.offer.accounts, &account{ID: plainID("user", u.Name), Name: u.Name, Password: u.Password, Project: p})
}

func (c *Cloud) addNetwork(n Network) error {
	prefix, err := netip.ParsePrefix(n.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return fmt.Errorf("openstack simulator: network %q: %q is not an IPv4 network", n.Name, n.CIDR)
	}
	prefix = prefix.Masked()
	record := &netRecord{
		ID: namedUUID("network", n.Name), Name: n.Name, SubnetID: namedUUID("subnet", n.Name), External: n.External,
		Tags: slices.Clone(n.Tags), Prefix: prefix, Gateway: prefix.Addr().Next(), Created: c.offer.since, used: map[netip.Addr]bool{},
	}
	if n.Project != "" {
		record.Project = plainID("project", n.Project)
	}
	record.Shared = n.Project == "" && !n.External
	record.used[record.Gateway] = true
	record.next = record.Gateway
	c.offer.networks = append(c.offer.networks, record)
	return nil
}

// connect makes the router, where there is an external network for it.
func (c *Cloud) connect() {
	for _, n := range c.offer.networks {
		if n.External {
			address, _ := n.takeFree()
			c.offer.router = &routerRecord{ID: namedUUID("router", n.Name), External: n, Address: address}
			return
		}
	}
}

func (c *Cloud) flavor(id string) *Flavor {
	return find(c.offer.flavors, func(f *Flavor) bool { return f.ID == id })
}

func (c *Cloud) image(id string) *Image {
	return find(c.offer.images, func(i *Image) bool { return i.ID == id })
}

// network is one that the project may see; nil where it is not.
func (c *Cloud) network(projectID, id string) *netRecord {
	return find(c.offer.networks, func(n *netRecord) bool { return n.ID == id && n.visible(projectID) })
}

func (n *netRecord) visible(projectID string) bool {
	return n.Shared || n.External || n.Project == projectID
}

func find[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

func orElse(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// orEmpty is never nil, which JSON would write as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// micros is how Nova writes the times that it never gave a zone.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05.000000") // its database keeps no fractions
}

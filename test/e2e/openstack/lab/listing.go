// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Server is what Nova says of a server.
type Server struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   string            `json:"status"`
	Task     string            `json:"OS-EXT-STS:task_state"`
	Tags     []string          `json:"tags"`
	Metadata map[string]string `json:"metadata"`
	Created  time.Time         `json:"created"`
	Launched string            `json:"OS-SRV-USG:launched_at"`
	Image    struct {
		ID string `json:"id"`
	} `json:"image"`
	Fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"fault"`
}

// Port is what Neutron says of a port.
type Port struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Status         string   `json:"status"`
	Network        string   `json:"network_id"`
	Device         string   `json:"device_id"`
	Owner          string   `json:"device_owner"`
	Description    string   `json:"description"`
	Tags           []string `json:"tags"`
	SecurityGroups []string `json:"security_groups"`
	Revision       int      `json:"revision_number"`
	FixedIPs       []struct {
		Address string `json:"ip_address"`
	} `json:"fixed_ips"`
	AllowedAddressPairs []struct {
		Address string `json:"ip_address"`
	} `json:"allowed_address_pairs"`
}

// FloatingIP is what Neutron says of a floating IP.
type FloatingIP struct {
	ID          string   `json:"id"`
	Address     string   `json:"floating_ip_address"`
	Port        string   `json:"port_id"`
	Status      string   `json:"status"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// Listing is what is in a project, as Nova and Neutron list it: ports of routers and of the network itself left out.
type Listing struct {
	Servers     []Server
	Ports       []Port
	FloatingIPs []FloatingIP
}

// List lists the project.
func (p *Project) List(ctx context.Context) (Listing, error) {
	var list struct {
		Servers     []Server     `json:"servers"`
		Ports       []Port       `json:"ports"`
		FloatingIPs []FloatingIP `json:"floatingips"`
	}
	for _, ask := range []struct {
		service func(ctx context.Context, method, path string, in, out any) error
		path    string
	}{
		{p.nova, "/servers/detail"},
		{p.neutron, "/ports?project_id=" + p.ID},
		{p.neutron, "/floatingips?project_id=" + p.ID},
	} {
		if err := ask.service(ctx, http.MethodGet, ask.path, nil, &list); err != nil {
			return Listing{}, fmt.Errorf("list project %s: %w", p.Name, err)
		}
	}
	ports := slices.DeleteFunc(list.Ports, func(port Port) bool { return strings.HasPrefix(port.Owner, "network:") })
	return Listing{Servers: list.Servers, Ports: ports, FloatingIPs: list.FloatingIPs}, nil
}

// Empty says that there is nothing.
func (l Listing) Empty() bool {
	return len(l.Servers)+len(l.Ports)+len(l.FloatingIPs) == 0
}

// String is the listing as a table, for people.
func (l Listing) String() string {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	if l.Empty() {
		fmt.Fprintln(table, "Nova: no server. Neutron: no port, no floating IP.")
	}
	for _, s := range l.Servers {
		fmt.Fprintf(table, "server\t%s\t%s\t%s\tlaunched %s\t%s\n", s.ID, s.Status, s.Name, orDash(s.Launched), strings.Join(s.Tags, " "))
	}
	for _, p := range l.Ports {
		var addresses []string
		for _, ip := range p.FixedIPs {
			addresses = append(addresses, ip.Address)
		}
		fmt.Fprintf(table, "port\t%s\t%s\t%s\tdevice %s\t%s\n", p.ID, p.Status, strings.Join(addresses, " "), orDash(p.Device), orDash(p.Description))
	}
	for _, f := range l.FloatingIPs {
		fmt.Fprintf(table, "floating IP\t%s\t%s\t%s\tport %s\t%s\n", f.ID, f.Status, f.Address, orDash(f.Port), orDash(f.Description))
	}
	_ = table.Flush() // to memory
	return out.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Deed is something that Nova was asked to do with a server, as Nova itself remembers it.
type Deed struct {
	Server string    `json:"instance_uuid"`
	User   string    `json:"user_id"`
	Action string    `json:"action"`
	Asked  stackTime `json:"start_time"`
	// Request tells calls apart that ask for the same.
	Request string `json:"request_id"`
}

// stackTime is a time without a zone, which is UTC.
type stackTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *stackTime) UnmarshalJSON(text []byte) error {
	parsed, err := time.Parse(`"2006-01-02T15:04:05.000000"`, string(text))
	t.Time = parsed
	return err
}

// Chronicle is all that a project's user asked Nova for since the project was made, the oldest first: servers that are deleted are in it.
type Chronicle []Deed

// Chronicle reads what Nova remembers of every server that ever was in the project. What an administrator did is left out.
func (p *Project) Chronicle(ctx context.Context) (Chronicle, error) {
	var list struct {
		Servers []Server `json:"servers"`
	}
	since := url.Values{"changes-since": {p.Began.Add(-time.Second).Format(time.RFC3339)}}
	if err := p.nova(ctx, http.MethodGet, "/servers/detail?"+since.Encode(), nil, &list); err != nil {
		return nil, err
	}
	var all Chronicle
	for _, server := range list.Servers {
		var deeds struct {
			Actions []Deed `json:"instanceActions"`
		}
		if err := p.nova(ctx, http.MethodGet, "/servers/"+server.ID+"/os-instance-actions", nil, &deeds); err != nil {
			return nil, err
		}
		deeds.Actions = slices.DeleteFunc(deeds.Actions, func(d Deed) bool { return d.User != p.user })
		slices.Reverse(deeds.Actions) // the newest comes first; the times are of whole seconds
		all = append(all, deeds.Actions...)
	}
	slices.SortStableFunc(all, func(a, b Deed) int { return a.Asked.Compare(b.Asked.Time) })
	return all, nil
}

// Count tells how often an action was asked for: create, delete, rebuild, reboot, start, stop.
func (c Chronicle) Count(action string) int {
	count := 0
	for _, deed := range c {
		if deed.Action == action {
			count++
		}
	}
	return count
}

// String is one line: the actions in the order in which they were asked for.
func (c Chronicle) String() string {
	actions := make([]string, len(c))
	for i, deed := range c {
		actions[i] = deed.Action
	}
	return "Nova was asked to: " + orDash(strings.Join(actions, ", "))
}

// HasStatus says nothing where a server has a status, and otherwise which.
func (l Listing) HasStatus(server, status string) error {
	for _, s := range l.Servers {
		if s.ID == server && s.Status == status {
			return nil
		}
	}
	return fmt.Errorf("server %s is not %s:\n%s", server, status, l)
}

// PortsOf are the ports of an identity.
func (l Listing) PortsOf(identity string) []Port {
	return slices.DeleteFunc(slices.Clone(l.Ports), func(p Port) bool { return !marked(identity, p.Description) })
}

// LeadsTo says nothing where a floating IP leads to a port, and otherwise what there is.
func (l Listing) LeadsTo(floatingIP, port string) error {
	for _, f := range l.FloatingIPs {
		if f.ID == floatingIP && f.Port == port {
			return nil
		}
	}
	return fmt.Errorf("floating IP %s does not lead to port %s:\n%s", floatingIP, port, l)
}

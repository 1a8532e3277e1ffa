// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net"
)

func (b *BMC) port(s scheme) uint16 {
	if b.rack.config.OwnListeners {
		return b.ports[s]
	}
	return listenerPort(b.rack.shared[s])
}

func listenerPort(l net.Listener) uint16 { return l.Addr().(*net.TCPAddr).AddrPort().Port() }

// openListeners opens the BMC's own listeners, where it has any, for the first time.
func (b *BMC) openListeners() error {
	if !b.rack.config.OwnListeners {
		return nil
	}
	b.ports = map[scheme]uint16{}
	b.listeners = map[scheme]*bmcListener{}
	for s, address := range map[scheme]string{schemeHTTPS: b.rack.config.HTTPS, schemeHTTP: b.rack.config.HTTP} {
		if address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if err := b.listenOn(s, net.JoinHostPort(b.address.String(), port)); err != nil {
			return err
		}
		b.ports[s] = listenerPort(b.listeners[s])
	}
	return nil
}

func (b *BMC) listenOn(s scheme, address string) error {
	l, err := listenTCP("tcp4", address)
	if err != nil {
		return err
	}
	b.listeners[s] = &bmcListener{Listener: l, rack: b.rack, own: b}
	b.rack.serveOn(s, b.listeners[s])
	return nil
}

func (b *BMC) closeListeners() {
	for s, l := range b.listeners {
		_ = l.Close()
		delete(b.listeners, s)
	}
}

// reopenListeners opens what closeListeners closed, on the same ports. It fails where somebody else took
// one in the meantime.
func (b *BMC) reopenListeners() error {
	for s, port := range b.ports {
		if b.listeners[s] != nil {
			continue
		}
		address := net.TCPAddr{IP: b.address.AsSlice(), Port: int(port)}
		if err := b.listenOn(s, address.String()); err != nil {
			return err
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// simConn is a connection to one BMC, so that it can be cut or fall silent with it.
type simConn struct {
	net.Conn
	bmc    *BMC
	silent atomic.Bool
}

// Read swallows what arrives while the BMC is silent.
func (c *simConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if !c.silent.Load() {
			return n, err
		}
		if err != nil {
			return 0, err
		}
	}
}

// Write loses what is sent while the BMC is silent.
func (c *simConn) Write(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn. It takes the rack's lock.
func (c *simConn) Close() error {
	leave := c.bmc.rack.enter()
	delete(c.bmc.conns, c)
	leave()
	return c.Conn.Close()
}

// reset ends the connection as a host without that service would, by RST. It takes no lock.
func (c *simConn) reset() { resetConn(c.Conn) }

func resetConn(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// bmcListener accepts connections and finds the BMC they are for: its own, or the one at the address the
// connection came in on.
type bmcListener struct {
	net.Listener
	rack *Rack
	own  *BMC
}

// Accept implements net.Listener: only connections to BMCs that are up come out of it.
func (l *bmcListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.rack.admit(conn, l.own); c != nil {
			return c, nil
		}
	}
}

// admit takes the rack's lock.
func (r *Rack) admit(conn net.Conn, own *BMC) *simConn {
	defer r.enter()()
	b := own
	if b == nil {
		b = r.byAddress[connAddr(conn.LocalAddr())]
	}
	if b == nil || r.closed || b.reach == ReachRefused || !connAddr(conn.RemoteAddr()).IsLoopback() {
		resetConn(conn)
		return nil
	}
	c := &simConn{Conn: conn, bmc: b}
	b.conns[c] = struct{}{}
	if b.reach == ReachSilent {
		r.serving.Go(func() {
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		})
		return nil
	}
	return c
}

func connAddr(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// listen starts the server, its shared listeners and the control endpoint.
func (r *Rack) listen() error {
	r.server = &http.Server{
		Handler:           http.HandlerFunc(r.serve),
		ReadHeaderTimeout: time.Minute,
		IdleTimeout:       r.config.IdleTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // aborted handshakes and handlers are what we are here for
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, unwrapConn(c))
		},
	}
	if !r.config.OwnListeners {
		r.shared = map[scheme]net.Listener{}
		for s, address := range map[scheme]string{schemeHTTPS: r.config.HTTPS, schemeHTTP: r.config.HTTP} {
			if address == "" {
				continue
			}
			l, err := listenTCP("tcp4", address)
			if err != nil {
				return err
			}
			r.shared[s] = l
			r.serveOn(s, &bmcListener{Listener: l, rack: r})
		}
	}
	return r.startControl()
}

// listenTCP listens until it is closed: no context ends a listener.
func listenTCP(network, address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), network, address)
}

func (r *Rack) serveOn(s scheme, l *bmcListener) {
	var outer net.Listener = l
	if s == schemeHTTPS {
		outer = tls.NewListener(l, r.tlsConfig())
	}
	r.serving.Go(func() {
		err := r.server.Serve(outer)
		if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			panic("redfish rack: " + err.Error()) // out of file descriptors: nothing a test could trust any more
		}
	})
}

type connKey struct{}

func unwrapConn(c net.Conn) *simConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*simConn)
}

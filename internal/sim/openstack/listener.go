// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// listen opens the services to clients.
func (c *Cloud) listen() error {
	l, err := listenLoopback(orElse(c.config.Listen, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	scheme := "http"
	c.server = &http.Server{
		Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
	}
	if c.config.TLS {
		scheme = "https"
		if err := c.serveTLS(connAddr(l.Addr())); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	c.listener, c.base = l, fmt.Sprintf("%s://%s", scheme, l.Addr())
	c.serving.Go(func() {
		if c.config.TLS {
			_ = c.server.ServeTLS(l, "", "")
			return
		}
		_ = c.server.Serve(l)
	})
	return nil
}

// listenLoopback refuses to let anybody else in: nothing here is a secret.
func listenLoopback(address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("openstack simulator: %w", err)
	}
	if !connAddr(l.Addr()).IsLoopback() {
		_ = l.Close()
		return nil, fmt.Errorf("openstack simulator: %s is not on the loopback network", l.Addr())
	}
	return l, nil
}

func connAddr(a net.Addr) netip.Addr {
	if tcp, isTCP := a.(*net.TCPAddr); isTCP {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

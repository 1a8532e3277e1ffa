// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// errPinMismatch is the cause of TLSVerifyFailed where a fingerprint was pinned and another certificate was shown.
var errPinMismatch = errors.New("certificate is not the pinned one")

// newTransport makes the HTTP transport of one BMC: HTTP/1.1 over one connection, so that a precondition and the write that relies
// on it share it. No proxy: a BMC is asked directly or not at all.
func newTransport(opts Options, cfg TLSConfig) (*http.Transport, error) {
	tlsConfig, err := newTLSConfig(cfg)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: opts.ConnectTimeout}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: opts.ConnectTimeout,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2: nothing to multiplex
		MaxConnsPerHost:     1,
		IdleConnTimeout:     opts.IdleConnTimeout,
		DisableCompression:  true, // compressing proxies of BMCs alter the ETag (B128)
	}, nil
}

func newTLSConfig(cfg TLSConfig) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case cfg.PinnedSHA256 != "":
		pin, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(cfg.PinnedSHA256), ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, endpointInvalid("the pinned fingerprint is not a SHA-256 in hexadecimal")
		}
		t.InsecureSkipVerify = true // the pin replaces the chain; checked for each handshake, resumed ones included
		t.VerifyConnection = verifyPin([sha256.Size]byte(pin))
	case cfg.InsecureSkipVerify:
		t.InsecureSkipVerify = true
	case len(cfg.CABundle) > 0:
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(cfg.CABundle) {
			return nil, endpointInvalid("the CA bundle holds no PEM certificate")
		}
	}
	return t, nil
}

func verifyPin(pin [sha256.Size]byte) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || sha256.Sum256(state.PeerCertificates[0].Raw) != pin {
			return errPinMismatch
		}
		return nil
	}
}

// refuseRedirect hands every redirect to our own code: a POST is never sent twice, and a credential never to another host (B145).
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func endpointInvalid(message string) *provider.Error {
	return &provider.Error{Class: provider.Terminal, Reason: provider.ReasonEndpointInvalid, Message: message}
}

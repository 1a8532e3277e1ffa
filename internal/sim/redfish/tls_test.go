// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestCertificatesFailForTheReasonAsked(t *testing.T) { // B181
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	for mode, want := range map[redfish.CertificateMode]func(error) bool{
		redfish.CertificateValid:      func(err error) bool { return err == nil },
		redfish.CertificateExpired:    func(err error) bool { return errors.As(err, &invalid) && invalid.Reason == x509.Expired },
		redfish.CertificateSelfSigned: func(err error) bool { return errors.As(err, &unknown) },
		redfish.CertificateWrongHost:  func(err error) bool { return errors.As(err, &host) },
	} {
		t.Run("mode "+string(mode), func(t *testing.T) {
			b := newBench(t)
			b.get(system) // on the old certificate: the connection must not survive
			if err := b.bmc.SetCertificate(mode); err != nil {
				t.Fatal(err)
			}
			if _, err := b.try("GET", system, nil); !want(err) {
				t.Errorf("error %v", err)
			}
		})
	}
	b := newBench(t)
	if err := b.bmc.SetCertificate("forged"); err == nil {
		t.Error("an unknown mode was taken")
	}
	b.get(system)
}

func TestChangedCertificateIsSeenByClientsThatResumeSessions(t *testing.T) {
	b := newBench(t)
	b.client.Transport.(*http.Transport).TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	for range 2 {
		b.get(system)
		b.client.CloseIdleConnections()
	}
	if err := b.bmc.SetCertificate(redfish.CertificateExpired); err != nil {
		t.Fatal(err)
	}
	if _, err := b.try("GET", system, nil); err == nil {
		t.Error("the old certificate still counts")
	}
}

func TestFingerprintIsThatOfTheCertificateShown(t *testing.T) {
	b := newBench(t)
	want, err := b.bmc.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(b.bmc.Endpoint(), "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("shown %s, told %s", got, want)
	}
}

func TestCAIsExported(t *testing.T) {
	b := newBench(t)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b.rack.CAPEM()) {
		t.Fatal("no certificate in the PEM")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	b.client.Transport = transport
	b.get(system)
}

func TestPlainAndTLSSideBySide(t *testing.T) {
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.HTTPS, c.HTTP = "0.0.0.0:0", "0.0.0.0:0" })
	if !strings.HasPrefix(b.bmc.Endpoint(), "https://127.1.0.1:") || !strings.HasPrefix(b.bmc.PlainEndpoint(), "http://127.1.0.1:") {
		t.Errorf("endpoints %s and %s", b.bmc.Endpoint(), b.bmc.PlainEndpoint())
	}
	for _, endpoint := range []string{b.bmc.Endpoint(), b.bmc.PlainEndpoint()} {
		resp, err := b.client.Get(endpoint + "/redfish/v1")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

func TestIdleConnectionsAreClosedWhenAsked(t *testing.T) {
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.IdleTimeout = 20 * time.Millisecond })
	conn, err := tls.Dial("tcp", strings.TrimPrefix(b.bmc.Endpoint(), "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprint(conn, "GET /redfish HTTP/1.1\r\nHost: bmc\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(out), "HTTP/1.1 200") {
		t.Errorf("%q, %v; want an answer and the end", out, err)
	}
}

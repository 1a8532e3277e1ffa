// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

var loopback = netip.MustParseAddr("127.0.0.1")

func request(ctx context.Context, t *testing.T, method string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestAReadWhoseClientHasGoneIsNotCarriedOutAWriteIs(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	if wire.Pause(request(gone, t, http.MethodGet), nil, time.Hour) {
		t.Error("the read goes on")
	}
	if !wire.Pause(request(gone, t, http.MethodDelete), nil, time.Millisecond) {
		t.Error("the write does not go on")
	}
	closing := make(chan struct{})
	close(closing)
	if wire.Pause(request(t.Context(), t, http.MethodDelete), closing, time.Hour) {
		t.Error("a write goes on after the end of the simulator")
	}
	if !wire.Pause(request(gone, t, http.MethodGet), closing, 0) {
		t.Error("without a pause there is nothing to wait for")
	}
	wire.Hang(request(gone, t, http.MethodGet), nil)
	wire.Hang(request(t.Context(), t, http.MethodGet), closing)
}

func TestAnAbortedAnswerIsNoCrash(t *testing.T) {
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // it is that very value
			t.Errorf("recovered %v", p)
		}
	}()
	defer wire.Crash("test")
	panic(http.ErrAbortHandler)
}

func TestPathsAreAlikeWithAndWithoutSlash(t *testing.T) {
	for path, want := range map[string]string{"/": "/", "": "/", "/a/": "/a", "/a//": "/a", "/a/b": "/a/b"} {
		if got := wire.CleanPath(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}

func TestTheAuthorityOfADirectoryIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := wire.OpenAuthority(dir, "CA")
	if err != nil {
		t.Fatal(err)
	}
	again, err := wire.OpenAuthority(dir, "CA")
	if err != nil || !bytes.Equal(first.PEM(), again.PEM()) {
		t.Fatalf("another CA, %v", err)
	}
	cert, err := again.Issue("a", loopback, nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	first.Trust(roots)
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
		t.Error(err)
	}
	own, err := wire.IssueByItself("a", loopback)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err = x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("one that was made by itself verifies")
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.OpenAuthority(dir, "CA"); err == nil {
		t.Error("a CA was made of nonsense")
	}
}

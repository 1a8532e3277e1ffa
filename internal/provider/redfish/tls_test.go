// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestTLS: what is trusted is what was said to be, and before the check has passed no request is sent at all (B181).
func TestTLS(t *testing.T) {
	for _, row := range []struct {
		name        string
		certificate sim.CertificateMode
		config      func(r *rackBMC, pin string) TLSConfig
		trusted     bool
	}{
		{"system roots", sim.CertificateValid, func(*rackBMC, string) TLSConfig { return TLSConfig{} }, false},
		{"self-signed, nothing said", sim.CertificateSelfSigned, func(*rackBMC, string) TLSConfig { return TLSConfig{} }, false},
		{"CA bundle", sim.CertificateValid, func(r *rackBMC, _ string) TLSConfig { return TLSConfig{CABundle: r.rack.CAPEM()} }, true},
		{"CA bundle, expired", sim.CertificateExpired, func(r *rackBMC, _ string) TLSConfig { return TLSConfig{CABundle: r.rack.CAPEM()} }, false},
		{"CA bundle, other host", sim.CertificateWrongHost, func(r *rackBMC, _ string) TLSConfig { return TLSConfig{CABundle: r.rack.CAPEM()} }, false},
		{"CA bundle, self-signed", sim.CertificateSelfSigned, func(r *rackBMC, _ string) TLSConfig { return TLSConfig{CABundle: r.rack.CAPEM()} }, false},
		{"pin", sim.CertificateSelfSigned, func(_ *rackBMC, pin string) TLSConfig { return TLSConfig{PinnedSHA256: pin} }, true},
		{"pin with colons, upper case", sim.CertificateSelfSigned, func(_ *rackBMC, pin string) TLSConfig {
			return TLSConfig{PinnedSHA256: strings.ToUpper(pin[:2] + ":" + pin[2:])}
		}, true},
		{"another pin", sim.CertificateSelfSigned, func(*rackBMC, string) TLSConfig {
			other := sha256.Sum256(nil)
			return TLSConfig{PinnedSHA256: hex.EncodeToString(other[:])}
		}, false},
		{"another pin, insecure too", sim.CertificateSelfSigned, func(*rackBMC, string) TLSConfig {
			other := sha256.Sum256(nil)
			return TLSConfig{PinnedSHA256: hex.EncodeToString(other[:]), InsecureSkipVerify: true}
		}, false},
		{"insecure", sim.CertificateExpired, func(*rackBMC, string) TLSConfig { return TLSConfig{InsecureSkipVerify: true} }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRackBMC(t)
			if err := r.SetCertificate(row.certificate); err != nil {
				t.Fatal(err)
			}
			pin, err := r.Fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.pool.BMC("bmc", Endpoint{URL: r.Endpoint(), TLS: row.config(r, pin)}, Credentials{Username: "root", Password: canary})
			if err != nil {
				t.Fatal(err)
			}
			if row.trusted {
				r.mustLook(b)
				return
			}
			wantError(t, r.look(b), provider.Denied, provider.ReasonTLSVerifyFailed)
			equal(t, "requests to an untrusted BMC", 0, r.count())
		})
	}
}

// TestPinHoldsForEveryConnection: a certificate that changes under a pin is refused, also by a connection that worked before.
func TestPinHoldsForEveryConnection(t *testing.T) {
	r := newRackBMC(t)
	pin, err := r.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.pool.BMC("bmc", Endpoint{URL: r.Endpoint(), TLS: TLSConfig{PinnedSHA256: pin}}, Credentials{Username: "root", Password: canary})
	if err != nil {
		t.Fatal(err)
	}
	r.mustLook(b)
	if err := r.SetCertificate(sim.CertificateSelfSigned); err != nil {
		t.Fatal(err)
	}
	before := r.count()
	wantError(t, r.look(b), provider.Denied, provider.ReasonTLSVerifyFailed)
	equal(t, "requests", before, r.count())
}

// TestCABundleIsReplaced: another bundle is taken with the next call, without a restart (B183).
func TestCABundleIsReplaced(t *testing.T) {
	r := newRackBMC(t)
	cred := Credentials{Username: "root", Password: canary}
	for _, bundle := range []struct {
		pem     []byte
		trusted bool
	}{{foreignCA(t), false}, {r.rack.CAPEM(), true}} {
		b, err := r.pool.BMC("bmc", Endpoint{URL: r.Endpoint(), TLS: TLSConfig{CABundle: bundle.pem}}, cred)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.look(b); (err == nil) != bundle.trusted {
			t.Errorf("trusted %v, got %v", bundle.trusted, err)
		}
	}
}

// foreignCA is the CA of another rack.
func foreignCA(t *testing.T) []byte {
	t.Helper()
	rack, err := sim.NewRack(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rack.Close() }()
	return rack.CAPEM()
}

// TestMalformedTLSConfig: a pin or a bundle that is none is told at once and is never taken for "trust anything".
func TestMalformedTLSConfig(t *testing.T) {
	pool := NewPool(Options{})
	for _, config := range []TLSConfig{{PinnedSHA256: "abc"}, {PinnedSHA256: "zz"}, {CABundle: []byte("no PEM")}, {PinnedSHA256: strings.Repeat("ab", 20)}} {
		_, err := pool.BMC("bmc", Endpoint{URL: "https://192.0.2.1", TLS: config}, Credentials{Username: "root", Password: canary})
		wantError(t, err, provider.Terminal, provider.ReasonEndpointInvalid)
	}
}

// TestPlainHTTPBehindHTTPS: an https endpoint that speaks plain HTTP is an endpoint to correct.
func TestPlainHTTPBehindHTTPS(t *testing.T) {
	f := newFake(t)
	b := connect(t, Endpoint{URL: strings.Replace(f.srv.URL, "http:", "https:", 1)})
	wantError(t, lookFake(t, b), provider.Terminal, provider.ReasonEndpointInvalid)
	equal(t, "requests", 0, len(f.got("")))
}

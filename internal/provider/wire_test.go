// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestRetryAfter: both forms are read, against our clock, and bounded (B210).
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "soon": 0, "999999999": time.Hour, "99999999999999999999": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got := provider.RetryAfter(value, now); got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
}

// TestCertificateProblems: what is wrong is told in fixed words, whatever wraps it.
func TestCertificateProblems(t *testing.T) {
	for want, err := range map[string]error{
		"":                                context.DeadlineExceeded,
		"has expired or is not yet valid": x509.CertificateInvalidError{Reason: x509.Expired},
		"is for another name or address":  x509.HostnameError{Certificate: &x509.Certificate{}, Host: "canary"},
		"is signed by an authority that is not trusted": &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"is not trusted": x509.CertificateInvalidError{Reason: x509.TooManyIntermediates},
	} {
		if got := provider.CertificateProblem(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%T: got %q, want %q", err, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a provider may ask for.
const maxRetryAfter = time.Hour

// RetryAfter reads both forms of a Retry-After header, seconds and date (B210): how long to wait from now, an hour at most; 0 where it says
// nothing of use.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(strings.TrimSpace(header), 10, 32); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), maxRetryAfter)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	return 0
}

// CertificateProblem is what is wrong with the certificate that a connection failed over, to be read after "the certificate of …"; "" where
// err is about something else. The cause itself quotes names and addresses.
func CertificateProblem(err error) string {
	var (
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "has expired or is not yet valid"
	case errors.As(err, &host):
		return "is for another name or address"
	case errors.As(err, &unknown):
		return "is signed by an authority that is not trusted"
	case errors.As(err, &verify), errors.As(err, &invalid):
		return "is not trusted"
	default:
		return ""
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Endpoint says where a BMC is and how it is known to be that BMC.
type Endpoint struct {
	// URL is http or https with host and optional port. A path before /redfish is kept (B134); user information is refused.
	URL string
	// Vendor overrules the detection of the vendor, "" detects it.
	Vendor string
	TLS    TLSConfig
}

// TLSConfig says which certificate of the BMC is trusted. The zero value trusts the roots of the system. Among the three,
// PinnedSHA256 wins over InsecureSkipVerify, which wins over CABundle.
type TLSConfig struct {
	// CABundle holds PEM certificates of the authorities that are trusted instead of the system's.
	CABundle []byte
	// PinnedSHA256 is the hexadecimal SHA-256 of the leaf certificate's DER; colons and case do not matter.
	PinnedSHA256 string
	// InsecureSkipVerify takes any certificate.
	InsecureSkipVerify bool
}

// Credentials of a BMC. They are a value: whoever calls reads them from where they are kept. Never logged.
type Credentials struct {
	Username string
	Password string
	// Version names this content, for example by UID and resourceVersion of a secret. Another version is another session.
	Version string
}

// Options of a Pool. The zero value is usable.
type Options struct {
	// UserAgent is sent with each request; default "holdfast".
	UserAgent string
	// ConnectTimeout bounds TCP connect and TLS handshake, each; default 5 s, so that dead BMCs cost little (B231).
	ConnectTimeout time.Duration
	// RequestTimeout bounds one request from its turn in the lane to the last byte of the answer; default 20 s. The context of the call may be shorter.
	RequestTimeout time.Duration
	// IdleConnTimeout is how long an unused connection is kept; default 30 s.
	IdleConnTimeout time.Duration
	// Clock tells the time; default time.Now. It serves back-off and Retry-After, never deadlines of requests.
	Clock func() time.Time
	// Registerer takes the metrics of the pool; nil registers none.
	Registerer prometheus.Registerer
}

const (
	defaultUserAgent       = "holdfast"
	defaultConnectTimeout  = 5 * time.Second
	defaultRequestTimeout  = 20 * time.Second
	defaultIdleConnTimeout = 30 * time.Second
)

func (o Options) withDefaults() Options {
	if o.UserAgent == "" {
		o.UserAgent = defaultUserAgent
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = defaultRequestTimeout
	}
	if o.IdleConnTimeout <= 0 {
		o.IdleConnTimeout = defaultIdleConnTimeout
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

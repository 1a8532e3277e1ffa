// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Endpoint says which cloud of a clouds.yaml is meant.
type Endpoint struct {
	// CloudName is the entry of clouds.yaml.
	CloudName string
	// Region overrules the region of clouds.yaml; "" leaves it.
	Region string
	// CABundle holds PEM certificates of the authorities that are trusted instead of the system's. Files that clouds.yaml names are not
	// read: they are on somebody else's machine.
	CABundle []byte
}

// Credentials of a cloud. They are a value: whoever calls reads them from where they are kept. Never logged.
type Credentials struct {
	// CloudsYAML is the content of a clouds.yaml with password or application credential.
	CloudsYAML []byte
	// Version names this content, for example by UID and resourceVersion of a secret. Another version is another login (B179, B180).
	Version string
}

// Options of a Pool. The zero value is usable.
type Options struct {
	// UserAgent is sent with each request, before the name of the library; default "holdfast".
	UserAgent string
	// ConnectTimeout bounds TCP connect and TLS handshake, each; default 5 s.
	ConnectTimeout time.Duration
	// RequestTimeout bounds one request from its turn under the rate limit to the last byte of the answer; default 20 s. The context of
	// the call may be shorter. A creation whose outcome is unknown is respected for three times that, 15 s at least: all managers of
	// one cluster should have the same.
	RequestTimeout time.Duration
	// RequestsPerSecond to one cloud, on average; bursts may be twice that. Default 50.
	RequestsPerSecond float64
	// Clock tells the time; default time.Now. It serves leases, back-off and Retry-After, never deadlines of requests.
	Clock func() time.Time
	// Registerer takes the metrics of the pool; nil registers none.
	Registerer prometheus.Registerer
}

const (
	defaultUserAgent         = "holdfast"
	defaultConnectTimeout    = 5 * time.Second
	defaultRequestTimeout    = 20 * time.Second
	defaultRequestsPerSecond = 50
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
	if o.RequestsPerSecond <= 0 {
		o.RequestsPerSecond = defaultRequestsPerSecond
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

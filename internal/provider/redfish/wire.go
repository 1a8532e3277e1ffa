// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// maxBody bounds an answer; the largest document of a service we read is well below 1 MiB.
const maxBody = 8 << 20

// request is one request as the rest of the package speaks it.
type request struct {
	method  string
	path    string
	body    any    // JSON; nil sends none
	ifMatch string // "" sends none
	ifNone  string // If-None-Match, "" sends none
}

// response is an answer, read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
	sent   request
}

func (r *response) ok() bool { return r.status >= 200 && r.status < 300 }

// etag prefers the body's: a proxy may have altered the header's (B128). An empty one is none (B131).
func (r *response) etag(doc document) string {
	if tag := doc.text("@odata.etag"); tag != "" {
		return tag
	}
	return r.header.Get("ETag")
}

// roundTrip sends one request with authorize's headers and reads the answer, whatever its status. It is broken off when the
// registration ends. The holder of the gate calls it.
func (b *BMC) roundTrip(ctx context.Context, r request, authorize func(http.Header)) (*response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	return b.send(ctx, r, authorize)
}

func (b *BMC) send(ctx context.Context, r request, authorize func(http.Header)) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.RequestTimeout)
	defer cancel()
	req, err := newHTTPRequest(ctx, b.base.url(r.path), r)
	if err != nil {
		return nil, endpointInvalid("a request to this endpoint cannot be made")
	}
	req.Header.Set("User-Agent", b.opts.UserAgent)
	if authorize != nil {
		authorize(req.Header)
	}
	start := time.Now()
	resp, err := b.http.Do(req)
	if err != nil {
		b.metrics.request(r.method, 0, time.Since(start))
		return nil, connectionError(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b.metrics.request(r.method, resp.StatusCode, time.Since(start))
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, connectionError(err)
	}
	if len(body) > maxBody {
		return nil, &provider.Error{Class: provider.Transient, Reason: provider.ReasonProtocolError, Message: "the BMC's answer is too long"}
	}
	return &response{status: resp.StatusCode, header: resp.Header, body: body, sent: r}, nil
}

func newHTTPRequest(ctx context.Context, url string, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("OData-Version", "4.0")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.ifMatch != "" {
		req.Header.Set("If-Match", r.ifMatch)
	}
	if r.ifNone != "" {
		req.Header.Set("If-None-Match", r.ifNone)
	}
	return req, nil
}

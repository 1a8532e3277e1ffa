// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// obj is a JSON object.
type obj = map[string]any

// reply is an answer before it goes out. Its body is encoded outside the lock: it may share slices and maps with
// the world, which are never changed in place.
type reply struct {
	status int
	header http.Header
	body   any
	raw    []byte // instead of body
}

func newReply(status int, body any) *reply {
	return &reply{status: status, header: http.Header{}, body: body}
}

func ok(body any) *reply { return newReply(http.StatusOK, body) }

func noContent() *reply { return newReply(http.StatusNoContent, nil) }

func accepted() *reply { return newReply(http.StatusAccepted, nil) }

// encode returns the body's bytes.
func (r *reply) encode() []byte {
	if r.raw != nil || r.body == nil {
		return r.raw
	}
	return bytes.TrimSuffix(wire.JSON(r.body), []byte("\n")) // Python's services send none
}

func (r *reply) send(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	for key, values := range r.header {
		header[key] = values
	}
	body := r.encode()
	if len(body) > 0 && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	if r.status != http.StatusNoContent {
		header.Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // JSON, for programs
	}
}

// service is one of the services of the cloud; each has its own way to say no.
type service string

// The services, by their type in the catalogue.
const (
	identity service = "identity"
	compute  service = "compute"
	network  service = "network"
	image    service = "image"
)

// refuse words an error as the service does.
func (s service) refuse(status int, format string, args ...any) *reply {
	message := fmt.Sprintf(format, args...)
	switch s {
	case compute:
		return newReply(status, obj{computeFault(status): obj{"code": status, "message": message}})
	case network:
		return neutronError(status, "HTTP"+camel(http.StatusText(status)), "%s", message)
	case image:
		page := fmt.Sprintf("<html>\n <head>\n  <title>%d %s</title>\n </head>\n <body>\n  <h1>%d %s</h1>\n  %s<br /><br />\n\n\n\n </body>\n</html>",
			status, http.StatusText(status), status, http.StatusText(status), message)
		return &reply{status: status, header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}}, raw: []byte(page)}
	}
	return newReply(status, obj{"error": obj{"code": status, "message": message, "title": http.StatusText(status)}})
}

// computeFault is the member that Nova puts an error into.
func computeFault(status int) string {
	names := map[int]string{
		http.StatusBadRequest: "badRequest", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden",
		http.StatusNotFound: "itemNotFound", http.StatusMethodNotAllowed: "badMethod", http.StatusConflict: "conflictingRequest",
		http.StatusRequestEntityTooLarge: "overLimit", http.StatusUnsupportedMediaType: "badMediaType",
		http.StatusTooManyRequests: "overLimit", http.StatusNotImplemented: "notImplemented",
		http.StatusServiceUnavailable: "serviceUnavailable",
	}
	if name := names[status]; name != "" {
		return name
	}
	return "computeFault"
}

// neutronError is an error of the network service, of a type that clients may look at.
func neutronError(status int, kind, format string, args ...any) *reply {
	return newReply(status, obj{"NeutronError": obj{"type": kind, "message": fmt.Sprintf(format, args...), "detail": ""}})
}

func camel(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if r != ' ' && r != '-' {
			out = append(out, r)
		}
	}
	return string(out)
}

// unauthorized is what a service says to a token that is not good: Glance in HTML, the others in JSON.
func (c *Cloud) unauthorized(s service) *reply {
	const message = "The request you have made requires authentication."
	r := newReply(http.StatusUnauthorized, obj{"error": obj{"code": http.StatusUnauthorized, "title": "Unauthorized", "message": message}})
	if s == image {
		r = s.refuse(http.StatusUnauthorized, "%s", message)
	}
	r.header.Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", c.AuthURL()))
	return r
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// call is one request on its way through the simulator.
type call struct {
	rack    *Rack
	bmc     *BMC
	r       *http.Request // with path values, once routed
	path    string
	body    []byte
	seq     uint64
	arrived time.Time
	life    int // of the BMC, when the request came
	pattern string
	reply   *reply
}

// serve is the entry of every request. It takes the lock itself, and not while waiting.
func (r *Rack) serve(w http.ResponseWriter, req *http.Request) {
	conn := req.Context().Value(connKey{}).(*simConn)
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return // the client gave up while sending
	}
	defer wire.Crash("redfish rack")
	c := r.newCall(conn.bmc, req, body)
	fault := r.receive(c)
	outcome := r.perform(c, fault)
	r.report(c, outcome, fault)
	switch {
	case fault.is(FaultHang, FaultHangReply):
		wire.Hang(req, r.closing)
		panic(http.ErrAbortHandler)
	case outcome == nil || fault.is(FaultDropReply):
		panic(http.ErrAbortHandler)
	case outcome.stream != nil:
		outcome.stream(req, w)
	default:
		outcome.send(w, req)
	}
}

// newCall prepares a request for routing. Requests to the same resource look alike from here on.
func (r *Rack) newCall(b *BMC, req *http.Request, body []byte) *call {
	c := &call{rack: r, bmc: b, path: wire.CleanPath(req.URL.Path), body: body}
	c.r = req.Clone(context.WithValue(req.Context(), callKey{}, c))
	c.r.URL.Path, c.r.URL.RawPath = c.path, ""
	_, c.pattern = r.mux.Handler(c.r)
	return c
}

// receive notes the request and finds the fault that takes it.
func (r *Rack) receive(c *call) *Fault {
	defer r.enter()()
	c.life, c.arrived = c.bmc.life, r.now()
	c.seq = r.requests.begin(c.arrived, c)
	return c.bmc.strike(c.r.Method, c.path)
}

// perform carries the request out, or not, as the fault has it. Nil is a connection to be closed without
// an answer.
func (r *Rack) perform(c *call, fault *Fault) *reply {
	if fault != nil {
		if !wire.Pause(c.r, r.closing, fault.Delay.Std()) {
			return nil
		}
		if fault.is(FaultHang, FaultDrop) {
			return nil
		}
		if fault.is(FaultEndSession) {
			c.bmc.EndSessions()
		}
		if instead := fault.instead(); instead != nil {
			return instead
		}
	}
	result := r.act(c)
	if fault != nil && result != nil {
		result = fault.spoil(result)
	}
	return result
}

// act routes the request, under the lock. A BMC that has restarted since it came knows nothing of it; one
// whose cable was cut carries it out.
func (r *Rack) act(c *call) *reply {
	defer r.enter()()
	if c.life != c.bmc.life || r.closed {
		return nil
	}
	r.mux.ServeHTTP(wire.Discard{}, c.r)
	if c.reply == nil { // no route
		c.reply = notFound(c.path)
		if bad := c.bmc.authenticate(c.r); bad != nil {
			c.reply = bad
		}
	}
	c.bmc.behaviour.ErrorShape.reshape(c.reply)
	return c.reply
}

// report completes the request's entry in the log.
func (r *Rack) report(c *call, outcome *reply, fault *Fault) {
	defer r.enter()()
	var entry Request
	if outcome != nil {
		entry.Status = outcome.status
	}
	if fault != nil {
		entry.Fault = fault.Kind
	}
	r.requests.finish(c, entry)
}

type callKey struct{}

// methods are the handlers of one resource.
type methods map[string]func(*call) *reply

// ServeHTTP implements http.Handler for the mux.
func (m methods) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	c := req.Context().Value(callKey{}).(*call)
	c.r = req
	c.reply = m.respond(c)
}

func (m methods) respond(c *call) *reply {
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if !c.public(method) {
		if bad := c.bmc.authenticate(c.r); bad != nil {
			return bad
		}
	}
	if bad := c.refuseAction(method); bad != nil {
		return bad
	}
	if handle := m[method]; handle != nil {
		return handle(c)
	}
	var allowed []string
	for name := range m {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	r := redfishError(http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
	r.header.Set("Allow", strings.Join(allowed, ", "))
	return r
}

// refuseAction is what some BMCs mind in how an action is called.
func (c *call) refuseAction(method string) *reply {
	if method != http.MethodPost || !strings.Contains(c.path, "/Actions/") {
		return nil
	}
	mood := &c.bmc.behaviour
	switch {
	case mood.NoMatchOnActions && c.r.Header.Get("If-Match") != "":
		return redfishError(http.StatusPreconditionFailed, "PreconditionFailed", "The ETag supplied did not match the ETag required to change this resource.")
	case mood.NoEmptyBody && len(c.body) == 0:
		return redfishError(http.StatusUnsupportedMediaType, "HeaderInvalid", "The request has no body of a media type that is supported.")
	}
	return nil
}

// public reports whether the request needs no authentication (Redfish specification, "Authentication
// requirements"): the root, the version and metadata documents, and opening a session.
func (c *call) public(method string) bool {
	switch c.path {
	case "/redfish", "/redfish/v1", "/redfish/v1/odata", "/redfish/v1/$metadata":
		return method == http.MethodGet
	case sessionPath:
		return method == http.MethodPost
	}
	return false
}

func (c *call) value(name string) string { return c.r.PathValue(name) }

// now is the moment the request is acted upon.
func (c *call) now() time.Time { return c.rack.now() }

func (c *call) cause() cause { return cause{by: byRequest, request: c.seq, arrived: c.arrived} }

// decode reads the request's JSON body into a struct; unknown members are ignored.
func (c *call) decode(into any) *reply {
	if err := json.Unmarshal(c.body, into); err != nil {
		var badType *json.UnmarshalTypeError
		if errors.As(err, &badType) {
			return redfishError(http.StatusBadRequest, "PropertyValueTypeError",
				"The value provided for the property "+badType.Field+" is of a different type than the property can accept.", badType.Value, badType.Field)
		}
		return redfishError(http.StatusBadRequest, "MalformedJSON", "The request body submitted was malformed JSON and could not be parsed by the receiving service.")
	}
	return nil
}

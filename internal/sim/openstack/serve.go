// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// call is one request on its way through the simulator.
type call struct {
	cloud   *Cloud
	service service
	r       *http.Request // with path values, once routed
	body    []byte
	query   url.Values
	seq     uint64
	arrived time.Time
	pattern string
	token   *token
	version microversion // of requests to the compute service
	reply   *reply
}

// serve is the entry of every request. It takes the lock itself, and not while waiting.
func (c *Cloud) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 4<<20))
	if err != nil {
		return // the client gave up while sending
	}
	defer wire.Crash("openstack simulator")
	cl := c.newCall(req, body)
	fault := c.receive(cl)
	outcome := c.perform(cl, fault)
	c.report(cl, outcome, fault)
	switch {
	case fault.is(FaultHang, FaultHangReply):
		wire.Hang(req, c.closing)
		panic(http.ErrAbortHandler)
	case outcome == nil || fault.is(FaultDropReply):
		panic(http.ErrAbortHandler)
	default:
		outcome.send(w, req)
	}
}

// newCall prepares a request for routing: a trailing slash makes no difference.
func (c *Cloud) newCall(req *http.Request, body []byte) *call {
	cl := &call{cloud: c, body: body, query: req.URL.Query()}
	cl.r = req.Clone(context.WithValue(req.Context(), callKey{}, cl))
	cl.r.URL.Path, cl.r.URL.RawPath = wire.CleanPath(req.URL.Path), ""
	first, _, _ := strings.Cut(strings.TrimPrefix(cl.r.URL.Path, "/"), "/")
	cl.service = service(first)
	_, cl.pattern = c.mux.Handler(cl.r)
	return cl
}

// route is what kind of request this is: the pattern of its path, and of a server's action its name.
func (cl *call) route() string {
	if !strings.HasSuffix(cl.pattern, "/action") {
		return cl.pattern
	}
	return cl.pattern + " " + cl.actionName()
}

// target is what expressions about requests are matched against: path and query, and of a server's action its name.
func (cl *call) target() string {
	text := target(cl.r.URL.Path, cl.r.URL.RawQuery)
	if strings.HasSuffix(cl.pattern, "/action") {
		text += " " + cl.actionName()
	}
	return text
}

// actionName is the one member of an action's body.
func (cl *call) actionName() string {
	var action map[string]json.RawMessage
	if json.Unmarshal(cl.body, &action) != nil || len(action) != 1 {
		return ""
	}
	for name := range action {
		return name
	}
	return ""
}

// receive notes the request and finds the fault that takes it.
func (c *Cloud) receive(cl *call) *Fault {
	defer c.enter()()
	cl.arrived = c.now()
	cl.seq = c.requests.begin(cl.arrived, cl)
	return c.strike(cl.r.Method, cl.target())
}

// perform carries the request out, or not, as the fault has it. Nil is a connection to be closed without an answer.
func (c *Cloud) perform(cl *call, fault *Fault) *reply {
	if fault != nil {
		if !wire.Pause(cl.r, c.closing, fault.Delay.Std()) || fault.is(FaultHang, FaultDrop) {
			return nil
		}
		if fault.is(FaultRevoke) {
			c.RevokeTokens()
		}
		if instead := fault.instead(cl); instead != nil {
			return instead
		}
	}
	result := c.act(cl)
	if fault != nil && result != nil {
		result = fault.spoil(cl, result)
	}
	return result
}

// act routes the request, under the lock.
func (c *Cloud) act(cl *call) *reply {
	defer c.enter()()
	c.cause = cause{by: byRequest, request: cl.seq, arrived: cl.arrived}
	defer func() { c.cause = cause{} }()
	c.mux.ServeHTTP(wire.Discard{}, cl.r)
	if cl.reply == nil { // no route
		cl.reply = cl.unknown()
		if bad := cl.authenticate(); bad != nil {
			cl.reply = bad
		}
	}
	cl.finish()
	return cl.reply
}

// unknown is the answer for a path that there is not; Nova's own is in HTML too.
func (cl *call) unknown() *reply {
	s := cl.service
	if s == compute {
		s = image
	}
	return s.refuse(http.StatusNotFound, "The resource could not be found.")
}

// report completes the request's entry in the log.
func (c *Cloud) report(cl *call, outcome *reply, fault *Fault) {
	defer c.enter()()
	var entry Request
	if outcome != nil {
		entry.Status = outcome.status
	}
	if fault != nil {
		entry.Fault = fault.Kind
	}
	c.requests.finish(cl, entry)
}

type callKey struct{}

// methods are the handlers of one resource.
type methods map[string]func(*call) *reply

// ServeHTTP implements http.Handler for the mux.
func (m methods) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	cl := req.Context().Value(callKey{}).(*call)
	cl.r = req
	cl.reply = m.respond(cl)
}

func (m methods) respond(cl *call) *reply {
	if !cl.public() {
		if bad := cl.authenticate(); bad != nil {
			return bad
		}
		if bad := cl.negotiate(); bad != nil {
			return bad
		}
	}
	method := cl.r.Method
	if method == http.MethodHead && m[method] == nil {
		method = http.MethodGet
	}
	if handle := m[method]; handle != nil {
		return handle(cl)
	}
	var allowed []string
	for name := range m {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	r := cl.service.refuse(http.StatusMethodNotAllowed, "The method %s is not allowed for this resource.", cl.r.Method)
	r.header.Set("Allow", strings.Join(allowed, ", "))
	return r
}

func (cl *call) value(name string) string { return cl.r.PathValue(name) }

// refuse words an error as the service that was asked does.
func (cl *call) refuse(status int, format string, args ...any) *reply {
	return cl.service.refuse(status, format, args...)
}

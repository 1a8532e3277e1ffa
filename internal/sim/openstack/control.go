// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// The control endpoint: the levers of the Go API as JSON, for tests in other processes and for people with curl.
// {server} is a server's id, or its name where only one has it.
//
//	GET    /clouds.yaml, /ca             how to get in
//	GET    /servers, /ports, /floatingips  what is there
//	POST   /servers/{server}/do          {"do": "fail" | "heal" | "stop-guest" | "remove" | "lose" | "hide" | "show", "message": …}
//	POST   /servers/{server}/ports       {"network": …}: somebody else attaches a new port; answers {"id": …}
//	DELETE /servers/{server}/ports/{port}  … or takes one away
//	DELETE /ports/{port}                 … or deletes one
//	POST   /floatingips/{id}/port        {"port": …}: somebody else gives it to a port, or, empty, to none
//	POST   /cell                         {"down": [ids of servers]}: replaces what was down before
//	POST   /faults, /mishaps             a Fault, a Mishap; answers {"id": …}
//	GET    /faults, /mishaps             those armed
//	DELETE /faults[/{id}], /mishaps      disarm
//	GET    /behaviour, /quotas           a Behaviour, Quotas
//	PATCH  /behaviour, /quotas           change what is named, keep the rest
//	POST   /password                     {"user": …, "password": …}
//	DELETE /tokens                       revoke all
//	GET    /requests?service=&method=&path=&after=  the request log
//	GET    /totals                       its totals
//	GET    /events?id=&after=            the log of effects
type controlServer struct {
	cloud    *Cloud
	listener net.Listener
	server   *http.Server
}

// ControlURL returns the URL of the control endpoint, empty where there is none.
func (c *Cloud) ControlURL() string {
	if c.control == nil {
		return ""
	}
	return "http://" + c.control.listener.Addr().String()
}

func (c *Cloud) startControl() error {
	if c.config.Control == "" {
		return nil
	}
	l, err := listenLoopback(c.config.Control)
	if err != nil {
		return err
	}
	c.control = &controlServer{cloud: c, listener: l}
	c.control.server = &http.Server{Handler: c.control.routes(), ReadHeaderTimeout: time.Minute}
	c.serving.Go(func() { _ = c.control.server.Serve(l) })
	return nil
}

func (s *controlServer) close() error {
	if s == nil {
		return nil
	}
	return s.server.Close()
}

func (s *controlServer) routes() *http.ServeMux {
	mux, c := http.NewServeMux(), s.cloud
	mux.HandleFunc("GET /clouds.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(c.CloudsYAML()) })
	mux.HandleFunc("GET /ca", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(c.CAPEM()) })
	mux.HandleFunc("GET /servers", tell(c.Servers))
	mux.HandleFunc("GET /ports", tell(c.Ports))
	mux.HandleFunc("GET /floatingips", tell(c.FloatingIPs))
	mux.HandleFunc("GET /faults", tell(c.Faults))
	mux.HandleFunc("GET /mishaps", tell(c.Mishaps))
	mux.HandleFunc("GET /behaviour", tell(c.Behaviour))
	mux.HandleFunc("GET /quotas", tell(c.Quotas))
	mux.HandleFunc("GET /totals", tell(c.Totals))
	mux.HandleFunc("GET /requests", s.listRequests)
	mux.HandleFunc("GET /events", s.listEvents)
	mux.HandleFunc("POST /servers/{server}/do", s.onServer)
	mux.HandleFunc("POST /servers/{server}/ports", s.attach)
	mux.HandleFunc("DELETE /servers/{server}/ports/{port}", s.detach)
	mux.HandleFunc("DELETE /ports/{port}", func(w http.ResponseWriter, r *http.Request) { done(w, c.RemovePort(r.PathValue("port"))) })
	mux.HandleFunc("POST /floatingips/{id}/port", take(func(r *http.Request, in struct{ Port string }) error {
		return c.MoveFloatingIP(r.PathValue("id"), in.Port)
	}))
	mux.HandleFunc("POST /cell", take(func(_ *http.Request, in struct{ Down []string }) error {
		c.CellDown(in.Down...)
		return nil
	}))
	mux.HandleFunc("POST /faults", arm(c.Inject))
	mux.HandleFunc("POST /mishaps", arm(c.Befall))
	mux.HandleFunc("DELETE /faults", take(func(*http.Request, struct{}) error { c.ClearFaults(); return nil }))
	mux.HandleFunc("DELETE /mishaps", take(func(*http.Request, struct{}) error { c.ClearMishaps(); return nil }))
	mux.HandleFunc("DELETE /faults/{id}", take(func(r *http.Request, _ struct{}) error {
		if !c.ClearFault(r.PathValue("id")) {
			return fmt.Errorf("no fault %q is armed", r.PathValue("id"))
		}
		return nil
	}))
	mux.HandleFunc("PATCH /behaviour", patch(c.Behave))
	mux.HandleFunc("PATCH /quotas", patch(c.SetQuotas))
	mux.HandleFunc("DELETE /tokens", take(func(*http.Request, struct{}) error { c.RevokeTokens(); return nil }))
	mux.HandleFunc("POST /password", take(func(_ *http.Request, in struct{ User, Password string }) error {
		if !c.SetPassword(in.User, in.Password) {
			return fmt.Errorf("no user %q", in.User)
		}
		return nil
	}))
	return mux
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// done answers with success, or with what was wrong.
func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, obj{})
}

// decode reads strictly: a misspelt fault would silently do nothing. No body is as good as an empty object.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("request body: %w", err)
	}
	return nil
}

// read reads a request's body and decodes it.
func read(r *http.Request, into any) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return data, decode(data, into)
}

// tell answers with what there is.
func tell[T any](get func() T) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, get()) }
}

// take does something with a body.
func take[T any](do func(*http.Request, T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		if _, err := read(r, &in); err != nil {
			done(w, err)
			return
		}
		done(w, do(r, in))
	}
}

// arm arms something and answers with its id.
func arm[T any](do func(T) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		_, err := read(r, &in)
		var id string
		if err == nil {
			id, err = do(in)
		}
		if err != nil {
			done(w, err)
			return
		}
		answer(w, obj{"id": id})
	}
}

// patch changes what the body names, on top of what is.
func patch[T any](edit func(func(*T))) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := read(r, new(T))
		if err == nil {
			edit(func(current *T) { err = json.Unmarshal(data, current) })
		}
		done(w, err)
	}
}

func after(r *http.Request) (uint64, error) {
	return strconv.ParseUint(orElse(r.URL.Query().Get("after"), "0"), 10, 64)
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// The control endpoint: the levers of the Go API as JSON, for tests in other processes and for people with
// curl. "*" as a BMC stands for all of them, where something is done.
//
//	GET    /bmcs                            all BMCs with their machines
//	GET    /bmcs/{bmc}                      one
//	POST   /bmcs/{bmc}/faults               a Fault; answers {"ids": [...]}
//	GET    /bmcs/{bmc}/faults               those armed
//	DELETE /bmcs/{bmc}/faults[/{id}]        disarm
//	GET    /bmcs/{bmc}/behaviour            a Behaviour
//	PATCH  /bmcs/{bmc}/behaviour            change what is named, keep the rest
//	GET    /bmcs/{bmc}/ailments             those its model is known for
//	POST   /bmcs/{bmc}/ailments             {"name": …}: switch one on
//	POST   /bmcs/{bmc}/reach                {"reach": "up" | "refused" | "silent"}
//	POST   /bmcs/{bmc}/reboot               restart the BMC
//	POST   /bmcs/{bmc}/mains                {"mains": "cut" | "return"}
//	POST   /bmcs/{bmc}/certificate          {"certificate": "" | "expired" | "self-signed" | "wrong-host"}
//	POST   /bmcs/{bmc}/credentials          {"username": …, "password": …}
//	DELETE /bmcs/{bmc}/sessions             end all sessions
//	POST   /bmcs/{bmc}/machines/{id}/tenant {"do": "power-off" | "reboot"}
//	PUT    /bmcs/{bmc}/machines/{id}/netboot  a Program
//	GET    /requests?bmc=&method=&path=&after=     the request log
//	GET    /totals                          its totals
//	GET    /machinelog?bmc=&machine=&after= the machine log
//	GET    /ca                              the CA certificate, PEM
type controlServer struct {
	rack     *Rack
	listener net.Listener
	server   *http.Server
}

// ControlURL returns the URL of the control endpoint, empty where there is none.
func (r *Rack) ControlURL() string {
	if r.control == nil {
		return ""
	}
	return "http://" + r.control.listener.Addr().String()
}

func (r *Rack) startControl() error {
	if r.config.Control == "" {
		return nil
	}
	l, err := listenTCP("tcp", r.config.Control)
	if err != nil {
		return err
	}
	if !connAddr(l.Addr()).IsLoopback() {
		return errors.Join(fmt.Errorf("redfish rack: the control endpoint %s must be on loopback: it asks for no password", l.Addr()), l.Close())
	}
	r.control = &controlServer{rack: r, listener: l}
	r.control.server = &http.Server{Handler: r.control.routes(), ReadHeaderTimeout: time.Minute}
	r.serving.Go(func() { _ = r.control.server.Serve(l) })
	return nil
}

func (s *controlServer) close() error {
	if s == nil {
		return nil
	}
	return s.server.Close()
}

// BMCStatus is a BMC as the control endpoint shows it.
type BMCStatus struct {
	Name        string          `json:"name"`
	Endpoint    string          `json:"endpoint"`
	Plain       string          `json:"plainEndpoint,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	Reach       Reach           `json:"reach"`
	Auth        AuthStats       `json:"auth"`
	Machines    []MachineStatus `json:"machines"`
}

// Status returns the BMC and its machines as they are now.
func (b *BMC) Status() (BMCStatus, error) {
	status := BMCStatus{Name: b.Name(), Endpoint: b.Endpoint(), Plain: b.PlainEndpoint(), Reach: b.Reach(), Auth: b.AuthStats()}
	for _, m := range b.machines {
		status.Machines = append(status.Machines, m.Status())
	}
	var err error
	status.Fingerprint, err = b.Fingerprint()
	return status, err
}

func (s *controlServer) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bmcs", s.listBMCs)
	mux.HandleFunc("GET /bmcs/{bmc}", oneBMC(s, (*BMC).Status))
	mux.HandleFunc("GET /bmcs/{bmc}/faults", oneBMC(s, func(b *BMC) ([]Fault, error) { return b.Faults(), nil }))
	mux.HandleFunc("GET /bmcs/{bmc}/behaviour", oneBMC(s, func(b *BMC) (Behaviour, error) { return b.Behaviour(), nil }))
	mux.HandleFunc("GET /bmcs/{bmc}/ailments", oneBMC(s, func(b *BMC) ([]Ailment, error) { return b.Ailments(), nil }))
	mux.HandleFunc("POST /bmcs/{bmc}/ailments", each(s, func(b *BMC, in struct{ Name string }) error { return b.Suffer(in.Name) }))
	mux.HandleFunc("POST /bmcs/{bmc}/faults", s.inject)
	mux.HandleFunc("DELETE /bmcs/{bmc}/faults", s.each(func(b *BMC, _ struct{}) error { b.ClearFaults(); return nil }))
	mux.HandleFunc("DELETE /bmcs/{bmc}/faults/{id}", s.clearFault)
	mux.HandleFunc("PATCH /bmcs/{bmc}/behaviour", s.behave)
	mux.HandleFunc("POST /bmcs/{bmc}/reach", each(s, func(b *BMC, in struct{ Reach Reach }) error { return b.SetReach(in.Reach) }))
	mux.HandleFunc("POST /bmcs/{bmc}/reboot", s.each(func(b *BMC, _ struct{}) error { b.Reboot(); return nil }))
	mux.HandleFunc("POST /bmcs/{bmc}/mains", each(s, setMains))
	mux.HandleFunc("POST /bmcs/{bmc}/certificate", each(s, func(b *BMC, in struct{ Certificate CertificateMode }) error {
		return b.SetCertificate(in.Certificate)
	}))
	mux.HandleFunc("POST /bmcs/{bmc}/credentials", each(s, func(b *BMC, in struct{ Username, Password string }) error {
		b.SetCredentials(in.Username, in.Password)
		return nil
	}))
	mux.HandleFunc("DELETE /bmcs/{bmc}/sessions", s.each(func(b *BMC, _ struct{}) error { b.EndSessions(); return nil }))
	mux.HandleFunc("POST /bmcs/{bmc}/machines/{id}/tenant", s.tenant)
	mux.HandleFunc("PUT /bmcs/{bmc}/machines/{id}/netboot", s.netboot)
	mux.HandleFunc("GET /requests", s.listRequests)
	mux.HandleFunc("GET /totals", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.rack.Totals()) })
	mux.HandleFunc("GET /machinelog", s.listEvents)
	mux.HandleFunc("GET /ca", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(s.rack.CAPEM()) })
	return mux
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// read decodes a request strictly: a misspelt fault would silently do nothing.
func read(r *http.Request, into any) error {
	dec := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("request body: %w", err)
	}
	return nil
}

// chosen are the BMCs a path speaks of.
func (s *controlServer) chosen(r *http.Request) ([]*BMC, error) {
	name := r.PathValue("bmc")
	if name == "*" {
		return s.rack.BMCs(), nil
	}
	if b := s.rack.BMC(name); b != nil {
		return []*BMC{b}, nil
	}
	return nil, fmt.Errorf("no BMC %q", name)
}

func oneBMC[T any](s *controlServer, get func(*BMC) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b := s.rack.BMC(r.PathValue("bmc"))
		if b == nil {
			http.Error(w, fmt.Sprintf("no BMC %q", r.PathValue("bmc")), http.StatusNotFound)
			return
		}
		value, err := get(b)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, value)
	}
}

// each does something to every chosen BMC.
func each[T any](s *controlServer, do func(*BMC, T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		if err := read(r, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		bmcs, err := s.chosen(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		for _, b := range bmcs {
			if err := do(b, in); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		answer(w, obj{"bmcs": len(bmcs)})
	}
}

func (s *controlServer) each(do func(*BMC, struct{}) error) http.HandlerFunc { return each(s, do) }

func setMains(b *BMC, in struct{ Mains string }) error {
	switch in.Mains {
	case "cut":
		b.CutPower()
	case "return":
		b.ReturnPower()
	default:
		return fmt.Errorf("mains %q is neither cut nor return", in.Mains)
	}
	return nil
}

func (s *controlServer) after(r *http.Request) (uint64, error) {
	return strconv.ParseUint(orElse(r.URL.Query().Get("after"), "0"), 10, 64)
}

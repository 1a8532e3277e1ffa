// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Fault is what a proxy does to the requests that match, in place of, or after, handing them on. Exactly one of Drop, Hang and Status.
type Fault struct {
	// Service is a type of service, Method a method, Path a part of the path; "" for all.
	Service, Method, Path string
	// Count of requests that are struck; 0 for all until it is disarmed.
	Count int
	// After has the service do its work first: the answer is lost, or replaced.
	After bool

	// Drop ends the connection without an answer.
	Drop bool
	// Hang never answers, until the caller gives up.
	Hang bool
	// Status is answered, with Header and Body; a Body of "" is an error in JSON.
	Status int
	Header map[string]string
	Body   string
}

func (f Fault) validate() error {
	ways := 0
	for _, way := range []bool{f.Drop, f.Hang, f.Status != 0} {
		if way {
			ways++
		}
	}
	if ways != 1 {
		return errors.New("a fault drops, hangs or answers with a status")
	}
	return nil
}

func (f Fault) matches(c Call) bool {
	return (f.Service == "" || f.Service == c.Service) && (f.Method == "" || f.Method == c.Method) && strings.Contains(c.Path, f.Path)
}

func (f Fault) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Drop:
		panic(http.ErrAbortHandler)
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	body := f.Body
	if body == "" {
		body = fmt.Sprintf(`{"error": {"code": %d, "title": "Fault", "message": "answered by the proxy"}}`, f.Status)
	}
	fmt.Fprint(w, body)
}

type armed struct {
	Fault
	struck int
}

// Strike arms a fault beside those that are armed; the first that matches strikes. The returned function disarms it and tells how often
// it struck.
func (p *Proxy) Strike(fault Fault) (disarm func() int) {
	if err := fault.validate(); err != nil {
		panic(err) // a mistake of the test
	}
	a := &armed{Fault: fault}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, a)
	return func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, other := range p.faults {
			if other == a {
				p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
				break
			}
		}
		return a.struck
	}
}

func (p *Proxy) struck(c Call) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.faults {
		if a.matches(c) && (a.Count == 0 || a.struck < a.Count) {
			a.struck++
			return &a.Fault
		}
	}
	return nil
}

func (p *Proxy) record(c Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

func (s *controlServer) listBMCs(w http.ResponseWriter, _ *http.Request) {
	all := []BMCStatus{}
	for _, b := range s.rack.BMCs() {
		status, err := b.Status()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		all = append(all, status)
	}
	answer(w, all)
}

func (s *controlServer) inject(w http.ResponseWriter, r *http.Request) {
	var fault Fault
	if err := read(r, &fault); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	bmcs, err := s.chosen(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	ids := []string{}
	for _, b := range bmcs {
		id, err := b.Inject(fault)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ids = append(ids, id)
	}
	answer(w, obj{"ids": ids})
}

func (s *controlServer) clearFault(w http.ResponseWriter, r *http.Request) {
	bmcs, err := s.chosen(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	cleared := 0
	for _, b := range bmcs {
		if b.ClearFault(r.PathValue("id")) {
			cleared++
		}
	}
	if cleared == 0 {
		http.Error(w, fmt.Sprintf("no fault %q is armed", r.PathValue("id")), http.StatusNotFound)
		return
	}
	answer(w, obj{"cleared": cleared})
}

// behave changes what the body names, on top of what is.
func (s *controlServer) behave(w http.ResponseWriter, r *http.Request) {
	patch, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		r.Body = io.NopCloser(bytes.NewReader(patch))
		err = read(r, &Behaviour{})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	bmcs, err := s.chosen(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	for _, b := range bmcs {
		b.Behave(func(behaviour *Behaviour) { err = json.Unmarshal(patch, behaviour) })
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, obj{"bmcs": len(bmcs)})
}

// eachMachine does something to the machine of that id behind every chosen BMC.
func (s *controlServer) eachMachine(w http.ResponseWriter, r *http.Request, do func(*Machine)) {
	bmcs, err := s.chosen(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	found := 0
	for _, b := range bmcs {
		if m := b.Machine(r.PathValue("id")); m != nil {
			do(m)
			found++
		}
	}
	if found == 0 {
		http.Error(w, fmt.Sprintf("no machine %q", r.PathValue("id")), http.StatusNotFound)
		return
	}
	answer(w, obj{"machines": found})
}

func (s *controlServer) tenant(w http.ResponseWriter, r *http.Request) {
	var in struct{ Do string }
	if err := read(r, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	do := map[string]func(*Machine){"power-off": (*Machine).PowerOffByTenant, "reboot": (*Machine).RebootByTenant}[in.Do]
	if do == nil {
		http.Error(w, fmt.Sprintf("do %q is neither power-off nor reboot", in.Do), http.StatusBadRequest)
		return
	}
	s.eachMachine(w, r, do)
}

func (s *controlServer) netboot(w http.ResponseWriter, r *http.Request) {
	var in programWire
	if err := read(r, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.eachMachine(w, r, func(m *Machine) {
		m.SetNetboot(Program{Image: in.Image, Duration: in.Duration.Std(), Then: in.Then})
	})
}

// programWire is Program as JSON, with a readable duration.
type programWire struct {
	Image    string   `json:"image"`
	Duration Duration `json:"duration"`
	Then     Then     `json:"then"`
}

func (s *controlServer) listRequests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, err := s.after(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, err := s.rack.Requests(RequestFilter{BMC: q.Get("bmc"), Method: q.Get("method"), Path: q.Get("path"), After: after})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if found == nil {
		found = []Request{}
	}
	answer(w, found)
}

func (s *controlServer) listEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, err := s.after(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found := s.rack.MachineLog(EventFilter{BMC: q.Get("bmc"), Machine: q.Get("machine"), After: after})
	if found == nil {
		found = []Event{}
	}
	answer(w, found)
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"net/http"
)

// chosen is the id of the server that a path speaks of.
func (s *controlServer) chosen(r *http.Request) (string, error) {
	wanted := r.PathValue("server")
	var found []string
	for _, v := range s.cloud.Servers() {
		if v.ID == wanted {
			return wanted, nil
		}
		if v.Name == wanted {
			found = append(found, v.ID)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d servers have the id or name %q", len(found), wanted)
	}
	return found[0], nil
}

func (s *controlServer) onServer(w http.ResponseWriter, r *http.Request) {
	var in struct{ Do, Message string }
	if _, err := read(r, &in); err != nil {
		done(w, err)
		return
	}
	id, err := s.chosen(r)
	if err != nil {
		done(w, err)
		return
	}
	c := s.cloud
	do := map[string]func(string) error{
		"fail": func(id string) error { return c.FailServer(id, in.Message) }, "heal": c.HealServer, "stop-guest": c.StopGuest,
		"remove": c.RemoveServer, "lose": c.LoseServer, "hide": c.HideServer, "show": c.ShowServer,
	}[in.Do]
	if do == nil {
		done(w, fmt.Errorf("do %q is none of fail, heal, stop-guest, remove, lose, hide, show", in.Do))
		return
	}
	done(w, do(id))
}

func (s *controlServer) attach(w http.ResponseWriter, r *http.Request) {
	var in struct{ Network string }
	_, err := read(r, &in)
	var id, port string
	if err == nil {
		id, err = s.chosen(r)
	}
	if err == nil {
		port, err = s.cloud.AttachPort(id, in.Network)
	}
	if err != nil {
		done(w, err)
		return
	}
	answer(w, obj{"id": port})
}

func (s *controlServer) detach(w http.ResponseWriter, r *http.Request) {
	id, err := s.chosen(r)
	if err == nil {
		err = s.cloud.DetachPort(id, r.PathValue("port"))
	}
	done(w, err)
}

func (s *controlServer) listRequests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := after(r)
	var found []Request
	if err == nil {
		found, err = s.cloud.Requests(RequestFilter{Service: q.Get("service"), Method: q.Get("method"), Path: q.Get("path"), After: from})
	}
	if err != nil {
		done(w, err)
		return
	}
	answer(w, found)
}

func (s *controlServer) listEvents(w http.ResponseWriter, r *http.Request) {
	from, err := after(r)
	if err != nil {
		done(w, err)
		return
	}
	answer(w, s.cloud.Events(EventFilter{ID: r.URL.Query().Get("id"), After: from}))
}

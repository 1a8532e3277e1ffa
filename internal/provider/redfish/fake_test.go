// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

type object = map[string]any

// sent is a request as the fake BMC got it.
type sent struct {
	method, path, body string
	header             http.Header
}

// fakeBMC serves documents and remembers what it was asked: for the odd answers that no well-behaved simulator gives.
type fakeBMC struct {
	t   *testing.T
	srv *httptest.Server

	mu       sync.Mutex
	docs     map[string]any // by path; a string is sent as it is
	handlers map[string]http.HandlerFunc
	requests []sent
}

// fakeUUID is the UUID of the fake's system.
const fakeUUID = "38947555-7742-3448-3784-823347823834"

var fakeRef = provider.SystemRef{UUID: fakeUUID}

// newFake makes a BMC without sessions and with one system that is off. change edits that system.
func newFake(t *testing.T, change ...func(system object)) *fakeBMC {
	t.Helper()
	f := &fakeBMC{t: t, handlers: map[string]http.HandlerFunc{}}
	system := fakeSystem("1", fakeUUID)
	for _, c := range change {
		c(system)
	}
	f.docs = map[string]any{
		"/redfish/v1":           object{"RedfishVersion": "1.15.0", "Systems": link("/redfish/v1/Systems"), "Managers": link("/redfish/v1/Managers")},
		"/redfish/v1/Systems":   object{"Members": []any{link("/redfish/v1/Systems/1")}},
		"/redfish/v1/Systems/1": system,
		"/redfish/v1/Managers":  object{"Members": []any{}},
	}
	f.srv = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.srv.Close)
	return f
}

func link(path string) object { return object{"@odata.id": path} }

func fakeSystem(id, uuid string) object {
	return object{
		"Id": id, "UUID": uuid, "PowerState": "Off", "AssetTag": "", "SerialNumber": "S" + id,
		"Boot": object{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None", "BootSourceOverrideMode": "UEFI"},
		"Actions": object{"#ComputerSystem.Reset": object{
			"target": "/redfish/v1/Systems/" + id + "/Actions/ComputerSystem.Reset", "ResetType@Redfish.AllowableValues": []any{"On", "ForceOff", "GracefulShutdown"},
		}},
	}
}

func (f *fakeBMC) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimRight(r.URL.Path, "/")
	full := path
	if r.URL.RawQuery != "" {
		full += "?" + r.URL.RawQuery
	}
	f.mu.Lock()
	f.requests = append(f.requests, sent{r.Method, full, string(body), r.Header.Clone()})
	handler := f.handlers[r.Method+" "+path]
	doc, found := f.docs[full]
	f.mu.Unlock()
	switch {
	case handler != nil:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler(w, r)
	case !found:
		http.NotFound(w, r)
	case r.Method == http.MethodPatch:
		f.merge(doc.(object), body)
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		f.send(w, doc)
	}
}

func (f *fakeBMC) send(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	if raw, ok := doc.(string); ok {
		_, _ = io.WriteString(w, raw)
		return
	}
	f.mu.Lock()
	raw, err := json.Marshal(doc)
	f.mu.Unlock()
	if err != nil {
		f.t.Errorf("marshal: %v", err)
	}
	_, _ = w.Write(raw)
}

// merge patches a document as a BMC does, one level deep.
func (f *fakeBMC) merge(doc object, body []byte) {
	var patch object
	if err := json.Unmarshal(body, &patch); err != nil {
		f.t.Errorf("PATCH with %q: %v", body, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, value := range patch {
		if inner, ok := value.(object); ok {
			if old, ok := doc[key].(object); ok {
				maps.Copy(old, inner)
				continue
			}
		}
		doc[key] = value
	}
}

// set changes members of the document at path, or of an object in it.
func (f *fakeBMC) set(path string, members object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.docs[path].(object), members)
}

// handle takes over one method of one path.
func (f *fakeBMC) handle(methodAndPath string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[methodAndPath] = h
}

// answer makes every such request end with that status and body.
func (f *fakeBMC) answer(methodAndPath string, status int, body string) {
	f.handle(methodAndPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// got gives the requests of a method so far; "" gives all.
func (f *fakeBMC) got(method string) []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.requests), func(s sent) bool { return method != "" && s.method != method })
}

// canary is a password that must show nowhere.
const canary = "canary-0fc2"

func (f *fakeBMC) connect(change ...func(*Options)) *BMC {
	f.t.Helper()
	return connect(f.t, Endpoint{URL: f.srv.URL}, change...)
}

func connect(t *testing.T, ep Endpoint, change ...func(*Options)) *BMC {
	t.Helper()
	var opts Options
	for _, c := range change {
		c(&opts)
	}
	pool := NewPool(opts)
	t.Cleanup(func() { _ = pool.Close(context.Background()) })
	b, err := pool.BMC("bmc", ep, Credentials{Username: "root", Password: canary, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noon is the time of a clock that stands still.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func observe(t *testing.T, b *BMC) provider.SystemFacts {
	t.Helper()
	facts, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthState, "")
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// wantError wants an error of that class and reason, fit to be shown and without the canary.
func wantError(t *testing.T, err error, class provider.Class, reason string) {
	t.Helper()
	_ = wantedError(t, err, class, reason)
}

// wantedError is wantError, for who wants to see more of it.
func wantedError(t *testing.T, err error, class provider.Class, reason string) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %s(%s)", err, class, reason)
	}
	if e.Class != class || e.Reason != reason {
		t.Errorf("got %v, want %s(%s)", e, class, reason)
	}
	if e.Message == "" || len(e.Message) >= 256 || strings.ContainsAny(e.Message, "\n<>") || strings.Contains(e.Error(), canary) {
		t.Errorf("the message is not fit to be shown: %q", e.Message)
	}
	return e
}

func redfishError(id, text string, args ...string) string {
	raw, _ := json.Marshal(object{"error": object{"code": "Base.1.8.GeneralError", "message": "see ExtendedInfo",
		"@Message.ExtendedInfo": []any{object{"MessageId": "Base.1.8." + id, "Message": text, "MessageArgs": args}}}})
	return string(raw)
}

// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// FaultKind is what a fault does to a request.
type FaultKind string

// The kinds of faults. "Before" means that nothing was done, "after" that all was.
const (
	FaultDelay        FaultKind = "delay"        // wait Delay, then act, even if the client has gone meanwhile
	FaultHang         FaultKind = "hang"         // before: never answer
	FaultHangReply    FaultKind = "hang-reply"   // after: never answer
	FaultDrop         FaultKind = "drop"         // before: close the connection
	FaultDropReply    FaultKind = "drop-reply"   // after: close the connection
	FaultStatus       FaultKind = "status"       // before: answer Status with an error of the service
	FaultStatusAfter  FaultKind = "status-after" // after: answer Status with an error of the service
	FaultUnauthorized FaultKind = "unauthorized" // before: 401, the token stays good
	FaultRevoke       FaultKind = "revoke"       // before: 401, all tokens are revoked
	FaultTruncate     FaultKind = "truncate"     // after: half of the body
	FaultGarbage      FaultKind = "garbage"      // before: a proxy's page of HTML with Status (502 if unset)
	FaultEmptyList    FaultKind = "empty-list"   // after: a listing without its rows
)

// Fault strikes requests. The first fault, in the order of injection, that matches and is neither skipping nor
// passed over by its Rate takes the request.
type Fault struct {
	ID     string    `json:"id,omitempty"` // given by the cloud
	Kind   FaultKind `json:"kind"`
	Method string    `json:"method,omitempty"` // regular expression, matched anywhere; empty: all
	// Path is likewise matched against path and query, "/compute/v2.1/servers/detail?tags=a"; of a server's action
	// followed by its name, "/compute/v2.1/servers/ID/action rebuild".
	Path   string         `json:"path,omitempty"`
	Skip   int            `json:"skip,omitempty"`   // let so many matching requests pass first
	Count  int            `json:"count,omitempty"`  // strike so often, then be gone; 0: until cleared
	Rate   float64        `json:"rate,omitempty"`   // strike only this share of matching requests; 0: all
	Delay  clock.Duration `json:"delay,omitzero"`   // wait this long first, whatever the kind; real time
	Status int            `json:"status,omitempty"` // for the kinds that answer one; 0: 500
	// RetryAfter is sent as a header with Status, in seconds or as a date, as it is written here.
	RetryAfter string `json:"retryAfter,omitempty"`
	Struck     int    `json:"struck,omitempty"` // how often it has struck

	method, path *regexp.Regexp
}

func (f *Fault) compile() (err error) {
	known := []FaultKind{
		FaultDelay, FaultHang, FaultHangReply, FaultDrop, FaultDropReply, FaultStatus, FaultStatusAfter,
		FaultUnauthorized, FaultRevoke, FaultTruncate, FaultGarbage, FaultEmptyList,
	}
	if !slices.Contains(known, f.Kind) {
		return fmt.Errorf("fault: kind %q is not one of %v", f.Kind, known)
	}
	if f.method, err = regexp.Compile(f.Method); err != nil {
		return fmt.Errorf("fault: method: %w", err)
	}
	if f.path, err = regexp.Compile(f.Path); err != nil {
		return fmt.Errorf("fault: path: %w", err)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("fault: status %d is out of 200…599", f.Status)
	}
	return nil
}

// Inject arms a fault and returns its id.
func (c *Cloud) Inject(fault Fault) (id string, err error) {
	if err := fault.compile(); err != nil {
		return "", err
	}
	defer c.enter()()
	c.faultSeq++
	fault.ID = fmt.Sprintf("f%d", c.faultSeq)
	c.faults = append(c.faults, &fault)
	return fault.ID, nil
}

// Faults returns the faults that are armed.
func (c *Cloud) Faults() []Fault {
	defer c.enter()()
	faults := make([]Fault, 0, len(c.faults))
	for _, f := range c.faults {
		faults = append(faults, *f)
	}
	return faults
}

// ClearFault disarms one fault and reports whether it was armed.
func (c *Cloud) ClearFault(id string) bool {
	defer c.enter()()
	before := len(c.faults)
	c.faults = slices.DeleteFunc(c.faults, func(f *Fault) bool { return f.ID == id })
	return len(c.faults) < before
}

// ClearFaults disarms all faults.
func (c *Cloud) ClearFaults() {
	defer c.enter()()
	c.faults = nil
}

// strike returns the fault that takes this request, nil where none does.
func (c *Cloud) strike(method, path string) *Fault {
	for i, f := range c.faults {
		if !f.method.MatchString(method) || !f.path.MatchString(path) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Rate > 0 && c.random.Float64() >= f.Rate {
			continue
		}
		f.Struck++
		if f.Count > 0 && f.Struck >= f.Count {
			c.faults = slices.Delete(c.faults, i, i+1)
		}
		struck := *f
		return &struck
	}
	return nil
}

// is reports whether there is a fault, of one of these kinds.
func (f *Fault) is(kinds ...FaultKind) bool { return f != nil && slices.Contains(kinds, f.Kind) }

// instead is the reply of faults that keep the request from being acted upon; nil for the others.
func (f *Fault) instead(cl *call) *reply {
	switch {
	case f.is(FaultStatus):
		return f.status(cl.service, http.StatusInternalServerError)
	case f.is(FaultUnauthorized, FaultRevoke):
		return cl.cloud.unauthorized(cl.service)
	case f.is(FaultGarbage):
		r := f.status(cl.service, http.StatusBadGateway)
		r.header.Set("Content-Type", "text/html")
		r.raw = []byte("<html>\n<head><title>Bad Gateway</title></head>\n<body><h1>Bad Gateway</h1></body>\n</html>\n")
		return r
	}
	return nil
}

func (f *Fault) status(s service, otherwise int) *reply {
	status := f.Status
	if status == 0 {
		status = otherwise
	}
	r := s.refuse(status, "%s", "The simulator was told to answer so.")
	if f.RetryAfter != "" {
		r.header.Set("Retry-After", f.RetryAfter)
	}
	return r
}

// spoil is what a fault makes of a finished reply.
func (f *Fault) spoil(cl *call, r *reply) *reply {
	switch {
	case f.is(FaultStatusAfter):
		return f.status(cl.service, http.StatusInternalServerError)
	case f.is(FaultTruncate):
		whole := r.encode()
		return &reply{status: r.status, header: r.header, raw: whole[:len(whole)/2]}
	case f.is(FaultEmptyList):
		return &reply{status: r.status, header: r.header, body: withoutRows(r.body)}
	}
	return r
}

// withoutRows is a listing without its rows and pages.
func withoutRows(body any) any {
	doc, isObject := body.(obj)
	if !isObject {
		return body
	}
	bare := obj{}
	for key, value := range doc {
		switch value.(type) {
		case []obj, []any:
			value = []any{}
		}
		if key != "next" && !strings.HasSuffix(key, "_links") {
			bare[key] = value
		}
	}
	return bare
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
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
	FaultStatus       FaultKind = "status"       // before: answer Status with a Redfish error
	FaultStatusAfter  FaultKind = "status-after" // after: answer Status with a Redfish error
	FaultUnauthorized FaultKind = "unauthorized" // before: 401, the session stays
	FaultEndSession   FaultKind = "end-session"  // before: 401, all sessions of the BMC are ended
	FaultTruncate     FaultKind = "truncate"     // after: half of the body
	FaultGarbage      FaultKind = "garbage"      // before: a page of HTML with Status (200 if unset)
	FaultPretend      FaultKind = "pretend"      // before: answer 204 as though it had been done
)

// Fault strikes requests to one BMC. The first fault, in the order of injection, that matches and is
// neither skipping nor passed over by its Rate takes the request.
type Fault struct {
	ID     string    `json:"id,omitempty"` // given by the BMC
	Kind   FaultKind `json:"kind"`
	Method string    `json:"method,omitempty"` // regular expression, matched anywhere; empty: all
	Path   string    `json:"path,omitempty"`   // likewise
	Skip   int       `json:"skip,omitempty"`   // let so many matching requests pass first
	Count  int       `json:"count,omitempty"`  // strike so often, then be gone; 0: until cleared
	Rate   float64   `json:"rate,omitempty"`   // strike only this share of matching requests; 0: all
	Delay  Duration  `json:"delay,omitzero"`   // wait this long first, whatever the kind; real time
	Status int       `json:"status,omitempty"` // for the kinds that answer one; 0: 500
	// RetryAfter, in seconds, is sent as a header with Status.
	RetryAfter int `json:"retryAfter,omitempty"`
	Struck     int `json:"struck,omitempty"` // how often it has struck

	method, path *regexp.Regexp
}

func (f *Fault) compile() (err error) {
	known := []FaultKind{
		FaultDelay, FaultHang, FaultHangReply, FaultDrop, FaultDropReply, FaultStatus, FaultStatusAfter,
		FaultUnauthorized, FaultEndSession, FaultTruncate, FaultGarbage, FaultPretend,
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
func (b *BMC) Inject(fault Fault) (id string, err error) {
	if err := fault.compile(); err != nil {
		return "", err
	}
	defer b.rack.enter()()
	b.faultSeq++
	fault.ID = fmt.Sprintf("f%d", b.faultSeq)
	b.faults = append(b.faults, &fault)
	return fault.ID, nil
}

// Faults returns the faults that are armed.
func (b *BMC) Faults() []Fault {
	defer b.rack.enter()()
	faults := make([]Fault, 0, len(b.faults))
	for _, f := range b.faults {
		faults = append(faults, *f)
	}
	return faults
}

// ClearFault disarms one fault and reports whether it was armed.
func (b *BMC) ClearFault(id string) bool {
	defer b.rack.enter()()
	before := len(b.faults)
	b.faults = slices.DeleteFunc(b.faults, func(f *Fault) bool { return f.ID == id })
	return len(b.faults) < before
}

// ClearFaults disarms all faults.
func (b *BMC) ClearFaults() {
	defer b.rack.enter()()
	b.faults = nil
}

// strike returns the fault that takes this request, nil where none does.
func (b *BMC) strike(method, path string) *Fault {
	for i, f := range b.faults {
		if !f.method.MatchString(method) || !f.path.MatchString(path) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Rate > 0 && b.rack.random.Float64() >= f.Rate {
			continue
		}
		f.Struck++
		if f.Count > 0 && f.Struck >= f.Count {
			b.faults = slices.Delete(b.faults, i, i+1)
		}
		struck := *f
		return &struck
	}
	return nil
}

// is reports whether there is a fault, of one of these kinds.
func (f *Fault) is(kinds ...FaultKind) bool { return f != nil && slices.Contains(kinds, f.Kind) }

// instead is the reply of faults that keep the request from being acted upon; nil for the others.
func (f *Fault) instead() *reply {
	switch {
	case f.is(FaultStatus):
		return f.status()
	case f.is(FaultUnauthorized, FaultEndSession):
		return unauthorized()
	case f.is(FaultGarbage):
		status := f.Status
		if status == 0 {
			status = http.StatusOK
		}
		return &reply{status: status, header: http.Header{"Content-Type": {"text/html"}}, raw: []byte(
			"<!DOCTYPE html>\n<html><head><title>Loading…</title></head><body><p>Please enable JavaScript.</p></body></html>\n")}
	case f.is(FaultPretend):
		return &reply{status: http.StatusNoContent}
	}
	return nil
}

func (f *Fault) status() *reply {
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	r := redfishError(status, "InternalError", "The request failed due to an internal service error.")
	if f.RetryAfter > 0 {
		r.header.Set("Retry-After", fmt.Sprint(f.RetryAfter))
	}
	return r
}

// spoil is what a fault makes of a finished reply.
func (f *Fault) spoil(r *reply) *reply {
	switch {
	case f.is(FaultStatusAfter):
		return f.status()
	case f.is(FaultTruncate):
		whole := r.encode()
		return &reply{status: r.status, header: r.header, raw: whole[:len(whole)/2]}
	}
	return r
}

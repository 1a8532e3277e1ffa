// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// Audit is the API server's audit log.
type Audit struct {
	path string

	mu     sync.Mutex
	until  Place // what was read of it
	writes []Write
}

// Audit of the suite's API server.
func (s *Suite) Audit() *Audit { return s.audit }

// Write is one write of the operator to the API server, failed ones included: they cost the same.
type Write struct {
	At time.Time
	// Resource with its subresource, such as "servers/status".
	Resource  string
	Namespace string
	Name      string
	Verb      string
	Code      int32
	// Observed says that it is the monitor's: of status.observed, and of nothing else (P7).
	Observed bool
}

// String is the write for people.
func (w Write) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s/%s → %d", w.Verb, w.Resource, w.Namespace, w.Name, w.Code))
}

// Call is one request of the operator to the API server: a write, or a live read, past the cache.
type Call struct {
	Write
	// Done is when it was answered.
	Done time.Time
}

// IsRead tells a live read from a write.
func (c Call) IsRead() bool { return c.Verb == "get" || c.Verb == "list" }

// Place is a place in the audit log: a moment, for what was answered before and what is answered after it.
type Place int64

// Now is the end of the last whole line of the log as it is: the API server may be writing the next.
func (a *Audit) Now() (Place, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return 0, fmt.Errorf("audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("audit log: %w", err)
	}
	chunk := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		begin := max(0, end-int64(len(chunk)))
		part := chunk[:end-begin]
		if _, err := file.ReadAt(part, begin); err != nil {
			return 0, fmt.Errorf("audit log: %w", err)
		}
		if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
			return Place(begin + int64(last) + 1), nil
		}
		end = begin
	}
	return 0, nil
}

// Calls gives the operator's requests from a place on, in the order they were answered, and returns the place to go on at; leases and
// events apart, and the watches that fill its caches. It is for logs that are long, or read again and again.
func (a *Audit) Calls(from Place, do func(Call)) (Place, error) {
	next, err := testenv.EachAudited(a.path, int64(from), func(event *auditv1.Event) {
		if call, is := operatorCall(event); is {
			do(call)
		}
	})
	return Place(next), err
}

// Writes are the operator's writes that were received from then on; leases and events apart.
func (a *Audit) Writes(from time.Time) ([]Write, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	a.until, err = a.Calls(a.until, func(call Call) {
		if !call.IsRead() {
			a.writes = append(a.writes, call.Write)
		}
	})
	if err != nil {
		return nil, err
	}
	var writes []Write
	for _, write := range a.writes {
		if !write.At.Before(from) {
			writes = append(writes, write)
		}
	}
	slices.SortStableFunc(writes, func(a, b Write) int { return a.At.Compare(b.At) })
	return writes, nil
}

func operatorCall(event *auditv1.Event) (Call, bool) {
	user := event.User.Username
	if event.ImpersonatedUser != nil {
		user = event.ImpersonatedUser.Username
	}
	if user != config.OperatorUsername || event.ObjectRef == nil {
		return Call{}, false
	}
	ref := event.ObjectRef
	if ref.Resource == "leases" || ref.Resource == "events" {
		return Call{}, false
	}
	call := Call{
		Write: Write{
			At: event.RequestReceivedTimestamp.Time, Resource: strings.TrimSuffix(ref.Resource+"/"+ref.Subresource, "/"),
			Namespace: ref.Namespace, Name: ref.Name, Verb: event.Verb,
			Observed: strings.Contains(event.RequestURI, "fieldManager=holdfast-monitor"),
		},
		Done: event.StageTimestamp.Time,
	}
	if event.ResponseStatus != nil {
		call.Code = event.ResponseStatus.Code
	}
	return call, testenv.IsWrite(*event) || call.IsRead()
}

// ByResource counts writes by what they did to which resource, for people.
func ByResource(writes []Write) string {
	counts := map[string]int{}
	var order []string
	for _, write := range writes {
		what := write.Verb + " " + write.Resource
		if write.Code >= 300 {
			what += fmt.Sprintf(" → %d", write.Code)
		}
		if counts[what]++; counts[what] == 1 {
			order = append(order, what)
		}
	}
	slices.Sort(order)
	parts := make([]string, len(order))
	for i, what := range order {
		parts[i] = fmt.Sprintf("%d %s", counts[what], what)
	}
	return strings.Join(parts, ", ")
}

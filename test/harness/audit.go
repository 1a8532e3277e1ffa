// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// Audit is the API server's audit log.
type Audit struct{ path string }

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

// Writes are the operator's writes that were received from then on; leases and events apart.
func (a *Audit) Writes(from time.Time) ([]Write, error) {
	events, err := testenv.ReadAudit(a.path)
	if err != nil {
		return nil, err
	}
	var writes []Write
	for _, event := range events {
		if write, is := operatorWrite(event); is && !write.At.Before(from) {
			writes = append(writes, write)
		}
	}
	slices.SortStableFunc(writes, func(a, b Write) int { return a.At.Compare(b.At) })
	return writes, nil
}

func operatorWrite(event auditv1.Event) (Write, bool) {
	user := event.User.Username
	if event.ImpersonatedUser != nil {
		user = event.ImpersonatedUser.Username
	}
	if !testenv.IsWrite(event) || user != config.OperatorUsername || event.ObjectRef == nil {
		return Write{}, false
	}
	ref := event.ObjectRef
	if ref.Resource == "leases" || ref.Resource == "events" {
		return Write{}, false
	}
	write := Write{
		At: event.RequestReceivedTimestamp.Time, Resource: strings.TrimSuffix(ref.Resource+"/"+ref.Subresource, "/"),
		Namespace: ref.Namespace, Name: ref.Name, Verb: event.Verb,
		Observed: strings.Contains(event.RequestURI, "fieldManager=holdfast-monitor"),
	}
	if event.ResponseStatus != nil {
		write.Code = event.ResponseStatus.Code
	}
	return write, true
}

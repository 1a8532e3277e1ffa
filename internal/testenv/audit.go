// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy records who did what to which object, without bodies: secrets stay
// out of the file. Stages other than the last would count a request twice.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
rules:
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/openapi*", "/version"]
- level: Metadata
`

// auditFileMegabytes is above what a test writes: rotation would lose events.
const auditFileMegabytes = "4096"

func configureAudit(server *envtest.APIServer, policyPath, logPath string) error {
	if err := os.WriteFile(policyPath, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("audit policy: %w", err)
	}
	server.Configure().
		Set("audit-policy-file", policyPath).
		Set("audit-log-path", logPath).
		Set("audit-log-maxsize", auditFileMegabytes)
	return nil
}

// ReadAudit returns the events of an audit log, one for each finished request, in
// the order they finished. A last line that is still being written is left out. A
// long watch has no event before it ends.
func ReadAudit(path string) ([]auditv1.Event, error) {
	var events []auditv1.Event
	_, err := EachAudited(path, 0, func(event *auditv1.Event) { events = append(events, *event) })
	return events, err
}

// EachAudited gives the events of an audit log from an offset on, in bytes, and
// returns the offset of what was not there yet. It is for logs too long to be
// kept in memory, or read again and again; see [ReadAudit].
func EachAudited(path string, from int64, do func(*auditv1.Event)) (next int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return from, fmt.Errorf("audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, fmt.Errorf("audit log: %w", err)
	}
	lines := bufio.NewReader(file)
	for next = from; ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return next, nil
		}
		if err != nil {
			return next, fmt.Errorf("audit log: %w", err)
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return next, fmt.Errorf("audit log at byte %d: %w", next, err)
		}
		do(&event)
		next += int64(len(line))
	}
}

// IsWrite tells whether a request changes objects. A dry run and a request that
// failed count too: they cost the API server the same.
func IsWrite(event auditv1.Event) bool {
	switch event.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Crash is deferred by handlers: it keeps a mistake in a simulator from passing for a fault of what it simulates, for
// the HTTP server would swallow it and close the connection. It lets http.ErrAbortHandler through.
func Crash(simulator string) {
	p := recover()
	if p == nil {
		return
	}
	if err, isError := p.(error); isError && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	report := fmt.Sprintf("%s: %v\n%s", simulator, p, debug.Stack())
	go func() { panic(report) }() // out of the server's reach
	select {}
}

// Pause lets wire time pass, real time as the timeouts of clients are, and reports whether the request is to be
// carried out. A read whose client has gone is not worth an answer; a write goes on, as it would in a real service.
func Pause(req *http.Request, closing <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	gone := req.Context().Done()
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		gone = nil
	}
	select {
	case <-timer.C:
		return true
	case <-gone:
		return false
	case <-closing:
		return false
	}
}

// Hang keeps the client waiting until it gives up.
func Hang(req *http.Request, closing <-chan struct{}) {
	select {
	case <-req.Context().Done():
	case <-closing:
	}
}

// CleanPath takes trailing slashes off: the simulated services treat a path with and without alike.
func CleanPath(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return "/"
}

// Discard satisfies a mux whose handlers answer otherwise.
type Discard struct{}

// Header implements http.ResponseWriter.
func (Discard) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (Discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (Discard) WriteHeader(int) {}

// JSON encodes a document that a simulator has made, with a newline at its end. One that is not JSON is a mistake of
// the simulator's.
func JSON(doc any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		panic(fmt.Sprintf("a document that is not JSON: %v", err))
	}
	return buf.Bytes()
}

// ReplaceFile replaces a file at once, so that a crash leaves the old or the new one.
func ReplaceFile(file string, data []byte) error {
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// APIFaults strikes requests of one manager to the API server: between the two, where a network would.
type APIFaults struct {
	mu     sync.Mutex
	faults []*APIFault
	lag    time.Duration
}

// APIFault strikes writes whose path contains Path and whose body contains Body.
type APIFault struct {
	// Path is a part of the path, such as "/servers/rack1-u07"; the status subresource is another path.
	Path string
	// Exact asks that Path be the end of the path.
	Exact string
	// Body is a part of the body; "" for any.
	Body string
	// Count is how often it strikes; 0: until cleared.
	Count int
	// LoseReply has the API server carry the request out, and only the answer be lost.
	LoseReply bool
	// Then is called after each strike.
	Then func()

	struck int
}

// errStruck is what a struck request ends in: a broken connection.
var errStruck = errors.New("harness: the connection to the API server broke")

// Strike arms a fault. The returned function disarms it and tells how often it struck.
func (f *APIFaults) Strike(fault APIFault) (disarm func() int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	armed := &fault
	f.faults = append(f.faults, armed)
	return func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.faults = slices.DeleteFunc(f.faults, func(other *APIFault) bool { return other == armed })
		return armed.struck
	}
}

// Lag has every watch deliver what it has to tell so much later: caches that are behind. It holds for watches begun from now on.
func (f *APIFaults) Lag(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = by
}

func (f *APIFaults) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet {
			return f.watch(next, request)
		}
		fault, err := f.match(request)
		switch {
		case err != nil:
			return nil, err
		case fault == nil:
			return next.RoundTrip(request)
		}
		if fault.Then != nil {
			defer fault.Then()
		}
		if !fault.LoseReply {
			return nil, errStruck
		}
		response, err := next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		return nil, errors.Join(errStruck, response.Body.Close())
	})
}

func (f *APIFaults) match(request *http.Request) (*APIFault, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) == 0 {
		return nil, nil
	}
	body, err := bodyOf(request)
	if err != nil {
		return nil, err
	}
	for _, fault := range f.faults {
		hit := strings.Contains(request.URL.Path, fault.Path) && strings.HasSuffix(request.URL.Path, fault.Exact) && strings.Contains(body, fault.Body)
		if hit && (fault.Count == 0 || fault.struck < fault.Count) {
			fault.struck++
			return fault, nil
		}
	}
	return nil, nil
}

func bodyOf(request *http.Request) (string, error) {
	if request.GetBody == nil {
		return "", nil
	}
	body, err := request.GetBody()
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(body)
	return string(content), errors.Join(err, body.Close())
}

func (f *APIFaults) watch(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	f.mu.Lock()
	lag := f.lag
	f.mu.Unlock()
	if err != nil || lag == 0 || request.URL.Query().Get("watch") == "" {
		return response, err
	}
	response.Body = delayed(response.Body, lag)
	return response, nil
}

// delayed hands on what it reads, each piece so much after it came.
func delayed(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type piece struct {
		content []byte
		due     time.Time
		err     error
	}
	pieces := make(chan piece, 1<<16)
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := body.Read(buffer)
			pieces <- piece{content: append([]byte(nil), buffer[:n]...), due: time.Now().Add(by), err: err}
			if err != nil {
				return
			}
		}
	}()
	reader, writer := io.Pipe()
	go func() {
		for p := range pieces {
			if p.err == nil {
				timer := time.NewTimer(time.Until(p.due))
				<-timer.C
			}
			if _, err := writer.Write(p.content); err != nil {
				return
			}
			if p.err != nil {
				_ = writer.CloseWithError(p.err)
				return
			}
		}
	}()
	return closers{reader, body}
}

type closers struct {
	*io.PipeReader
	body io.Closer
}

func (c closers) Close() error { return errors.Join(c.PipeReader.Close(), c.body.Close()) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Proxy stands between a client and the services of a stack. The catalogue that it hands on names the proxy in place of the services,
// and so do the links in their answers: whoever logs in through it stays with it. Its faults strike nobody else.
type Proxy struct {
	url     string
	server  *http.Server
	routes  map[string]route // by the first segment of the path
	rewrite *strings.Replacer

	mu     sync.Mutex
	faults []*armed
	calls  []Call
}

type route struct {
	service string // its type
	forward *httputil.ReverseProxy
}

// NewProxy starts a proxy on a port of its own.
func (s *Stack) NewProxy(ctx context.Context) (*Proxy, error) {
	bases, err := s.bases(ctx)
	if err != nil {
		return nil, err
	}
	return newProxy(ctx, bases)
}

func newProxy(ctx context.Context, bases map[string]*url.URL) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{url: "http://" + listener.Addr().String(), routes: map[string]route{}}
	var renamed []string
	for service, base := range bases {
		p.routes[service] = route{service: service, forward: p.forward(service, base)}
		renamed = append(renamed, base.String(), p.url+"/"+service)
	}
	p.rewrite = strings.NewReplacer(renamed...)
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: requestTimeout}
	go func() { _ = p.server.Serve(listener) }() // until Close
	return p, nil
}

// bases are the services' addresses without a path, by type.
func (s *Stack) bases(ctx context.Context) (map[string]*url.URL, error) {
	bases := map[string]*url.URL{}
	for _, service := range []string{TypeIdentity, TypeCompute, TypeNetwork, TypeImage} {
		address, _, err := s.Admin.endpoint(ctx, service)
		if err != nil {
			return nil, err
		}
		parsed, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		bases[service] = &url.URL{Scheme: parsed.Scheme, Host: parsed.Host}
	}
	return bases, nil
}

func (p *Proxy) forward(service string, base *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = base.Scheme, base.Host, base.Host
			r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/"+service)
			r.Out.URL.RawPath = ""
			r.Out.Header.Del("Accept-Encoding") // what is not compressed can be rewritten
		},
		ModifyResponse: p.renameLinks,
		// A service that is down is down for whoever asks through the proxy: a connection that ends without an answer.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// renameLinks has an answer name the proxy wherever it names a service.
func (p *Proxy) renameLinks(response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // it was read to its end
	renamed := p.rewrite.Replace(string(body))
	response.Body = io.NopCloser(strings.NewReader(renamed))
	response.ContentLength = int64(len(renamed))
	response.Header.Set("Content-Length", strconv.Itoa(len(renamed)))
	if location := response.Header.Get("Location"); location != "" {
		response.Header.Set("Location", p.rewrite.Replace(location))
	}
	return nil
}

// Close ends the proxy: connections that wait for it end without an answer.
func (p *Proxy) Close() error {
	return p.server.Close()
}

// AuthURL of Keystone, seen through the proxy.
func (p *Proxy) AuthURL() string {
	return p.url + "/" + TypeIdentity + "/v3"
}

// CloudsYAML is a clouds.yaml with one cloud of that name, reached through the proxy.
func (p *Proxy) CloudsYAML(cloud string, c Credentials) string {
	return fmt.Sprintf(`clouds:
  %s:
    region_name: %s
    auth:
      auth_url: %s
      username: %s
      password: %s
      project_name: %s
      user_domain_name: Default
      project_domain_name: Default
`, cloud, c.Region, p.AuthURL(), c.Username, c.Password, c.Project)
}

// ServeHTTP implements http.Handler: it writes down who asks for what, strikes, or forwards.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	to, ok := p.routes[first]
	if !ok {
		http.NotFound(w, r)
		return
	}
	call := Call{At: time.Now(), Service: to.service, Method: r.Method, Path: "/" + rest, Query: r.URL.Query()}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	call.Action = actionOf(call.Path, body)
	fault := p.struck(call)
	if fault == nil {
		seen := &watched{ResponseWriter: w}
		defer func() {
			call.Code = seen.code
			p.record(call)
		}()
		to.forward.ServeHTTP(seen, r)
		return
	}
	call.Struck = true
	if fault.After {
		// The caller may hang up meanwhile; the service does its work all the same.
		call.Code = unheard(to.forward, r.WithContext(context.WithoutCancel(r.Context())))
	}
	p.record(call)
	fault.answer(w, r)
}

// unheard hands a request on and drops the answer, but for its status; 0 where there was none.
func unheard(forward http.Handler, r *http.Request) int {
	answer := &watched{ResponseWriter: deaf{http.Header{}}}
	defer func() {
		if died := recover(); died != nil {
			if err, ok := died.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(died)
			}
		}
	}()
	forward.ServeHTTP(answer, r)
	return answer.code
}

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// deaf takes an answer that nobody will hear.
type deaf struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d deaf) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (d deaf) Write(text []byte) (int, error) { return len(text), nil }

// WriteHeader implements http.ResponseWriter.
func (d deaf) WriteHeader(int) {}

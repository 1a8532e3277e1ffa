// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// upstream is a service that names itself in its answers and counts what reached it.
func upstream(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	reached := &atomic.Int32{}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		w.Header().Set("Location", server.URL+"/made")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"next": "%s%s?marker=x"}`, server.URL, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server, reached
}

func proxyOf(t *testing.T, address string) *Proxy {
	t.Helper()
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := newProxy(t.Context(), map[string]*url.URL{TypeCompute: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

func ask(ctx context.Context, p *Proxy, method, path, body string) (code int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// Whoever follows a link in an answer stays with the proxy: the next page of a listing is seen and can be struck too.
func TestLinksLeadBackToTheProxy(t *testing.T) {
	service, _ := upstream(t)
	proxy := proxyOf(t, service.URL)
	code, answer, err := ask(t.Context(), proxy, http.MethodGet, "/compute/v2.1/servers/detail?limit=1", "")
	if err != nil || code != http.StatusAccepted {
		t.Fatal(code, err)
	}
	if want := fmt.Sprintf(`{"next": "%s/compute/v2.1/servers/detail?marker=x"}`, proxy.url); answer != want {
		t.Errorf("%s, not %s", answer, want)
	}
	calls := proxy.Calls()
	if len(calls) != 1 || calls[0].Query.Get("limit") != "1" || calls[0].Code != http.StatusAccepted || calls[0].Struck {
		t.Errorf("log: %+v", calls)
	}
}

// A fault strikes the requests it names, as often as it says, before the service or after it.
func TestFaultsOfTheProxy(t *testing.T) {
	const path = "/compute/v2.1/servers"
	for name, c := range map[string]struct {
		fault   Fault
		code    int // 0 for no answer
		reaches bool
	}{
		"the answer is dropped":            {Fault{Drop: true, After: true, Count: 1}, 0, true},
		"the request is dropped":           {Fault{Drop: true, Count: 1}, 0, false},
		"another answer":                   {Fault{Status: 504, After: true, Count: 1}, 504, true},
		"a refusal":                        {Fault{Status: 429, Header: map[string]string{"Retry-After": "7"}, Count: 1}, 429, false},
		"no answer until one gives up":     {Fault{Hang: true, Count: 1}, 0, false},
		"of another method":                {Fault{Method: http.MethodGet, Drop: true, Count: 1}, http.StatusAccepted, true},
		"of another service":               {Fault{Service: TypeNetwork, Drop: true, Count: 1}, http.StatusAccepted, true},
		"of another path":                  {Fault{Path: "/ports", Drop: true, Count: 1}, http.StatusAccepted, true},
		"of this method, service and path": {Fault{Service: TypeCompute, Method: http.MethodPost, Path: "/servers", Status: 503, Count: 1}, 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, reached := upstream(t)
			proxy := proxyOf(t, service.URL)
			disarm := proxy.Strike(c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			code, _, err := ask(ctx, proxy, http.MethodPost, path, "{}")
			if code != c.code || (err == nil) != (c.code != 0) {
				t.Errorf("answered %d, %v", code, err)
			}
			if got := reached.Load() == 1; got != c.reaches {
				t.Errorf("reached the service: %t", got)
			}
			if code, _, err = ask(t.Context(), proxy, http.MethodPost, path, "{}"); err != nil || code != http.StatusAccepted {
				t.Errorf("the one after: %d, %v", code, err)
			}
			struck := 0
			for _, call := range proxy.Calls() {
				if call.Struck {
					struck++
				}
			}
			if told := disarm(); told != struck {
				t.Errorf("%d were struck, the log says %d", told, struck)
			}
		})
	}
}

// A service that is down gives no answer through the proxy either.
func TestADeadServiceIsDeadThroughTheProxy(t *testing.T) {
	service, _ := upstream(t)
	proxy := proxyOf(t, service.URL)
	service.Close()
	for _, fault := range []*Fault{nil, {Drop: true, After: true}} {
		if fault != nil {
			proxy.Strike(*fault)
		}
		if code, _, err := ask(t.Context(), proxy, http.MethodGet, "/compute/v2.1/servers", ""); err == nil {
			t.Errorf("answered %d", code)
		}
	}
}

func TestCallsAreCountedByKind(t *testing.T) {
	service, _ := upstream(t)
	proxy := proxyOf(t, service.URL)
	const server = "/compute/v2.1/servers/0962923a-48d5-4853-9aff-173b6b5773b7"
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, server, ""}, {http.MethodGet, server, ""}, {http.MethodPost, server + "/action", `{"os-stop": null}`},
	} {
		if _, _, err := ask(t.Context(), proxy, c.method, c.path, c.body); err != nil {
			t.Fatal(err)
		}
	}
	want := "    2  GET compute /v2.1/servers/{id} → 202\n    1  POST compute /v2.1/servers/{id}/action os-stop → 202\n"
	if got := proxy.Calls().String(); got != want {
		t.Errorf("counted\n%s, not\n%s", got, want)
	}
	if changes := proxy.Calls().Changes(); len(changes) != 1 || changes[0].Action != "os-stop" {
		t.Errorf("changes: %v", changes)
	}
}

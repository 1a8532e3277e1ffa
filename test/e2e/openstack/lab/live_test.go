// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// stack is the OpenStack under test; without one the test is skipped, and says so.
func stack(t *testing.T) *Stack {
	t.Helper()
	s, err := Find(t.Context())
	if errors.Is(err, ErrNotAsked) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// project is a project that is taken away at the end of the test.
func project(t *testing.T, s *Stack, name string) *Project {
	t.Helper()
	p, err := s.NewProject(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// The lab itself on the real services: a project is empty at first, a creation whose reply the proxy drops is one server all the same,
// Nova remembers what it was asked for once the server is gone, and quotas are the project's own.
func TestTheLabOnTheRealServices(t *testing.T) {
	s := stack(t)
	p := project(t, s, "holdfast-lab")
	ctx := t.Context()
	listing, err := p.List(ctx)
	if err != nil || !listing.Empty() {
		t.Fatalf("%v\n%s", err, listing)
	}
	proxy, err := s.NewProxy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proxy.Close() }()
	through := p.Credentials
	through.AuthURL = proxy.AuthURL()
	user := NewClient(through)

	disarm := proxy.Strike(Fault{Service: TypeCompute, Method: http.MethodPost, Path: "/servers", After: true, Drop: true, Count: 1})
	port := makeServer(t, p, user)
	if struck := disarm(); struck != 1 {
		t.Errorf("%d replies were dropped", struck)
	}
	server := untilActive(t, p)
	if err := user.Do(ctx, TypeCompute, http.MethodPost, "/servers/"+server.ID+"/action", named{"os-stop": nil}, nil); err != nil {
		t.Error(err)
	}
	if err := p.DeleteServer(ctx, server.ID); err != nil {
		t.Error(err)
	}
	expected := Expected{Others: []string{port.ID}}
	if listing, err = p.List(ctx); err != nil {
		t.Fatal(err)
	}
	for _, difference := range expected.Differences(listing) {
		t.Error(difference)
	}
	chronicle, err := p.Chronicle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := chronicle.String(); !strings.HasSuffix(got, "create, stop, delete") {
		t.Error(got)
	}
	if got := len(proxy.Calls().Of(http.MethodPost, "/servers")); got != 2 {
		t.Errorf("%d calls went through the proxy:\n%s", got, proxy.Calls())
	}
	if err := p.SetQuota(ctx, QuotaPorts, 0); err != nil {
		t.Error(err)
	}
	if _, err := p.MakePort(ctx, "too many"); err == nil {
		t.Error("a port beyond the quota")
	}
}

// makeServer asks for a server with a port of ours through user, who gets no answer.
func makeServer(t *testing.T, p *Project, user *Client) Port {
	t.Helper()
	port, err := p.MakePort(t.Context(), "by hand")
	if err != nil {
		t.Fatal(err)
	}
	image, err := p.ImageID(t.Context(), ImageA)
	if err != nil {
		t.Fatal(err)
	}
	flavor, err := p.flavorID(t.Context(), Flavor)
	if err != nil {
		t.Fatal(err)
	}
	wanted := named{"name": "by-hand", "imageRef": image, "flavorRef": flavor, "networks": []named{{"port": port.ID}}}
	if err := user.Do(t.Context(), TypeCompute, http.MethodPost, "/servers", named{"server": wanted}, nil); err == nil {
		t.Error("the reply was not lost")
	}
	return port
}

func untilActive(t *testing.T, p *Project) Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), requestTimeout)
	defer cancel()
	for ticker := time.NewTicker(pollInterval); ; {
		listing, err := p.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(listing.Servers) == 1 && listing.Servers[0].Status == "ACTIVE" {
			t.Logf("\n%s", listing)
			return listing.Servers[0]
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no server got ACTIVE:\n%s", listing)
		case <-ticker.C:
		}
	}
}

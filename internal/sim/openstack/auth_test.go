// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

const tokens = "/identity/v3/auth/tokens"

func TestWhoMayComeIn(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		login obj
		want  int
	}{
		"the user":          {passwordLogin("demo", "secret", "demo"), http.StatusCreated},
		"a wrong password":  {passwordLogin("demo", "wrong", "demo"), http.StatusUnauthorized},
		"nobody":            {passwordLogin("nobody", "secret", "demo"), http.StatusUnauthorized},
		"another's project": {passwordLogin("demo", "secret", "admin"), http.StatusUnauthorized},
		"nothing":           {obj{}, http.StatusBadRequest},
	} {
		if a := b.do("POST", tokens, c.login, c.want); c.want == http.StatusCreated && pick(t, a.Body, "token", "project", "name") != "demo" {
			t.Errorf("%s: %s", name, a.Raw)
		}
	}
	for path, body := range map[string]string{servers: "error", ports: "error", "/identity/v3/auth/catalog": "error", "/compute/v2.1/nowhere": "error"} {
		stranger := *b
		stranger.token = "nonesuch"
		if a := stranger.do("GET", path, nil, http.StatusUnauthorized); a.Body[body] == nil {
			t.Errorf("%s: %s", path, a.Raw)
		}
	}
}

func TestTheCatalogueNamesTheServices(t *testing.T) {
	b := newBench(t)
	types := func() (found []string) {
		for _, entry := range b.get("/identity/v3/auth/catalog")["catalog"].([]any) {
			found = append(found, entry.(obj)["type"].(string))
			for _, e := range entry.(obj)["endpoints"].([]any) {
				if e.(obj)["region"] != "RegionOne" || !strings.HasPrefix(e.(obj)["url"].(string), b.base()) {
					t.Errorf("%v", e)
				}
			}
		}
		return found
	}
	if got := strings.Join(types(), " "); got != "identity compute network image" {
		t.Error(got)
	}
	b.cloud.Behave(func(h *openstack.Behaviour) { h.WithoutServices = []string{"image"} })
	if got := strings.Join(types(), " "); got != "identity compute network" {
		t.Error(got)
	}
}

// Tokens end: by time, all at once, one by one, and with what they were gotten by (B177, B179, B180).
func TestTokensEnd(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"by time":        func(b *bench) { b.clock.Advance(5 * time.Second) },
		"all revoked":    func(b *bench) { b.cloud.RevokeTokens() },
		"a new password": func(b *bench) { b.cloud.SetPassword("demo", "other") },
		"revoked by itself": func(b *bench) {
			b.header.Set("X-Subject-Token", b.token)
			b.do("DELETE", tokens, nil, http.StatusNoContent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *openstack.Config) { c.Behaviour.TokenLife = clock.Duration(5 * time.Second) })
			b.get(servers)
			end(b)
			b.do("GET", servers, nil, http.StatusUnauthorized)
			b.do("GET", ports, nil, http.StatusUnauthorized)
			b.do("GET", "/image/v2/images", nil, http.StatusUnauthorized)
		})
	}
}

// A revocation is by whole seconds: a token that comes right after it is refused as well, and the next one is not.
func TestATokenOfTheSecondOfARevocation(t *testing.T) {
	b := newBench(t)
	b.cloud.Behave(func(h *openstack.Behaviour) { h.RevokeBySecond = true })
	b.cloud.RevokeTokens()
	b.login()
	b.do("GET", servers, nil, http.StatusUnauthorized)
	b.clock.Advance(time.Second)
	b.do("GET", servers, nil, http.StatusUnauthorized)
	b.login()
	b.get(servers)
}

func TestApplicationCredentials(t *testing.T) {
	b := newBench(t)
	user := pick(t, b.do("POST", tokens, passwordLogin("demo", "secret", "demo"), 201).Body, "token", "user", "id").(string)
	path := "/identity/v3/users/" + user + "/application_credentials"
	made := pick(t, b.do("POST", path, obj{"application_credential": obj{"name": "holdfast"}}, http.StatusCreated).Body, "application_credential").(obj)
	b.do("POST", path, obj{"application_credential": obj{"name": "holdfast"}}, http.StatusConflict)
	login := func(secret any) obj {
		return obj{"auth": obj{"identity": obj{
			"methods": []string{"application_credential"}, "application_credential": obj{"id": made["id"], "secret": secret},
		}}}
	}
	b.do("POST", tokens, login("wrong"), http.StatusUnauthorized)
	a := b.do("POST", tokens, login(made["secret"]), http.StatusCreated)
	if pick(t, a.Body, "token", "project", "name") != "demo" || pick(t, a.Body, "token", "application_credential", "id") != made["id"] {
		t.Errorf("%s", a.Raw)
	}
	own := *b
	own.token = a.Header.Get("X-Subject-Token")
	own.get(servers)
	b.do("DELETE", path+"/"+made["id"].(string), nil, http.StatusNoContent)
	own.do("GET", servers, nil, http.StatusUnauthorized)
	b.do("POST", tokens, login(made["secret"]), http.StatusUnauthorized)

	yaml, id := b.cloud.CredentialYAML("other")
	if !strings.Contains(string(yaml), id) || !strings.Contains(string(yaml), "v3applicationcredential") {
		t.Errorf("%s", yaml)
	}
	b.cloud.SetPassword("demo", "new") // a new password ends them all (B179)
	if b.cloud.DeleteCredential(id) {
		t.Error("the credential outlived the password")
	}
}

func TestProjectsDoNotSeeEachOther(t *testing.T) {
	b := newBench(t, withInventory(func(in *openstack.Inventory) {
		in.Users = append(in.Users, openstack.User{Name: "eve", Password: "secret", Project: "eve"})
	}))
	id, port := b.running("web"), b.port()
	eve := *b
	eve.token = b.do("POST", tokens, passwordLogin("eve", "secret", "eve"), 201).Header.Get("X-Subject-Token")
	eve.do("GET", servers+"/"+id, nil, http.StatusNotFound)
	eve.do("DELETE", servers+"/"+id, nil, http.StatusNotFound)
	eve.do("DELETE", ports+"/"+port, nil, http.StatusNotFound)
	if rows := eve.rows(servers, "servers", "id"); len(rows) != 0 {
		t.Errorf("servers %v", rows)
	}
	if rows := eve.rows("/network/v2.0/networks", "networks", "name"); len(rows) != 2 {
		t.Errorf("networks %v, want the shared and the external one", rows)
	}
}

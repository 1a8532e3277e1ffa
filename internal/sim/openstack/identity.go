// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"time"
)

// token is an issued token. Tokens live in memory alone: a restart ends them all.
type token struct {
	ID      string
	Account *account
	Project *project // nil: unscoped
	Method  string
	Cred    *appCredential // where Method is application_credential
	AuditID string
	Issued  time.Time
	Expires time.Time
}

// appCredential is an application credential: a name and secret that a user made for a program.
type appCredential struct {
	ID, Name, Secret string
	User             string // id
	Project          string // id
	Created          time.Time
}

// authRequest is what is posted to /v3/auth/tokens.
type authRequest struct {
	Auth struct {
		Identity struct {
			Methods  []string
			Password struct {
				User userRef `json:"user"`
			}
			Cred struct {
				ID, Name, Secret string
				User             userRef
			} `json:"application_credential"`
			Token struct{ ID string }
		}
		Scope json.RawMessage
	}
}

// userRef names a user.
type userRef struct {
	ID, Name, Password string
	Domain             domainRef
}

// domainRef names a domain. There is one, "Default".
type domainRef struct{ ID, Name string }

func (d domainRef) known() bool { return d.ID == "default" || d.Name == "Default" }

func (c *Cloud) account(ref userRef) *account {
	return find(c.offer.accounts, func(a *account) bool {
		return ref.ID == a.ID || ref.ID == "" && ref.Name == a.Name && ref.Domain.known()
	})
}

// issueToken answers POST /v3/auth/tokens.
func (cl *call) issueToken() *reply {
	var in authRequest
	if json.Unmarshal(cl.body, &in) != nil || len(in.Auth.Identity.Methods) == 0 {
		return cl.refuse(http.StatusBadRequest, "Expecting to find auth in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
	}
	t := cl.identify(&in)
	if t == nil || !cl.scope(t, in.Auth.Scope) {
		return cl.cloud.unauthorized(identity)
	}
	c := cl.cloud
	life := c.behaviour.TokenLife.Std()
	if life <= 0 {
		life = time.Hour
	}
	t.ID, t.AuditID, t.Issued, t.Expires = "gAAAAA"+randomHex(60), randomHex(11), c.now(), c.now().Add(life)
	c.tokens[t.ID] = t
	r := newReply(http.StatusCreated, obj{"token": c.showToken(t)})
	r.header.Set("X-Subject-Token", t.ID)
	return r
}

// identify is a token without scope for who proves to be somebody, else nil.
func (cl *call) identify(in *authRequest) *token {
	c, who := cl.cloud, &in.Auth.Identity
	switch method := who.Methods[0]; method {
	case "password":
		if a := c.account(who.Password.User); a != nil && same(a.Password, who.Password.User.Password) {
			return &token{Account: a, Method: method}
		}
	case "application_credential":
		cred := c.credential(who.Cred.ID, who.Cred.Name, who.Cred.User)
		if cred != nil && same(cred.Secret, who.Cred.Secret) && len(in.Auth.Scope) == 0 {
			return &token{Account: c.account(userRef{ID: cred.User}), Method: method, Cred: cred, Project: c.offer.projects[cred.Project]}
		}
	case "token":
		if old := c.valid(who.Token.ID); old != nil {
			return &token{Account: old.Account, Method: method}
		}
	}
	return nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func (c *Cloud) credential(id, name string, user userRef) *appCredential {
	if id != "" {
		return c.world.Creds[id]
	}
	owner := c.account(user)
	for _, cred := range c.world.Creds {
		if owner != nil && cred.User == owner.ID && cred.Name == name {
			return cred
		}
	}
	return nil
}

// scope gives the token the project that was asked for. It reports whether the user may have it.
func (cl *call) scope(t *token, wanted json.RawMessage) bool {
	if len(wanted) == 0 || string(wanted) == `"unscoped"` || string(wanted) == "null" {
		return true
	}
	var scope struct {
		Project struct {
			ID, Name string
			Domain   domainRef
		}
	}
	if json.Unmarshal(wanted, &scope) != nil {
		return false
	}
	own, want := t.Account.Project, scope.Project
	if want.ID != own.ID && (want.ID != "" || want.Name != own.Name || !want.Domain.known()) {
		return false
	}
	t.Project = own
	return true
}

// valid is the token of that id, nil where there is none that is good.
func (c *Cloud) valid(id string) *token {
	t := c.tokens[id]
	if t == nil || !c.now().Before(t.Expires) {
		return nil
	}
	if t.Cred != nil && c.world.Creds[t.Cred.ID] == nil {
		return nil // the tokens of a deleted application credential go with it
	}
	if c.behaviour.RevokeBySecond && !t.Issued.Truncate(time.Second).After(c.revoked.Truncate(time.Second)) {
		return nil
	}
	return t
}

// authenticate finds out who asks.
func (cl *call) authenticate() *reply {
	cl.token = cl.cloud.valid(cl.r.Header.Get("X-Auth-Token"))
	if cl.token != nil && (cl.token.Project != nil || cl.service == identity) {
		return nil
	}
	return cl.cloud.unauthorized(cl.service)
}

func (cl *call) project() string { return cl.token.Project.ID }

// subject is the token that a request is about.
func (cl *call) subject() *token { return cl.cloud.valid(cl.r.Header.Get("X-Subject-Token")) }

func (cl *call) getToken() *reply {
	t := cl.subject()
	if t == nil {
		return cl.refuse(http.StatusNotFound, "Could not find token.")
	}
	r := ok(obj{"token": cl.cloud.showToken(t)})
	r.header.Set("X-Subject-Token", t.ID)
	return r
}

func (cl *call) revokeToken() *reply {
	t := cl.subject()
	if t == nil {
		return cl.refuse(http.StatusNotFound, "Could not find token.")
	}
	delete(cl.cloud.tokens, t.ID)
	return noContent()
}

// RevokeTokens ends all tokens: each is answered 401 from now on.
func (c *Cloud) RevokeTokens() {
	defer c.enter()()
	clear(c.tokens)
	c.revoked = c.now()
}

// SetPassword changes a user's password. Tokens that it had gotten are revoked, and so are the user's application
// credentials, as Keystone does (B179). It reports whether there is such a user.
func (c *Cloud) SetPassword(user, password string) bool {
	defer c.enter()()
	a := find(c.offer.accounts, func(a *account) bool { return a.Name == user })
	if a == nil {
		return false
	}
	a.Password = password
	c.revoked = c.now()
	for id, t := range c.tokens {
		if t.Account == a {
			delete(c.tokens, id)
		}
	}
	for id, cred := range c.world.Creds {
		if cred.User == a.ID {
			delete(c.world.Creds, id)
		}
	}
	c.markDirty()
	return true
}

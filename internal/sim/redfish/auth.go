// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// account is the one account of a BMC.
type account struct {
	username, password string
	failures           int // in a row
	failed             int // ever
	lockedTill         time.Time
}

type session struct {
	id, token, user string
	created, used   time.Time
}

// sessions are the open sessions of a BMC, oldest first.
type sessions struct {
	open   []*session
	seq    int
	logins int
}

func (s *sessions) clear() { s.open = nil }

// SetCredentials changes the BMC's account, as somebody at its own pages would. Open sessions stay.
func (b *BMC) SetCredentials(username, password string) {
	defer b.rack.enter()()
	b.account.username, b.account.password = username, password
}

// EndSessions ends all sessions, as a busy BMC might.
func (b *BMC) EndSessions() {
	defer b.rack.enter()()
	b.sessions.clear()
}

// AuthStats counts what happened at a BMC's door.
type AuthStats struct {
	Sessions int `json:"sessions"` // open now
	Logins   int `json:"logins"`   // sessions ever opened
	Failures int `json:"failures"` // requests and logins ever refused for wrong credentials
}

// AuthStats returns the counts of sessions and failed logins.
func (b *BMC) AuthStats() AuthStats {
	defer b.rack.enter()()
	b.expireSessions()
	return AuthStats{Sessions: len(b.sessions.open), Logins: b.sessions.logins, Failures: b.account.failed}
}

func (b *BMC) expireSessions() {
	idle := time.Duration(b.profile.SessionIdleSeconds) * time.Second
	if idle <= 0 {
		return
	}
	now := b.rack.now()
	kept := b.sessions.open[:0]
	for _, s := range b.sessions.open {
		if now.Sub(s.used) < idle {
			kept = append(kept, s)
		}
	}
	b.sessions.open = kept
}

// authenticate returns nil for a request that may go on.
func (b *BMC) authenticate(r *http.Request) *reply {
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		b.expireSessions()
		for _, s := range b.sessions.open {
			if s.token == token {
				s.used = b.rack.now()
				return nil
			}
		}
		return unauthorized()
	}
	user, password, ok := r.BasicAuth()
	if !ok || b.profile.NoBasicAuth || !b.login(user, password) {
		return unauthorized()
	}
	return nil
}

// login checks credentials and counts failures; a locked account takes none, not even right ones.
func (b *BMC) login(user, password string) bool {
	now := b.rack.now()
	if now.Before(b.account.lockedTill) {
		b.account.failed++
		return false
	}
	if user == b.account.username && password == b.account.password {
		b.account.failures = 0
		return true
	}
	b.account.failures++
	b.account.failed++
	if limit := b.profile.LockoutAfter; limit > 0 && b.account.failures >= limit {
		b.account.failures = 0
		b.account.lockedTill = now.Add(time.Duration(b.profile.LockoutSeconds) * time.Second)
	}
	return false
}

func (c *call) createSession() *reply {
	b := c.bmc
	var body struct{ UserName, Password *string }
	if bad := c.decode(&body); bad != nil {
		return bad
	}
	if body.UserName == nil || body.Password == nil {
		return redfishError(http.StatusBadRequest, "CreateFailedMissingReqProperties",
			"The create operation failed because the required property UserName or Password was missing.", "UserName")
	}
	if !b.login(*body.UserName, *body.Password) {
		return unauthorized()
	}
	b.expireSessions()
	if len(b.sessions.open) >= b.profile.SessionLimit {
		return redfishError(http.StatusServiceUnavailable, "SessionLimitExceeded",
			"The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation.")
	}
	b.sessions.seq++
	b.sessions.logins++
	now := b.rack.now()
	s := &session{id: strconv.Itoa(b.sessions.seq), token: rand.Text(), user: *body.UserName, created: now, used: now}
	b.sessions.open = append(b.sessions.open, s)
	r := newReply(http.StatusCreated, b.sessionDoc(s))
	r.header.Set("X-Auth-Token", s.token)
	r.header.Set("Location", sessionPath+"/"+s.id)
	return r
}

func (c *call) deleteSession() *reply {
	id := c.value("session")
	for i, s := range c.bmc.sessions.open {
		if s.id == id {
			c.bmc.sessions.open = append(c.bmc.sessions.open[:i:i], c.bmc.sessions.open[i+1:]...)
			return noContent()
		}
	}
	return notFound(c.path)
}

func (c *call) getSession() *reply {
	c.bmc.expireSessions()
	for _, s := range c.bmc.sessions.open {
		if s.id == c.value("session") {
			return c.show(c.bmc.sessionDoc(s))
		}
	}
	return notFound(c.path)
}

func (c *call) getSessions() *reply {
	c.bmc.expireSessions()
	var ids []string
	for _, s := range c.bmc.sessions.open {
		ids = append(ids, s.id)
	}
	return c.showCollection("SessionCollection", "Sessions", ids)
}

const sessionPath = "/redfish/v1/SessionService/Sessions"

func (b *BMC) sessionDoc(s *session) obj {
	return obj{
		"@odata.id": sessionPath + "/" + s.id, "@odata.type": "#Session.v1_7_0.Session", "Id": s.id,
		"Name": "Session " + s.id, "UserName": s.user, "CreatedTime": b.time(s.created),
	}
}

func (c *call) getSessionService() *reply {
	p := &c.bmc.profile
	return c.show(obj{
		"@odata.type": "#SessionService.v1_1_9.SessionService", "Id": "SessionService", "Name": "Session Service",
		"ServiceEnabled": true, "SessionTimeout": p.SessionIdleSeconds, "Status": statusOK(),
		"Sessions": link(sessionPath),
	})
}

// time is how the BMC writes a moment, by its own clock.
func (b *BMC) time(t time.Time) string {
	return t.Add(b.behaviour.ClockSkew.Std()).UTC().Format(time.RFC3339)
}

const accountPath = "/redfish/v1/AccountService"

func (c *call) getAccountService() *reply {
	return c.show(obj{
		"@odata.type": "#AccountService.v1_15_0.AccountService", "Id": "AccountService", "Name": "Account Service",
		"ServiceEnabled": true, "Status": statusOK(), "MaxPasswordLength": 128,
		"AccountLockoutThreshold": c.bmc.profile.LockoutAfter, "AccountLockoutDuration": c.bmc.profile.LockoutSeconds,
		"Accounts": link(accountPath + "/Accounts"), "Roles": link(accountPath + "/Roles"),
	})
}

func (c *call) getAccount() *reply {
	return c.show(obj{
		"@odata.type": "#ManagerAccount.v1_12_0.ManagerAccount", "Id": "1", "Name": "Administrator",
		"UserName": c.bmc.account.username, "Password": nil, "Enabled": true, "RoleId": "Administrator",
		"Locked": c.bmc.rack.now().Before(c.bmc.account.lockedTill), "AccountTypes": []string{"Redfish"},
		"Links": obj{"Role": link(accountPath + "/Roles/Administrator")},
	})
}

func (c *call) patchAccount() *reply {
	var body struct{ Password *string }
	if bad := c.decode(&body); bad != nil {
		return bad
	}
	if body.Password == nil || strings.TrimSpace(*body.Password) == "" {
		return redfishError(http.StatusBadRequest, "PropertyMissing", "The property Password is a required property.", "Password")
	}
	c.bmc.account.password = *body.Password
	return noContent()
}

func (c *call) getRole() *reply {
	return c.show(obj{
		"@odata.type": "#Role.v1_3_2.Role", "Id": "Administrator", "Name": "Administrator", "RoleId": "Administrator",
		"IsPredefined": true, "AssignedPrivileges": []string{"Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"},
	})
}

// String keeps passwords out of anything that prints an account.
func (a account) String() string { return fmt.Sprintf("account %s", a.username) }

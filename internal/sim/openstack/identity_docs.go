// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// microsZ is how Keystone writes times.
const microsZ = "2006-01-02T15:04:05.000000Z"

func defaultDomain() obj { return obj{"id": "default", "name": "Default"} }

// showToken is what Keystone tells about a token.
func (c *Cloud) showToken(t *token) obj {
	doc := obj{
		"methods": []string{t.Method}, "audit_ids": []string{t.AuditID},
		"expires_at": t.Expires.UTC().Format(microsZ), "issued_at": t.Issued.UTC().Format(microsZ),
		"user": obj{"domain": defaultDomain(), "id": t.Account.ID, "name": t.Account.Name, "password_expires_at": nil},
	}
	if t.Project != nil {
		doc["project"] = obj{"domain": defaultDomain(), "id": t.Project.ID, "name": t.Project.Name}
		doc["is_domain"] = false
		doc["roles"] = []obj{{"id": plainID("role", "member"), "name": "member"}, {"id": plainID("role", "reader"), "name": "reader"}}
		doc["catalog"] = c.catalog()
	}
	if t.Cred != nil {
		doc["application_credential"] = obj{"id": t.Cred.ID, "name": t.Cred.Name, "restricted": true}
	}
	return doc
}

// catalog says where the services are.
func (c *Cloud) catalog() []obj {
	services := []struct{ kind, name, path string }{
		{"identity", "keystone", "/identity/v3"}, {"compute", "nova", "/compute/v2.1"},
		{"network", "neutron", "/network"}, {"image", "glance", "/image"},
	}
	entries := []obj{}
	for _, s := range services {
		if slices.Contains(c.behaviour.WithoutServices, s.kind) {
			continue
		}
		var endpoints []obj
		for _, side := range []string{"public", "internal", "admin"} {
			endpoints = append(endpoints, obj{
				"id": plainID("endpoint", s.kind+side), "interface": side, "region": c.offer.region, "region_id": c.offer.region, "url": c.url(s.path),
			})
		}
		entries = append(entries, obj{"id": plainID("service", s.kind), "type": s.kind, "name": s.name, "endpoints": endpoints})
	}
	return entries
}

func (cl *call) getCatalog() *reply {
	return ok(obj{"catalog": cl.cloud.catalog(), "links": obj{"self": cl.cloud.url("/identity/v3/auth/catalog")}})
}

func (cl *call) identityVersion() obj {
	return obj{
		"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
		"links":       []obj{{"rel": "self", "href": cl.cloud.url("/identity/v3/")}},
		"media-types": []obj{{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
	}
}

func (cl *call) getIdentityVersions() *reply {
	r := newReply(http.StatusMultipleChoices, obj{"versions": obj{"values": []obj{cl.identityVersion()}}})
	r.header.Set("Location", cl.cloud.url("/identity/v3/"))
	return r
}

func (cl *call) getIdentityVersion() *reply { return ok(obj{"version": cl.identityVersion()}) }

func (cl *call) showProject(p *project) obj {
	return obj{
		"id": p.ID, "name": p.Name, "domain_id": "default", "description": "", "enabled": true, "parent_id": "default", "is_domain": false,
		"tags": []string{}, "options": obj{}, "links": obj{"self": cl.cloud.url("/identity/v3/projects/" + p.ID)},
	}
}

// getOwnProjects answers GET /v3/auth/projects: those that the token could be scoped to.
func (cl *call) getOwnProjects() *reply {
	return ok(obj{
		"projects": []obj{cl.showProject(cl.token.Account.Project)},
		"links":    obj{"next": nil, "previous": nil, "self": cl.cloud.url("/identity/v3/auth/projects")},
	})
}

func (cl *call) getProject() *reply {
	p := cl.cloud.offer.projects[cl.value("project")]
	if p == nil || p != cl.token.Project {
		return cl.refuse(http.StatusForbidden, "You are not authorized to perform the requested action: identity:get_project.")
	}
	return ok(obj{"project": cl.showProject(p)})
}

// ownCredentials are the application credentials of the user in the path, or a refusal: nobody sees another's.
func (cl *call) ownCredentials() ([]*appCredential, *reply) {
	if cl.value("user") != cl.token.Account.ID {
		return nil, cl.refuse(http.StatusForbidden, "You are not authorized to perform the requested action.")
	}
	mine := slices.DeleteFunc(slices.Collect(maps.Values(cl.cloud.world.Creds)), func(cred *appCredential) bool {
		return cred.User != cl.token.Account.ID
	})
	slices.SortFunc(mine, func(a, b *appCredential) int { return cmp.Compare(a.Name, b.Name) })
	return mine, nil
}

func (cl *call) showCredential(cred *appCredential) obj {
	return obj{
		"id": cred.ID, "name": cred.Name, "project_id": cred.Project, "user_id": cred.User, "description": nil, "expires_at": nil,
		"unrestricted": false, "system": nil, "roles": []obj{{"id": plainID("role", "member"), "name": "member", "domain_id": nil}},
		"links": obj{"self": cl.cloud.url("/identity/v3/users/" + cred.User + "/application_credentials/" + cred.ID)},
	}
}

func (cl *call) getCredentials() *reply {
	mine, bad := cl.ownCredentials()
	if bad != nil {
		return bad
	}
	rows := []obj{}
	for _, cred := range mine {
		if name := cl.query.Get("name"); name == "" || name == cred.Name {
			rows = append(rows, cl.showCredential(cred))
		}
	}
	return ok(obj{"application_credentials": rows, "links": obj{"next": nil, "previous": nil, "self": cl.cloud.url(cl.r.URL.Path)}})
}

func (cl *call) createCredential() *reply {
	var in struct {
		Cred struct{ Name, Secret string } `json:"application_credential"`
	}
	mine, bad := cl.ownCredentials()
	if bad != nil {
		return bad
	}
	if json.Unmarshal(cl.body, &in) != nil || in.Cred.Name == "" {
		return cl.refuse(http.StatusBadRequest, "'name' is a required property")
	}
	if slices.ContainsFunc(mine, func(cred *appCredential) bool { return cred.Name == in.Cred.Name }) {
		return cl.refuse(http.StatusConflict, "Conflict occurred attempting to store application_credential - Duplicate entry found with name %s.", in.Cred.Name)
	}
	cred := cl.cloud.addCredential(cl.token.Account, in.Cred.Name, in.Cred.Secret)
	doc := cl.showCredential(cred)
	doc["secret"] = cred.Secret
	return newReply(http.StatusCreated, obj{"application_credential": doc})
}

func (c *Cloud) addCredential(owner *account, name, secret string) *appCredential {
	cred := &appCredential{
		ID: randomHex(16), Name: name, Secret: orElse(secret, randomHex(32)), User: owner.ID, Project: owner.Project.ID, Created: c.now(),
	}
	c.world.Creds[cred.ID] = cred
	c.markDirty()
	return cred
}

// credentialOf finds the credential of the path among the user's own.
func (cl *call) credentialOf() (*appCredential, *reply) {
	mine, bad := cl.ownCredentials()
	if bad != nil {
		return nil, bad
	}
	cred := find(mine, func(cred *appCredential) bool { return cred.ID == cl.value("credential") })
	if cred == nil {
		return nil, cl.refuse(http.StatusNotFound, "Could not find Application Credential: %s.", cl.value("credential"))
	}
	return cred, nil
}

func (cl *call) getCredential() *reply {
	cred, bad := cl.credentialOf()
	if bad != nil {
		return bad
	}
	return ok(obj{"application_credential": cl.showCredential(cred)})
}

func (cl *call) deleteCredential() *reply {
	cred, bad := cl.credentialOf()
	if bad != nil {
		return bad
	}
	delete(cl.cloud.world.Creds, cred.ID)
	cl.cloud.markDirty()
	return noContent()
}

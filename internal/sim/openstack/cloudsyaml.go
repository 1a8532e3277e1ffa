// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"strings"
)

// CloudName is the name of the cloud in what [Cloud.CloudsYAML] and [Cloud.CredentialYAML] return.
const CloudName = "sim"

// CloudsYAML is a clouds.yaml by which the first user of the inventory comes in with its password.
func (c *Cloud) CloudsYAML() []byte {
	defer c.enter()()
	a := c.offer.accounts[0]
	return c.cloudsYAML("password", [][2]string{
		{"username", a.Name}, {"password", a.Password}, {"project_name", a.Project.Name}, {"user_domain_name", "Default"}, {"project_domain_name", "Default"},
	})
}

// CredentialYAML makes an application credential of that name for the first user of the inventory, and returns a
// clouds.yaml that uses it, and its id.
func (c *Cloud) CredentialYAML(name string) (yaml []byte, id string) {
	defer c.enter()()
	cred := c.addCredential(c.offer.accounts[0], name, "")
	return c.cloudsYAML("v3applicationcredential", [][2]string{
		{"application_credential_id", cred.ID}, {"application_credential_secret", cred.Secret},
	}), cred.ID
}

// DeleteCredential deletes an application credential; its tokens go with it. It reports whether there was one.
func (c *Cloud) DeleteCredential(id string) bool {
	defer c.enter()()
	found := c.world.Creds[id] != nil
	delete(c.world.Creds, id)
	c.markDirty()
	return found
}

// cloudsYAML writes a clouds.yaml with these keys and values under auth.
func (c *Cloud) cloudsYAML(kind string, auth [][2]string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "clouds:\n  %s:\n    region_name: %s\n    interface: public\n    identity_api_version: 3\n    auth_type: %s\n    auth:\n", CloudName, c.offer.region, kind)
	fmt.Fprintf(&b, "      auth_url: %s\n", c.AuthURL())
	for _, entry := range auth {
		fmt.Fprintf(&b, "      %s: %q\n", entry[0], entry[1])
	}
	return []byte(b.String())
}

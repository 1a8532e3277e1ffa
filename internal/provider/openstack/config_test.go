// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const passwordEntry = `
clouds:
  one:
    auth:
      auth_url: https://keystone.example:5000/v3
      username: robot
      password: canary-password
      project_name: web
      user_domain_name: Default
      project_domain_name: Default
    region_name: north
    interface: internal
    cacert: /home/somebody/ca.pem
`

// TestEntriesOfCloudsYAML: an entry says all, and nothing around the process adds to it.
func TestEntriesOfCloudsYAML(t *testing.T) {
	t.Setenv("OS_REGION_NAME", "from-the-environment")
	t.Setenv("OS_INTERFACE", "admin")
	t.Setenv("OS_CLOUD", "another")
	e, err := parseEntry(Endpoint{CloudName: "one"}, []byte(passwordEntry))
	if err != nil {
		t.Fatal(err)
	}
	if e.services.Region != "north" || e.services.Availability != gophercloud.AvailabilityInternal || e.insecure || !e.auth.AllowReauth {
		t.Errorf("services %+v, insecure %v, renewal %v", e.services, e.insecure, e.auth.AllowReauth)
	}
	if e.auth.Username != "robot" || e.auth.Password != "canary-password" || e.auth.Scope.ProjectName != "web" || e.auth.Scope.DomainName != "Default" {
		t.Error("the login is not what the entry says")
	}
	if e, err = parseEntry(Endpoint{CloudName: "one", Region: "south"}, []byte(passwordEntry)); err != nil || e.services.Region != "south" {
		t.Errorf("region %q, %v; want the one of the object", e.services.Region, err)
	}
	open, err := parseEntry(Endpoint{CloudName: "one"}, []byte(passwordEntry+"    verify: false\n"))
	if err != nil || !open.insecure {
		t.Errorf("verify: false gives insecure %v, %v", open.insecure, err)
	}
	if _, err := parseEntry(Endpoint{CloudName: "c"}, []byte(`{"clouds": {"c": {"auth_type": "v3applicationcredential", "auth": {
		"auth_url": "http://keystone.example", "application_credential_id": "id", "application_credential_secret": "canary-password"}}}}`)); err != nil {
		t.Errorf("an application credential: %v", err)
	}
}

// TestEntriesThatCannotLogIn are refused at once, in words that hold nothing of the secret (B177).
func TestEntriesThatCannotLogIn(t *testing.T) {
	for name, yaml := range map[string]string{
		"no YAML":            "clouds: [",
		"empty":              "",
		"another cloud":      strings.Replace(passwordEntry, "one:", "two:", 1),
		"no auth":            "clouds: {one: {region_name: north}}",
		"no password":        strings.Replace(passwordEntry, "password: canary-password", "password: ''", 1),
		"no user":            strings.Replace(passwordEntry, "username: robot", "username: ''", 1),
		"no user domain":     strings.Replace(passwordEntry, "user_domain_name: Default", "user_domain_name: ''", 1),
		"no project":         strings.Replace(passwordEntry, "project_name: web", "project_name: ''", 1),
		"no project domain":  strings.Replace(passwordEntry, "project_domain_name: Default", "project_domain_name: ''", 1),
		"a token":            strings.Replace(passwordEntry, "username: robot", "token: canary-token", 1),
		"a profile":          passwordEntry + "    profile: vendor\n",
		"no address":         strings.Replace(passwordEntry, "https://keystone.example:5000/v3", "canary-password", 1),
		"user in an address": strings.Replace(passwordEntry, "https://keystone", "https://canary@keystone", 1),
	} {
		_, err := parseEntry(Endpoint{CloudName: "one"}, []byte(yaml))
		if class := provider.ClassOf(err); class != provider.Denied && class != provider.Terminal {
			t.Errorf("%s: %v, want it refused", name, err)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error shows a secret: %v", name, err)
		}
	}
}

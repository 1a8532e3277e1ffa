// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"go.yaml.in/yaml/v3"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// entry is what one cloud of a clouds.yaml says.
type entry struct {
	auth     gophercloud.AuthOptions
	services gophercloud.EndpointOpts
	insecure bool // verify: false, an explicit opt-out
}

// parseEntry reads one entry of a clouds.yaml, and nothing else: no file that it names and no variable of the environment.
// Errors quote nothing of it but the name of the entry.
func parseEntry(ep Endpoint, cloudsYAML []byte) (entry, error) {
	var file clouds.Clouds
	if err := yaml.Unmarshal(cloudsYAML, &file); err != nil {
		return entry{}, missing("clouds.yaml is no YAML, or not of the form that it has")
	}
	cloud, found := file.Clouds[ep.CloudName]
	if !found {
		return entry{}, missing("clouds.yaml has no cloud of this name")
	}
	if cloud.AuthInfo == nil {
		return entry{}, missing("the entry of clouds.yaml has no auth section")
	}
	if cloud.Cloud != "" || cloud.Profile != "" {
		return entry{}, missing("the entry of clouds.yaml refers to a vendor's profile; write out what it says")
	}
	insecure := cloud.Verify != nil && !*cloud.Verify
	cloud.CACertFile, cloud.ClientCertFile, cloud.ClientKeyFile = "", "", "" // on the machine that it was written on
	plain, err := json.Marshal(clouds.Clouds{Clouds: map[string]clouds.Cloud{ep.CloudName: cloud}})
	if err != nil {
		return entry{}, missing("the entry of clouds.yaml cannot be read")
	}
	// Each option that a variable of the environment could stand in for is given; an empty one falls back to the entry.
	auth, services, _, err := clouds.Parse(clouds.WithCloudsYAML(bytes.NewReader(plain)), clouds.WithCloudName(ep.CloudName),
		clouds.WithRegion(ep.Region), clouds.WithEndpointType(""), clouds.WithCACertPath(""), clouds.WithInsecure(insecure))
	if err != nil {
		return entry{}, missing("the entry of clouds.yaml cannot be read")
	}
	auth.AllowReauth = true
	if err := checkAuth(&auth); err != nil {
		return entry{}, err
	}
	return entry{auth: auth, services: services, insecure: insecure}, nil
}

// checkAuth refuses what could not log in, and what could log in only once (B177).
func checkAuth(auth *gophercloud.AuthOptions) error {
	if at, err := url.Parse(auth.IdentityEndpoint); err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || at.User != nil {
		return endpointInvalid("auth_url of clouds.yaml is no http or https address")
	}
	if auth.TokenID != "" {
		return missing("a token cannot be renewed: clouds.yaml must have a password or an application credential")
	}
	if _, err := auth.ToTokenV3CreateMap(nil); err != nil {
		return missing("the entry of clouds.yaml lacks a part of what a login needs: user, domain and password, or an application credential")
	}
	application := auth.ApplicationCredentialID != "" || auth.ApplicationCredentialName != ""
	if !application && (auth.Scope == nil || (auth.Scope.ProjectID == "" && auth.Scope.ProjectName == "")) {
		return missing("the entry of clouds.yaml names no project")
	}
	if _, err := auth.ToTokenV3ScopeMap(); err != nil {
		return missing("the entry of clouds.yaml names its project without the project's domain")
	}
	return nil
}

func missing(message string) *provider.Error {
	return &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsMissing, Message: message}
}

func endpointInvalid(message string) *provider.Error {
	return &provider.Error{Class: provider.Terminal, Reason: provider.ReasonEndpointInvalid, Message: message}
}

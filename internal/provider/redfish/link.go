// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/url"
	"path"
	"strings"
)

// servicePath is where every Redfish service has its root.
const servicePath = "/redfish/v1/"

// base is where a service lives. Comparable: equal bases are the same service.
type base struct {
	scheme string
	host   string
	prefix string // what stands before /redfish, without trailing slash (B134)
}

// parseEndpoint reads an endpoint as a person writes it: with or without /redfish/v1, with or without a trailing slash.
func parseEndpoint(raw string) (base, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return base{}, endpointInvalid("the endpoint is not a URL") // the cause would quote it
	case u.Scheme != "http" && u.Scheme != "https":
		return base{}, endpointInvalid("the endpoint is not an http or https URL")
	case u.Hostname() == "" || u.Opaque != "":
		return base{}, endpointInvalid("the endpoint names no host")
	case u.User != nil:
		return base{}, endpointInvalid("the endpoint holds user information; credentials belong into the secret")
	case u.RawQuery != "" || u.Fragment != "":
		return base{}, endpointInvalid("the endpoint has a query or a fragment")
	}
	prefix, _, _ := strings.Cut(u.EscapedPath(), "/redfish")
	return base{scheme: u.Scheme, host: strings.ToLower(u.Host), prefix: strings.TrimRight(prefix, "/")}, nil
}

// root is the path of the service root.
func (b base) root() string { return b.prefix + servicePath }

// url is where a path of this service is asked for. The path comes from root or resolve.
func (b base) url(p string) string { return b.scheme + "://" + b.host + p }

// resolve turns a link found in the document at path from into a path of this service: absolute, relative, with or without
// host, prefix or fragment. A link's host is never followed, only its path: requests go to the endpoint alone. "" for what is no link.
func (b base) resolve(from, link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || (u.Path == "" && u.RawQuery == "") {
		return ""
	}
	p := u.EscapedPath()
	switch {
	case p == "": // a query alone: the next page of this very collection
		p = pathOnly(from)
	case !strings.HasPrefix(p, "/"):
		p = path.Join(path.Dir(strings.TrimRight(pathOnly(from), "/")+"/x"), p)
	}
	if b.prefix != "" && strings.HasPrefix(p, "/redfish") {
		p = b.prefix + p
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

func pathOnly(p string) string {
	p, _, _ = strings.Cut(p, "?")
	return p
}

// samePath compares paths as services do: without regard to a trailing slash.
func samePath(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// lastSegment is the last part of a path, unescaped: by habit a resource's Id.
func lastSegment(p string) string {
	s := path.Base(strings.TrimRight(pathOnly(p), "/"))
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// sameHost says whether a redirect stays with this service.
func (b *BMC) sameHost(location string) bool {
	u, err := url.Parse(location)
	return err == nil && (u.Host == "" || (u.Scheme == b.base.scheme && strings.EqualFold(u.Host, b.base.host)))
}

// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Credentials of one user in one project, both in the domain Default.
type Credentials struct {
	// AuthURL of Keystone, with its version: http://host/v3.
	AuthURL string
	Region  string

	Username, Password string
	Project            string
}

// Client asks the services of a cloud. It is safe for concurrent use.
type Client struct {
	credentials Credentials
	http        *http.Client

	mu        sync.Mutex
	token     string
	endpoints map[string]string // by type of service
}

// Types of services, as the catalogue names them.
const (
	TypeIdentity = "identity"
	TypeCompute  = "compute"
	TypeNetwork  = "network"
	TypeImage    = "image"
)

// requestTimeout is far above what a request takes on a loaded machine: some wait for a hypervisor.
const requestTimeout = 3 * time.Minute

// novaMicroversion of all requests to Nova: tags, the fault and the flavor's name are in its answers.
const novaMicroversion = "2.90"

// NewClient makes a client, which logs in at its first request.
func NewClient(credentials Credentials) *Client {
	return &Client{credentials: credentials, http: &http.Client{Timeout: requestTimeout}}
}

// StatusError is an answer that is no success.
type StatusError struct {
	Method, URL string
	Code        int
	Body        string
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %d: %s", e.Method, e.URL, e.Code, e.Body)
}

// IsNotFound says that the service answered 404.
func IsNotFound(err error) bool { return isStatus(err, http.StatusNotFound) }

// IsUnauthorized says that the service answered 401.
func IsUnauthorized(err error) bool { return isStatus(err, http.StatusUnauthorized) }

func isStatus(err error, code int) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == code
}

type named map[string]any

func (c *Client) login(ctx context.Context) error {
	domain := named{"id": "default"}
	request := named{"auth": named{
		"identity": named{
			"methods":  []string{"password"},
			"password": named{"user": named{"name": c.credentials.Username, "domain": domain, "password": c.credentials.Password}},
		},
		"scope": named{"project": named{"name": c.credentials.Project, "domain": domain}},
	}}
	var answer struct {
		Token struct {
			Catalog []catalogEntry `json:"catalog"`
		} `json:"token"`
	}
	header, err := c.send(ctx, http.MethodPost, c.credentials.AuthURL+"/auth/tokens", "", request, &answer)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.endpoints = header.Get("X-Subject-Token"), map[string]string{}
	for _, entry := range answer.Token.Catalog {
		if url, ok := entry.public(c.credentials.Region); ok {
			c.endpoints[entry.Type] = url
		}
	}
	return nil
}

// catalogEntry is a service of Keystone's catalogue.
type catalogEntry struct {
	Type      string `json:"type"`
	Endpoints []struct {
		Interface string `json:"interface"`
		Region    string `json:"region_id"`
		URL       string `json:"url"`
	} `json:"endpoints"`
}

func (e catalogEntry) public(region string) (string, bool) {
	for _, endpoint := range e.Endpoints {
		if endpoint.Interface == "public" && (region == "" || endpoint.Region == region) {
			return endpoint.URL, true
		}
	}
	return "", false
}

// endpoint is where a type of service is, and the token to use there.
func (c *Client) endpoint(ctx context.Context, service string) (url, token string, err error) {
	c.mu.Lock()
	url, token = c.endpoints[service], c.token
	c.mu.Unlock()
	if token == "" {
		if err := c.login(ctx); err != nil {
			return "", "", err
		}
		return c.endpoint(ctx, service)
	}
	if service == TypeIdentity {
		return c.credentials.AuthURL, token, nil // the catalogue's may lack its version
	}
	if url == "" {
		return "", "", fmt.Errorf("the catalogue has no service of type %q", service)
	}
	switch service {
	case TypeNetwork:
		url += "/v2.0"
	case TypeImage:
		url += "/v2"
	}
	return url, token, nil
}

// Do asks a service: path begins with a slash and follows the version. A nil in sends no body, a nil out drops the answer's. A token
// that is refused is replaced once.
func (c *Client) Do(ctx context.Context, service, method, path string, in, out any) error {
	url, token, err := c.endpoint(ctx, service)
	if err != nil {
		return err
	}
	_, err = c.send(ctx, method, url+path, token, in, out)
	if !IsUnauthorized(err) {
		return err
	}
	if err := c.login(ctx); err != nil {
		return err
	}
	if url, token, err = c.endpoint(ctx, service); err != nil {
		return err
	}
	_, err = c.send(ctx, method, url+path, token, in, out)
	return err
}

func (c *Client) send(ctx context.Context, method, url, token string, in, out any) (http.Header, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body) //nolint:gosec // the cloud under test says where its services are
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("OpenStack-API-Version", "compute "+novaMicroversion)
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := c.http.Do(request) //nolint:gosec // as above
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, &StatusError{Method: method, URL: url, Code: response.StatusCode, Body: string(text)}
	}
	if out == nil {
		return response.Header, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	return response.Header, nil
}

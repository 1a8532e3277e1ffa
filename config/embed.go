// SPDX-License-Identifier: Apache-2.0

// Package config holds the manifests that install Holdfast, so that dev mode and the tests install exactly what users do. The
// folder is a kustomization too: kubectl apply -k config/default.
package config

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing/fstest"
)

// The user names of the service accounts, as the manifests write them.
const (
	OperatorUsername = "system:serviceaccount:holdfast-system:holdfast"
	MonitorUsername  = "system:serviceaccount:holdfast-system:holdfast-monitor"
)

// ServiceAccountGroups are the groups of both, for those who impersonate them.
func ServiceAccountGroups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:holdfast-system", "system:authenticated"}
}

//go:embed crd/*.yaml rbac/*.yaml policy/*.yaml components/monitor/*.yaml
var files embed.FS

// CRDs are the custom resource definitions.
func CRDs() fs.FS { return folder("crd") }

// RBAC is the operator's namespace, its service account and its rights, and the roles for people.
func RBAC() fs.FS { return folder("rbac") }

// Policies are the admission policies that every installation needs, knowing the operator by the given user names instead of
// OperatorUsername; without any, as installed. It fails on a user name that cannot be written as a literal.
func Policies(operatorUsernames ...string) (fs.FS, error) {
	const file = "policy/memory.yaml"
	return render(file, identity{OperatorUsername, operatorUsernames})
}

// StatusRegionPolicies are the policies that hold operator and monitor each to its region of status (P7). They are for
// installations where the two run under two user names, and deny a single process its own region.
func StatusRegionPolicies(operatorUsername, monitorUsername string) (fs.FS, error) {
	const file = "components/monitor/policy.yaml"
	return render(file,
		identity{OperatorUsername, []string{operatorUsername}},
		identity{MonitorUsername, []string{monitorUsername}})
}

// identity says which users stand where the manifests name one.
type identity struct {
	written string
	users   []string
}

// literal is what can stand between quotes in CEL and in YAML without an escape.
var literal = regexp.MustCompile(`^[A-Za-z0-9@:._/=+ -]+$`)

func render(file string, identities ...identity) (fs.FS, error) {
	content, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	text := string(content)
	for _, identity := range identities {
		if len(identity.users) == 0 {
			continue
		}
		for _, user := range identity.users {
			if !literal.MatchString(user) {
				return nil, fmt.Errorf("user name %q cannot be written into %s", user, file)
			}
		}
		written := "['" + identity.written + "']"
		if !strings.Contains(text, written) {
			return nil, fmt.Errorf("%s does not name %s", file, identity.written)
		}
		text = strings.ReplaceAll(text, written, "['"+strings.Join(identity.users, "', '")+"']")
	}
	return fstest.MapFS{"policies.yaml": {Data: []byte(text)}}, nil
}

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // only a malformed name, and these are literals
	}
	return sub
}

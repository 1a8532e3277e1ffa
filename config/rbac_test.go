// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/config"
)

var update = flag.Bool("update", false, "write the snapshot of the rules anew")

const snapshot = "testdata/rules.txt"

// B248: whoever widens a right sees it in a diff.
func TestRulesAreAsReviewed(t *testing.T) {
	var lines []string
	for _, role := range roles(t) {
		for _, rule := range role.Rules {
			lines = append(lines, describe(role, rule))
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(snapshot, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("rules differ from %s (if that is meant: go test ./config -update):\n%s", snapshot, diff)
	}
}

// B248: no wildcard anywhere, no secrets cluster-wide for anybody, no right to rights, no deletion by the operator but of Servers: the
// one that a class made goes with its claim.
func TestRightsAreLeast(t *testing.T) {
	granted := map[string]bool{"holdfast": true, "holdfast-monitor": true}
	for _, role := range roles(t) {
		for _, rule := range role.Rules {
			line := describe(role, rule)
			if strings.Contains(line, "*") {
				t.Errorf("wildcard: %s", line)
			}
			if len(rule.NonResourceURLs) > 0 || slices.Contains(rule.APIGroups, rbacv1.GroupName) {
				t.Errorf("a right that no part needs: %s", line)
			}
			if slices.Contains(rule.Resources, "secrets") && role.Kind == "ClusterRole" && granted[role.Name] {
				t.Errorf("secrets of the whole cluster: %s", line)
			}
			deletes := slices.ContainsFunc(rule.Verbs, func(verb string) bool { return strings.HasPrefix(verb, "delete") })
			if granted[role.Name] && deletes && line != "ClusterRole holdfast | holdfast.dev | servers | create,delete" {
				t.Errorf("the operator deletes nothing but Servers: %s", line)
			}
		}
	}
}

// Nothing is granted but to the service accounts, and of the roles for people none.
func TestOnlyServiceAccountsAreBound(t *testing.T) {
	for _, content := range documents(t) {
		binding := &rbacv1.RoleBinding{}
		if err := yaml.Unmarshal(content, binding); err != nil || !strings.HasSuffix(binding.Kind, "Binding") || binding.APIVersion != rbacv1.SchemeGroupVersion.String() {
			continue
		}
		for _, subject := range binding.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind || subject.Name != binding.RoleRef.Name {
				t.Errorf("%s %s grants %s to %s %s", binding.Kind, binding.Name, binding.RoleRef.Name, subject.Kind, subject.Name)
			}
		}
	}
}

func describe(role *rbacv1.Role, rule rbacv1.PolicyRule) string {
	names := ""
	if len(rule.ResourceNames) > 0 {
		names = fmt.Sprint(rule.ResourceNames)
	}
	return fmt.Sprintf("%s %s | %s | %s%s | %s", role.Kind, role.Name,
		strings.Join(rule.APIGroups, ","), strings.Join(rule.Resources, ","), names, strings.Join(rule.Verbs, ","))
}

// roles are all Roles and ClusterRoles, which have the same fields.
func roles(t *testing.T) []*rbacv1.Role {
	t.Helper()
	var all []*rbacv1.Role
	for _, content := range documents(t) {
		role := &rbacv1.Role{}
		if err := yaml.Unmarshal(content, role); err == nil && (role.Kind == "Role" || role.Kind == "ClusterRole") {
			all = append(all, role)
		}
	}
	if len(all) == 0 {
		t.Fatal("no roles")
	}
	return all
}

// documents are those of the manifests of rights, the monitor's included.
func documents(t *testing.T) [][]byte {
	t.Helper()
	var all [][]byte
	for folder, files := range map[string]fs.FS{"rbac": config.RBAC(), "monitor": os.DirFS("components/monitor")} {
		names, err := fs.Glob(files, "*.yaml")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", folder, names, err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, split(t, content)...)
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

func split(t *testing.T, content []byte) [][]byte {
	t.Helper()
	var documents [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, document)
	}
}

// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// importRule says what packages may not reach through our own code.
type importRule struct {
	why string
	// of names packages of ours, except takes some out.
	of, except []string
	// forbid names packages that must not be reached.
	forbid []string
	// allow, when set, names all that may be reached; the standard library may
	// always, unless it is forbidden.
	allow []string
	// boundary names packages of ours that may be imported and are not looked into.
	boundary []string
}

// effects are the packages through which code reaches the world: a function that
// only decides needs none of them.
var effects = []string{
	"context", "log/...", "net/...", "os/...", "syscall", "math/rand/...", "crypto/rand",
	"github.com/go-logr/...", "k8s.io/client-go/...", "k8s.io/klog/...", "k8s.io/utils/clock/...",
	"sigs.k8s.io/controller-runtime/...", "github.com/prometheus/...", "github.com/stmcginnis/...", "github.com/gophercloud/...",
}

var ours = module + "/"

var importRules = []importRule{
	{
		why: "deciding is pure: no client, context, clock or logger (P5)",
		of:  []string{"internal/lifecycle/..."},
		forbid: append([]string{
			ours + "internal/reconciler/...", ours + "internal/monitor/...", ours + "internal/claim/...",
			ours + "internal/devmode/...", ours + "internal/sim/...", ours + "status/...",
		}, effects...),
		// The contracts of acting calls mention a context; a decision names calls, and makes none.
		boundary: []string{"internal/provider"},
	},
	{
		why: "what machines and VMs have in common knows neither of them",
		of:  []string{"internal/lifecycle/rules"},
		forbid: []string{
			ours + "internal/lifecycle/metal/...", ours + "internal/lifecycle/virtual/...", ours + "internal/lifecycle/server/...",
		},
	},
	{
		why:    "deciding about a machine knows nothing of VMs: package server chooses between the two",
		of:     []string{"internal/lifecycle/metal/..."},
		forbid: []string{ours + "internal/lifecycle/virtual/...", ours + "internal/lifecycle/server/..."},
	},
	{
		why:    "deciding about a VM knows nothing of machines: package server chooses between the two",
		of:     []string{"internal/lifecycle/virtual/..."},
		forbid: []string{ours + "internal/lifecycle/metal/...", ours + "internal/lifecycle/server/..."},
	},
	{
		why:    "user data go in and come out as bytes: no Kubernetes object, clock, network or chance",
		of:     []string{"internal/cloudinit/..."},
		forbid: effects,
		allow: []string{
			"github.com/coreos/ignition/v2/...", "github.com/coreos/vcontext/...", "golang.org/x/crypto/ssh", "sigs.k8s.io/yaml",
		},
	},
	{
		why:      "ranking and binding are pure (P5); their reconciler is in claim/controller",
		of:       []string{"internal/claim/..."},
		except:   []string{"internal/claim/controller/..."},
		forbid:   append([]string{ours + "internal/reconciler/...", ours + "internal/monitor/...", ours + "status/..."}, effects...),
		boundary: []string{"internal/provider"},
	},
	{
		why:    "providers speak facts and errors, never Kubernetes objects",
		of:     []string{"internal/provider/..."},
		forbid: []string{"k8s.io/...", "sigs.k8s.io/...", "github.com/go-logr/..."},
		allow: []string{
			ours + "internal/provider/...", "github.com/stmcginnis/gofish/...", "github.com/gophercloud/...",
			"github.com/prometheus/client_golang/...", "github.com/google/uuid", "golang.org/x/...",
			"go.yaml.in/yaml/v3", // clouds.yaml
		},
	},
	{
		why:   "the contracts of providers know no provider and no client library",
		of:    []string{"internal/provider"},
		allow: []string{"github.com/google/uuid"},
	},
	{
		why:   "a simulator shares nothing with the provider it serves, or one bug would hide in both",
		of:    []string{"internal/sim/..."},
		allow: []string{ours + "internal/sim/...", "golang.org/x/..."},
	},
	{
		why:    "a simulated rack and a simulated cloud are two things: what they have in common is in sim/clock and sim/wire",
		of:     []string{"internal/sim/redfish/...", "internal/sim/clock/...", "internal/sim/wire/..."},
		forbid: []string{ours + "internal/sim/openstack/..."},
	},
	{
		why:    "a simulated cloud and a simulated rack are two things: what they have in common is in sim/clock and sim/wire",
		of:     []string{"internal/sim/openstack/...", "internal/sim/clock/...", "internal/sim/wire/..."},
		forbid: []string{ours + "internal/sim/redfish/..."},
	},
	{
		why:    "a provider knows nothing of another one",
		of:     []string{"internal/provider/redfish/..."},
		forbid: []string{ours + "internal/provider/openstack/...", "github.com/gophercloud/..."},
	},
	{
		why:    "a provider knows nothing of another one",
		of:     []string{"internal/provider/openstack/..."},
		forbid: []string{ours + "internal/provider/redfish/...", "github.com/stmcginnis/..."},
	},
	{
		why:    "the status library is public and knows no kind of ours",
		of:     []string{"status/..."},
		forbid: []string{ours + "api/...", ours + "internal/...", ours + "config/...", ours + "cmd/..."},
	},
	{
		why:   "whoever imports the API gets apimachinery and nothing else",
		of:    []string{"api/..."},
		allow: []string{"k8s.io/apimachinery/..."},
	},
	{
		why: "the reconciler acts and never looks: what it knows are facts on objects (P7)",
		of:  []string{"internal/reconciler/...", "internal/claim/..."},
		forbid: []string{
			ours + "internal/monitor/...", ours + "internal/devmode/...", ours + "internal/sim/...",
			ours + "internal/provider/redfish/...", ours + "internal/provider/openstack/...",
			"github.com/stmcginnis/gofish/...", "github.com/gophercloud/...",
		},
		boundary: []string{"internal/access"},
	},
	{
		why: "the monitor looks and never acts (P7), and through contracts alone",
		of:  []string{"internal/monitor/..."},
		forbid: []string{
			ours + "internal/reconciler/...", ours + "internal/devmode/...", ours + "internal/sim/...", ours + "internal/access/...",
			ours + "internal/provider/redfish/...", ours + "internal/provider/openstack/...",
			"github.com/stmcginnis/gofish/...", "github.com/gophercloud/...",
		},
	},
	{
		why: "a check of a backup plays with objects in memory: it asks nothing of a machine or a cloud, and runs nothing",
		of:  []string{"internal/backup/..."},
		forbid: []string{
			ours + "internal/monitor/...", ours + "internal/sim/...", ours + "internal/testenv/...", ours + "internal/operator/...",
			ours + "internal/provider/redfish/...", ours + "internal/provider/openstack/...",
			"github.com/stmcginnis/gofish/...", "github.com/gophercloud/...",
		},
		boundary: []string{"internal/access"},
	},
	{
		why: "the explorer explores production code: it has no world of its own to talk to",
		of:  []string{"internal/explorer/..."},
		forbid: []string{
			"net/...", "k8s.io/client-go/...", "sigs.k8s.io/controller-runtime/pkg/manager/...",
			ours + "internal/sim/...", ours + "internal/monitor/...", ours + "internal/testenv/...",
		},
		boundary: []string{"internal/provider"},
	},
	{
		why:    "who judges a fault campaign knows nothing of what is judged, and does nothing",
		of:     []string{"internal/chaos/judge"},
		forbid: effects,
		allow:  []string{ours + "internal/chaos/judge"},
	},
	{
		why:      "only dev mode, fault campaigns and their commands start a control plane or simulators",
		of:       []string{"..."},
		except:   []string{"internal/devmode/...", "internal/chaos/...", "cmd/...", "internal/sim/...", "internal/testenv/...", "hack/...", "test/...", "internal/deps", "internal/provider/conformance/..."},
		forbid:   []string{ours + "internal/testenv/...", ours + "internal/sim/...", "testing", "sigs.k8s.io/controller-runtime/pkg/envtest/..."},
		boundary: []string{"internal/devmode/..."},
	},
}

// violations returns what breaks a rule, each with the chain of imports.
func (r importRule) violations(graph importGraph) []string {
	var found []string
	for _, path := range graph.packages(r.of, r.except) {
		if isKit(own(path)) {
			continue
		}
		for _, target := range graph.reach(path, r.boundary) {
			if r.breaks(target.path) {
				found = append(found, target.String())
			}
		}
	}
	return found
}

func (r importRule) breaks(path string) bool {
	if matchesAny(r.forbid, path) {
		return true
	}
	return r.allow != nil && !standard(path) && !matchesAny(r.allow, path)
}

func TestImportRules(t *testing.T) {
	graph := loadGraph(t)
	for _, rule := range importRules {
		t.Run(strings.Join(rule.of, ","), func(t *testing.T) {
			for _, violation := range rule.violations(graph) {
				t.Errorf("%s:\n\t%s", rule.why, violation)
			}
			for _, pattern := range rule.of {
				// A rule must not end unseen because its packages were moved.
				if len(graph.packages([]string{pattern}, nil)) == 0 {
					t.Errorf("%s: no package matches %s: move the rule to where its packages are", rule.why, pattern)
				}
			}
		})
	}
}

func TestImportRulesFindViolations(t *testing.T) {
	graph := importGraph{
		module + "/internal/lifecycle/metal": {"time", module + "/internal/helper", module + "/internal/provider"},
		module + "/internal/helper":          {"strings", "sigs.k8s.io/controller-runtime/pkg/client"},
		module + "/internal/provider":        {"context"},
		module + "/api/v1alpha1":             {"k8s.io/apimachinery/pkg/runtime", "k8s.io/api/core/v1"},
		module + "/internal/sim/redfish":     {"net/http", module + "/internal/provider"},
		module + "/internal/sim/openstack":   {"net/http"},
	}
	for _, row := range []struct {
		pattern string
		want    []string
	}{
		{"internal/lifecycle/...", []string{"internal/lifecycle/metal → internal/helper → sigs.k8s.io/controller-runtime/pkg/client"}},
		{"internal/sim/...", []string{"internal/sim/redfish → internal/provider"}},
		{"api/...", []string{"api/v1alpha1 → k8s.io/api/core/v1"}},
	} {
		index := slices.IndexFunc(importRules, func(rule importRule) bool { return slices.Equal(rule.of, []string{row.pattern}) })
		if got := importRules[index].violations(graph); !slices.Equal(got, row.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", row.pattern, got, row.want)
		}
	}
}

// isKit tells whether a package is a kit for tests, by the custom of its name: it
// may do what tests may, and only tests may import it.
func isKit(folder string) bool {
	return matchesAny([]string{"status/statustest/...", "internal/provider/conformance/..."}, folder) ||
		strings.HasSuffix(folder, "test")
}

func TestKitsAreForTestsOnly(t *testing.T) {
	graph := loadGraph(t)
	for path, imports := range graph {
		for _, imported := range imports {
			if _, isOurs := graph[imported]; isOurs && isKit(own(imported)) && !isKit(own(path)) {
				t.Errorf("%s imports %s, a kit for tests", own(path), own(imported))
			}
		}
	}
}

// Simulators and providers must not meet in a third package of ours either.
func TestSimulatorsShareNoPackageWithProviders(t *testing.T) {
	graph := loadGraph(t)
	reachedBy := func(pattern string) map[string]string {
		chains := map[string]string{}
		for _, path := range graph.packages([]string{pattern}, nil) {
			chains[path] = own(path)
			for _, target := range graph.reach(path, nil) {
				if _, isOurs := graph[target.path]; isOurs {
					chains[target.path] = fmt.Sprint(target)
				}
			}
		}
		return chains
	}
	providers := reachedBy("internal/provider/...")
	for path, chain := range reachedBy("internal/sim/...") {
		if other, shared := providers[path]; shared {
			t.Errorf("%s is shared: %s and %s", own(path), chain, other)
		}
	}
}

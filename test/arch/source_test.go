// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sourceRule is a check of single files of our own code, outside of tests.
type sourceRule struct {
	name, why string
	// of names the packages it holds for, except takes some out.
	of, except []string
	// find returns what breaks the rule in one file.
	find func(file *ast.File) []finding
}

type finding struct {
	at   token.Pos
	what string
}

const (
	apiPackage      = module + "/api/v1alpha1"
	providerPackage = module + "/internal/provider"
)

var sourceRules = []sourceRule{
	{
		name: "clock",
		why:  "the time is in the View (P5) or comes from an injected clock, and nobody sleeps (P4)",
		of:   []string{"internal/lifecycle/...", "internal/reconciler/...", "internal/claim/...", "status/..."},
		find: uses("time", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"),
	},
	{
		name: "observer",
		why:  "the reconciler never asks a provider how things are (P7)",
		of:   []string{"internal/reconciler/...", "internal/claim/...", "internal/lifecycle/..."},
		find: uses(providerPackage, "Observer", "CloudObserver"),
	},
	{
		name: "actor",
		why:  "the monitor and an inspection have no way to act on a machine (P7)",
		of:   []string{"internal/monitor/...", "internal/inspect/..."},
		find: uses(providerPackage, "Actor", "Power", "Boot", "Media", "Stamper", "Indicator", "CloudActor", "Instances", "Ports", "FloatingIPs"),
	},
	{
		name: "status write",
		why:  "status is written by the status library, and its observed region by the monitor: two writers (P7, P9)",
		of:   []string{"..."},
		except: []string{
			"status/...", "internal/monitor/...",
			"internal/devmode/...", // its tour wipes statuses to show that nothing is lost
			"internal/chaos",       // wipes them, and puts older ones in their place, for the same reason
			"test/...", "hack/...",
		},
		find: statusWrites,
	},
	{
		name: "observed region",
		why:  "status.observed is the monitor's alone (P7)",
		of:   []string{"..."},
		except: []string{
			"internal/monitor/...",
			"internal/explorer/...", "hack/explore/...", // play the monitor
			"hack/statuspeers",    // a typical status, for the peers of the status library to carry
			"internal/backup/...", // tries pictures on objects in memory; it has no client that writes
			"api/...", "test/...",
		},
		find: observedWrites,
	},
	{
		name: "status read",
		why:  "status is a report: of an object's status only what the monitor observed is read (P1)",
		of:   []string{"internal/lifecycle/...", "internal/reconciler/...", "internal/claim/...", "internal/wake/..."},
		except: []string{
			"internal/reconciler/display", // copies a report into a report, once all is decided
		},
		find: statusReads,
	},
	{
		name: "bool parameter",
		why:  "a caller that reads f(x, true) learns nothing: two functions, or a named type",
		of:   []string{"..."},
		find: boolParameters,
	},
	{
		name: "whole update",
		why:  "a write is a create, a delete or a patch of what was decided; an update carries back whatever a stale copy says (P4)",
		of:   []string{"internal/...", "cmd/...", "status/..."},
		except: []string{
			"internal/sim/...", "internal/wake/...", // event handlers have such a method
			"internal/provider/openstack", // Neutron's update names the fields that it changes, and the revision that was read
			"internal/chaos",              // carries back what stale copies say, on purpose
		},
		find: wholeUpdates,
	},
}

// uses finds mentions of names of a package, whatever the file calls it.
func uses(pkg string, names ...string) func(*ast.File) []finding {
	return func(file *ast.File) []finding {
		local, imported := localName(file, pkg)
		if !imported {
			return nil
		}
		var found []finding
		ast.Inspect(file, func(node ast.Node) bool {
			selector, isSelector := node.(*ast.SelectorExpr)
			if isSelector && isIdent(selector.X, local) && slices.Contains(names, selector.Sel.Name) {
				found = append(found, finding{selector.Pos(), local + "." + selector.Sel.Name})
			}
			return true
		})
		return found
	}
}

// statusWrites finds calls of the kind X.Status().Patch(…).
func statusWrites(file *ast.File) []finding {
	return calls(file, func(_ *ast.CallExpr, method *ast.SelectorExpr) bool {
		subresource, isCall := method.X.(*ast.CallExpr)
		if !isCall || !slices.Contains([]string{"Create", "Update", "Patch", "Apply"}, method.Sel.Name) {
			return false
		}
		getter, isSelector := subresource.Fun.(*ast.SelectorExpr)
		return isSelector && slices.Contains([]string{"Status", "SubResource"}, getter.Sel.Name)
	})
}

// wholeUpdates finds calls of the kind X.Update(ctx, …).
func wholeUpdates(file *ast.File) []finding {
	return calls(file, func(call *ast.CallExpr, method *ast.SelectorExpr) bool {
		return method.Sel.Name == "Update" && len(call.Args) > 1 && isIdent(call.Args[0], "ctx")
	})
}

func calls(file *ast.File, match func(*ast.CallExpr, *ast.SelectorExpr) bool) []finding {
	var found []finding
	ast.Inspect(file, func(node ast.Node) bool {
		call, isCall := node.(*ast.CallExpr)
		if !isCall {
			return true
		}
		if method, isMethod := call.Fun.(*ast.SelectorExpr); isMethod && match(call, method) {
			found = append(found, finding{method.Sel.Pos(), "a call of " + method.Sel.Name})
		}
		return true
	})
	return found
}

// boolParameters finds bool parameters of exported functions and methods. Functions
// of unexported types count too: they can satisfy an exported interface.
func boolParameters(file *ast.File) []finding {
	var found []finding
	check := func(name string, function *ast.FuncType) {
		if !ast.IsExported(name) {
			return
		}
		for _, parameter := range function.Params.List {
			if isIdent(parameter.Type, "bool") {
				found = append(found, finding{parameter.Pos(), "a bool parameter of " + name})
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			check(node.Name.Name, node.Type)
		case *ast.InterfaceType:
			for _, method := range node.Methods.List {
				if function, isFunction := method.Type.(*ast.FuncType); isFunction {
					check(method.Names[0].Name, function)
				}
			}
		}
		return true
	})
	return found
}

// statusReads finds mentions of a field X.Status.Y that are not assignments to it,
// for every Y but Observed, and of the method that hands conditions out.
func statusReads(file *ast.File) []finding {
	written := map[ast.Expr]bool{}
	var found []finding
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				written[target] = node.Tok == token.ASSIGN
			}
		case *ast.SelectorExpr:
			if node.Sel.Name == "StatusConditions" {
				found = append(found, finding{node.Pos(), "conditions read"})
			}
			parent, isSelector := node.X.(*ast.SelectorExpr)
			if isSelector && parent.Sel.Name == "Status" && node.Sel.Name != "Observed" && !written[node] {
				found = append(found, finding{node.Pos(), "status." + node.Sel.Name + " read"})
			}
		}
		return true
	})
	return found
}

// observedWrites finds assignments to a field at or below Status.Observed, and
// pointers to pictures made up. A value is a default for what nobody has seen yet.
func observedWrites(file *ast.File) []finding {
	var found []finding
	api, _ := localName(file, apiPackage)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				if underObserved(target) {
					found = append(found, finding{target.Pos(), "an assignment to status.observed"})
				}
			}
		case *ast.UnaryExpr:
			if literal, isLiteral := node.X.(*ast.CompositeLit); isLiteral && isPicture(literal, api) {
				found = append(found, finding{node.Pos(), "a picture made up"})
			}
		}
		return true
	})
	return found
}

func isPicture(literal *ast.CompositeLit, api string) bool {
	picture, isSelector := literal.Type.(*ast.SelectorExpr)
	return isSelector && isIdent(picture.X, api) && slices.Contains([]string{"ServerObserved", "BMCObserved"}, picture.Sel.Name)
}

func underObserved(target ast.Expr) bool {
	for {
		switch at := target.(type) {
		case *ast.SelectorExpr:
			if parent, isSelector := at.X.(*ast.SelectorExpr); isSelector && at.Sel.Name == "Observed" && parent.Sel.Name == "Status" {
				return true
			}
			target = at.X
		case *ast.IndexExpr:
			target = at.X
		case *ast.StarExpr:
			target = at.X
		case *ast.ParenExpr:
			target = at.X
		default:
			return false
		}
	}
}

func isIdent(expression ast.Expr, name string) bool {
	ident, is := expression.(*ast.Ident)
	return is && ident.Name == name
}

// localName is what a file calls a package that it imports.
func localName(file *ast.File, pkg string) (string, bool) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || path != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, true
		}
		return path[strings.LastIndex(path, "/")+1:], true
	}
	return "", false
}

func TestSourceRules(t *testing.T) {
	files := token.NewFileSet()
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || generated(t, name) {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		if isKit(folder) {
			continue
		}
		for _, rule := range sourceRules {
			if !matchesAny(rule.of, folder) || matchesAny(rule.except, folder) {
				continue
			}
			for _, found := range rule.find(file) {
				at := files.Position(found.at)
				t.Errorf("%s:%d: %s: %s", name, at.Line, found.what, rule.why)
			}
		}
	}
}

func TestSourceRulesFindViolations(t *testing.T) {
	const header = `package p
import (
	stdtime "time"
	"context"
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)
`
	for _, row := range []struct {
		rule, code string
		want       int
	}{
		{"clock", `var now = stdtime.Now`, 1},
		{"clock", `func f() { stdtime.Sleep(stdtime.Second) }`, 1},
		{"clock", `var d = stdtime.Hour; var t stdtime.Time`, 0},
		{"observer", `type r struct { eyes provider.Observer }`, 1},
		{"observer", `type r struct { hands provider.Actor }`, 0},
		{"observer", `type r struct { eyes provider.CloudObserver }`, 1},
		{"actor", `func f(hands provider.Instances) {}`, 1},
		{"actor", `func f(hands provider.Power) {}`, 1},
		{"status write", `func f(ctx context.Context) { c.Status().Patch(ctx, o, p) }`, 1},
		{"status write", `func f(ctx context.Context) { w.client.SubResource("status").Update(ctx, o) }`, 1},
		{"status write", `func f(ctx context.Context) { c.Patch(ctx, o, p) }`, 0},
		{"observed region", `func f(s *v1alpha1.Server) { s.Status.Observed = nil }`, 1},
		{"observed region", `func f(s *v1alpha1.Server) { s.Status.Observed.Media[0].Image = "" }`, 1},
		{"observed region", `func f(s *v1alpha1.Server) { s.Status.Observed = &v1alpha1.ServerObserved{Reachable: true} }`, 2},
		{"observed region", `func f(s *v1alpha1.Server) { x := s.Status.Observed; _ = x; s.Status.Phase = "" }`, 0},
		{"status read", `func f(s *v1alpha1.Server) bool { return s.Status.Phase == "Ready" }`, 1},
		{"status read", `func f(s *v1alpha1.Server) { s.Status.Phase = phase(s.Status.Observed) }`, 0},
		{"status read", `func f(s *v1alpha1.Server) bool { return len(*s.StatusConditions()) > 0 }`, 1},
		{"bool parameter", `func F(a int, b, c bool) {}; type I interface { M(on bool) }`, 2},
		{"bool parameter", `func f(b bool) {}; func G(b map[string]bool) bool { return true }`, 0},
		{"whole update", `func f(ctx context.Context) { c.Update(ctx, o) }`, 1},
		{"whole update", `func f(ctx context.Context) { hash.Update(data) }`, 0},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", header+row.code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		index := slices.IndexFunc(sourceRules, func(rule sourceRule) bool { return rule.name == row.rule })
		if found := sourceRules[index].find(file); len(found) != row.want {
			t.Errorf("%s: %s: got %d findings %s, want %d", row.rule, row.code, len(found), fmt.Sprint(found), row.want)
		}
	}
}

// The names that rules forbid must exist, or a rename would end the rule unseen.
func TestForbiddenInterfacesExist(t *testing.T) {
	declared := map[string]bool{}
	for _, name := range goFiles(t) {
		if filepath.ToSlash(filepath.Dir(name)) != "internal/provider" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, is := node.(*ast.TypeSpec); is {
				_, isInterface := spec.Type.(*ast.InterfaceType)
				declared[spec.Name.Name] = isInterface
			}
			return true
		})
	}
	known := []string{
		"Observer", "Actor", "Power", "Boot", "Media", "Stamper", "Indicator",
		"CloudObserver", "CloudActor", "Instances", "Ports", "FloatingIPs",
	}
	for _, name := range known {
		if !declared[name] {
			t.Errorf("provider.%s is no interface any more", name)
		}
	}
	for name, isInterface := range declared {
		if isInterface && ast.IsExported(name) && !slices.Contains(known, name) {
			t.Errorf("provider.%s is new: say in the rules whether it looks or acts", name)
		}
	}
}

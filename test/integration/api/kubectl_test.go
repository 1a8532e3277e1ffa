// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	controllers "github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// What people type, with the kubectl they type it into, as cluster admins: everything works but to make Holdfast forget.
func TestKubectlKeepsTheLedger(t *testing.T) {
	awaitPolicies(t)
	fromGit := func(object *unstructured.Unstructured) string {
		return manifest(t, build(object.GetKind(), object.GetName(), set{"spec.power": "Keep"}))
	}
	file := func(command ...string) func(*unstructured.Unstructured) (string, []string) {
		return func(object *unstructured.Unstructured) (string, []string) {
			return fromGit(object), append(command, "-f", "-")
		}
	}
	named := func(verb string, rest ...string) func(*unstructured.Unstructured) (string, []string) {
		return func(object *unstructured.Unstructured) (string, []string) {
			return "", append([]string{verb, strings.ToLower(object.GetKind()), object.GetName(), "--namespace", "default"}, rest...)
		}
	}
	tests := map[string]struct {
		command func(*unstructured.Unstructured) (string, []string)
		refusal string
	}{
		"replace":                      {file("replace"), "If this was kubectl replace, use kubectl apply or kubectl patch"},
		"apply":                        {file("apply"), ""},
		"apply on the server":          {file("apply", "--server-side", "--force-conflicts"), ""},
		"annotate a ledger entry":      {named("annotate", "--overwrite", bootEntry+"=new"), "only the Holdfast operator"},
		"remove a ledger entry":        {named("annotate", bootEntry+"-"), "only the Holdfast operator"},
		"annotate a consent":           {named("annotate", "holdfast.dev/power-off=i1"), ""},
		"label":                        {named("label", "rack=r1"), ""},
		"patch spec":                   {named("patch", "--type=merge", "-p", `{"spec":{"power":"Keep"}}`), ""},
		"wipe status":                  {named("patch", "--subresource=status", "--type=merge", "-p", `{"status":null}`), ""},
		"delete without waiting":       {named("delete", "--wait=false"), ""},
		"replace its status by a copy": {named("patch", "--subresource=status", "--type=json", "-p", `[{"op":"replace","path":"/status","value":{}}]`), ""},
	}
	for name, test := range tests {
		for _, kind := range []string{"Server", "ServerClaim"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				object := remembering(t, kind)
				input, arguments := test.command(object)
				output, err := kubectl(t, admin, input, arguments...)
				if (test.refusal != "") != (err != nil) || !strings.Contains(output, test.refusal) {
					t.Errorf("kubectl %v: %v: %s", arguments, err, output)
				}
				expectEntries(t, object)
			})
		}
	}
}

// kubectl apply -k config/default is all it takes: then tenants have their kinds, and the operator its rights and its memory.
func TestInstallableByOneCommand(t *testing.T) {
	cluster := testenv.Run(t, testenv.Options{})
	folder, err := filepath.Abs("../../../config/default")
	if err != nil {
		t.Fatal(err)
	}
	output, err := run(t, cluster, admin, "", "apply", "-k", folder)
	if err != nil {
		t.Fatalf("kubectl apply -k: %v: %s", err, output)
	}
	testenv.Eventually(t, "the kinds are served", func(context.Context) error {
		output, err := run(t, cluster, admin, "", "get", "srv,sclaim,sclass,bmc,cloud,smaint,sshca", "--all-namespaces")
		if err != nil {
			return errors.New(output)
		}
		return nil
	})
	testenv.Eventually(t, "the policy knows the operator and refuses others", func(context.Context) error {
		input := manifest(t, build("Server", "s1", nil))
		if output, err := run(t, cluster, admin, input, "apply", "-f", "-"); err != nil {
			return errors.New(output)
		}
		output, err := run(t, cluster, admin, "", "annotate", "--overwrite", "srv", "s1", identity+"=i1", "--dry-run=server")
		if err == nil || !strings.Contains(output, "only the Holdfast operator") {
			return errors.New("cluster admin: " + output)
		}
		if output, err := run(t, cluster, operator, "", "patch", "srv", "s1", "--type=merge", "-p", annotate(identity, "i1"), "--dry-run=server"); err != nil {
			return errors.New("operator: " + output)
		}
		return nil
	})
	if output, err := run(t, cluster, admin, "", "get", "deployment", "holdfast", "-n", operatorNamespace); err != nil {
		t.Errorf("deployment: %s", output)
	}
	if output, err := run(t, cluster, admin, "", "apply", "-k", folder); err != nil || strings.Contains(output, "created") {
		t.Errorf("a second time: %v: %s", err, output)
	}
}

// Another namespace, and a monitor of its own, are one edit each: the policies follow.
func TestKustomizationInAnotherNamespaceWithItsOwnMonitor(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../../config")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "default", "kustomization.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer("namespace: holdfast-system", "namespace: metal", "# components:", "components:", "# - ../components", "- ../components").
		Replace(string(content))
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	rendered := mustKubectl(t, admin, "", "kustomize", filepath.Join(folder, "default"))
	if strings.Contains(rendered, operatorNamespace) {
		t.Error("holdfast-system is still named")
	}
	for text, count := range map[string]int{
		"request.userInfo.username in ['system:serviceaccount:metal:holdfast']":         3,
		"request.userInfo.username in ['system:serviceaccount:metal:holdfast-monitor']": 1,
		"- --controllers=" + strings.Join(allButTheMonitor(), ",") + "\n":               1,
		"- monitor\n": 1,
	} {
		if got := strings.Count(rendered, text); got != count {
			t.Errorf("%q stands %d times, want %d", text, got, count)
		}
	}
}

func allButTheMonitor() []string {
	return slices.DeleteFunc(controllers.Names(), func(name string) bool { return name == controllers.Monitor })
}

func mustKubectl(t *testing.T, who user, input string, arguments ...string) string {
	t.Helper()
	output, err := kubectl(t, who, input, arguments...)
	if err != nil {
		t.Fatalf("kubectl %v: %v: %s", arguments, err, output)
	}
	return output
}

func kubectl(t *testing.T, who user, input string, arguments ...string) (string, error) {
	t.Helper()
	return run(t, env, who, input, arguments...)
}

func run(t *testing.T, cluster *testenv.Environment, who user, input string, arguments ...string) (string, error) {
	t.Helper()
	path, err := cluster.Assets.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, cluster.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if who.name != "" {
		arguments = append(arguments, "--as", who.name)
		for _, group := range who.groups {
			arguments = append(arguments, "--as-group", group)
		}
	}
	command := exec.CommandContext(t.Context(), path, arguments...)
	command.Env = []string{"HOME=" + home, "KUBECONFIG=" + kubeconfig, "PATH=" + os.Getenv("PATH")}
	command.Stdin = strings.NewReader(input)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err = command.Run()
	return output.String(), err
}

func manifest(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// expectEntries compares the ledger alone: kubectl apply adds an annotation of its own.
func expectEntries(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	now := object.DeepCopy()
	if err := as(t, admin).Get(t.Context(), client.ObjectKeyFromObject(object), now); err != nil {
		t.Fatal(err)
	}
	for key, value := range object.GetAnnotations() {
		if now.GetAnnotations()[key] != value {
			t.Errorf("%s is %q, was %q", key, now.GetAnnotations()[key], value)
		}
	}
}

// The samples are accepted as they are.
func TestSamplesAreAccepted(t *testing.T) {
	mustKubectl(t, admin, "", "apply", "--dry-run=server", "--validate=strict", "-f", "../../../config/samples")
}

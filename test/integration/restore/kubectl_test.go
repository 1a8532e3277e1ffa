// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/test/harness"
)

// kubectl runs kubectl as an administrator, and returns what it prints.
func kubectl(k *harness.Kit, arguments ...string) string {
	k.T.Helper()
	path, err := k.Env.Assets.Kubectl()
	if err != nil {
		k.T.Fatal(err)
	}
	home := k.T.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, k.Env.Kubeconfig, 0o600); err != nil {
		k.T.Fatal(err)
	}
	command := exec.CommandContext(k.T.Context(), path, arguments...)
	command.Env = []string{"HOME=" + home, "KUBECONFIG=" + kubeconfig, "PATH=" + os.Getenv("PATH")}
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	if err := command.Run(); err != nil {
		k.T.Fatalf("kubectl %s: %v: %s", strings.Join(arguments, " "), err, complaint.String())
	}
	return output.String()
}

// restore creates what is in files of an export, in this order.
func restore(k *harness.Kit, dir string, files ...string) {
	k.T.Helper()
	for _, file := range files {
		kubectl(k, "create", "-f", filepath.Join(dir, file))
	}
}

// change rewrites each object of an exported list, as people do with yq; an object for which it returns false is left out.
func change(t *testing.T, path string, by func(object, metadata map[string]any) bool) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]any
	if err := yaml.Unmarshal(content, &list); err != nil {
		t.Fatal(err)
	}
	if list["kind"] != "List" {
		list = map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{list}} // kubectl prints one object as itself
	}
	var kept []any
	for _, item := range list["items"].([]any) {
		object := item.(map[string]any)
		if by(object, object["metadata"].(map[string]any)) {
			kept = append(kept, object)
		}
	}
	list["items"] = kept
	if content, err = yaml.Marshal(list); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// given is what the API server gives an object, and takes from nobody.
var given = []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"}

// stripped leaves out what no restore brings back: status, and what the API server gives.
func stripped(object, metadata map[string]any) bool {
	delete(object, "status")
	for _, field := range given {
		delete(metadata, field)
	}
	return true
}

// asInGit leaves out all that people did not write: what Holdfast remembers, too.
func asInGit(object, metadata map[string]any) bool {
	stripped(object, metadata)
	delete(metadata, "annotations")
	delete(metadata, "finalizers")
	if spec, is := object["spec"].(map[string]any); is {
		for _, field := range []string{"claimRef", "maintenanceRef", "serverName"} {
			delete(spec, field)
		}
	}
	return true
}

// copyExport copies the files of an export, to be changed.
func copyExport(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// debian is where the oracles are: cloud-init and sshd as Debian packages them, not installed.
const debian = "../../bin/cloudinit/root"

// oracles skips a test where they were not fetched; what a change must pass has them, and fails.
func oracles(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(debian)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err == nil {
		return root
	}
	const missing = "Debian's cloud-init and sshd are not here: hack/cloudinit/fetch.sh fetches them"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// finding is what cloud-init makes of user data.
type finding struct {
	Parts []struct {
		Type, Name, MergeType, Schema string
		Payload                       []byte
	}
	Config   map[string]any
	Scripts  map[string][]byte
	Warnings []string
}

// ask has cloud-init read each of these.
func ask(t *testing.T, userData map[string][]byte) map[string]finding {
	t.Helper()
	root := oracles(t)
	names := slices.Sorted(maps.Keys(userData))
	blobs := make([][]byte, 0, len(names))
	for _, name := range names {
		blobs = append(blobs, userData[name])
	}
	input, err := json.Marshal(blobs)
	if err != nil {
		t.Fatal(err)
	}
	// Debian's own Python: some of the packages are compiled for it.
	command := exec.CommandContext(t.Context(), "/usr/bin/python3", "testdata/oracle.py")
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Join(root, "usr/lib/python3/dist-packages"))
	command.Stdin = bytes.NewReader(input)
	var output, complaints bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var findings []finding
	if err := json.Unmarshal(output.Bytes(), &findings); err != nil {
		t.Fatal(err)
	}
	told := map[string]finding{}
	for i, name := range names {
		told[name] = findings[i]
	}
	return told
}

// include is user data that includes other user data, from a file: the oracle has no network.
func include(t *testing.T) string {
	t.Helper()
	return "#include\nfile://" + temporary(t, "included", "#cloud-config\nwrite_files: [{path: /included, content: x}]\n") + "\n"
}

func temporary(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCloudInitReadsBoth: the real cloud-init finds every part of the user's as it was without us, in name, type and byte, then ours;
// both lists of files are in what it makes of them, whatever the user says of merging, and everything else is the user's (B216).
func TestCloudInitReadsBoth(t *testing.T) {
	alone, both := map[string][]byte{}, map[string][]byte{"nothing": rendered(t, "", staff(t)).Data}
	given := map[string]string{"include": include(t), "nothing": "", "large": "#cloud-config\nwrite_files: [{path: /d, content: '" + noise(44000) + "'}]\n"}
	for name, row := range forms {
		given[name] = row.data
	}
	for name, data := range given {
		alone[name], both[name] = []byte(data), rendered(t, data, staff(t)).Data
	}
	theirs, all := ask(t, alone), ask(t, both)
	ours := all["nothing"].Config["write_files"].([]any) //nolint:forcetypeassert // a test ends either way
	if len(ours) != 2 {
		t.Fatalf("of ours alone: %v", all["nothing"])
	}
	for name, want := range theirs {
		t.Run(name, func(t *testing.T) {
			got := all[name]
			if name == "nothing" {
				want.Parts, want.Config = nil, nil // cloud-init makes a part of nothing, too
			}
			checkParts(t, want, got)
			checkConfig(t, want.Config, got.Config, ours)
			if script := got.Scripts[scriptName]; !bytes.Equal(script, trustScript) {
				t.Errorf("our script is not among %v", slices.Collect(maps.Keys(got.Scripts)))
			}
			delete(got.Scripts, scriptName)
			if len(got.Scripts)+len(want.Scripts) > 0 {
				if diff := cmp.Diff(want.Scripts, got.Scripts); diff != "" {
					t.Errorf("scripts of the user's:\n%s", diff)
				}
			}
			if diff := cmp.Diff(want.Warnings, got.Warnings); diff != "" {
				t.Errorf("cloud-init warns:\n%s", diff)
			}
		})
	}
}

func checkParts(t *testing.T, want, got finding) {
	t.Helper()
	n := len(got.Parts) - 2
	if n < 0 {
		t.Fatalf("%d parts", len(got.Parts))
	}
	if n+len(want.Parts) > 0 {
		if diff := cmp.Diff(want.Parts, got.Parts[:n]); diff != "" {
			t.Errorf("parts of the user's (-alone +with ours):\n%s", diff)
		}
	}
	last := got.Parts[n+1]
	if got.Parts[n].Type != "text/x-shellscript" || last.Type != "text/cloud-config" || last.MergeType != mergeType || last.Schema != "" {
		t.Errorf("ours: %s, %s, merge type %q, schema: %s", got.Parts[n].Type, last.Type, last.MergeType, last.Schema)
	}
}

// checkConfig wants the user's config with our files after the user's.
func checkConfig(t *testing.T, want, got map[string]any, ours []any) {
	t.Helper()
	expected := maps.Clone(want)
	if expected == nil {
		expected = map[string]any{}
	}
	theirs, _ := want["write_files"].([]any)
	expected["write_files"] = append(slices.Clone(theirs), ours...)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("config (-expected +got):\n%s", diff)
	}
}

// TestUsersPartsAreSound: what the oracle compares with is user data that cloud-init takes; without this the comparison could be of two
// refusals.
func TestUsersPartsAreSound(t *testing.T) {
	given := map[string][]byte{}
	for name, row := range forms {
		given[name] = []byte(row.data)
	}
	for name, found := range ask(t, given) {
		if len(found.Parts) == 0 || len(found.Warnings) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
		for _, part := range found.Parts {
			if part.Schema != "" {
				t.Errorf("%s: %s", name, part.Schema)
			}
		}
	}
}

// TestPrincipalsPassTheSchema: all that we write is valid cloud-config.
func TestPrincipalsPassTheSchema(t *testing.T) {
	found := ask(t, map[string][]byte{"principals": rendered(t, "", withPrincipals(t)).Data})["principals"]
	if last := found.Parts[len(found.Parts)-1]; last.Schema != "" {
		t.Error(last.Schema)
	}
	paths := map[string]string{}
	for _, written := range found.Config["write_files"].([]any) { //nolint:forcetypeassert // a test ends either way
		entry := written.(map[string]any) //nolint:forcetypeassert // the same
		paths[entry["path"].(string)], _ = entry["content"].(string)
	}
	want := map[string]string{
		keysPath:                 authorizedKey(t, 3) + " automation\n" + authorizedKey(t, 1) + " staff\n" + authorizedKey(t, 2) + " staff\n",
		dropinPath:               "# Written by Holdfast.\nTrustedUserCAKeys " + keysPath + "\nAuthorizedPrincipalsFile " + principalsDir + "%u\n",
		principalsDir + "debian": "ops\nrobots\nstaff\n",
		principalsDir + "root":   "ops\n",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
}

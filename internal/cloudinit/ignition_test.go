// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config"
	latest "github.com/coreos/ignition/v2/config/v3_6_experimental"
	"github.com/coreos/ignition/v2/config/v3_6_experimental/types"
	"github.com/vincent-petithory/dataurl"
)

// onTheMachine does what Ignition does with a config that merges others: each is fetched, and merged in order. It gives the user's own
// bytes too.
func onTheMachine(t *testing.T, userData []byte) (types.Config, []byte) {
	t.Helper()
	outer := sound(t, userData)
	merged, theirs := outer, []byte(nil)
	for i, source := range outer.Ignition.Config.Merge {
		url, err := dataurl.DecodeString(*source.Source)
		if err != nil {
			t.Fatal(err)
		}
		data := url.Data
		if source.Compression != nil && *source.Compression == "gzip" {
			if data, err = wantDecompressed(data); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			theirs = data
			merged = latest.Merge(merged, parsed(t, data))
			continue
		}
		merged = latest.Merge(merged, sound(t, data))
	}
	return merged, theirs
}

// wantDecompressed is decompress for callers that want an error.
func wantDecompressed(data []byte) ([]byte, error) {
	decompressed, err := decompress(data)
	if err != nil {
		return nil, err
	}
	return decompressed, nil
}

func parsed(t *testing.T, data []byte) types.Config {
	t.Helper()
	config, rep, err := ignition.Parse(data)
	if err != nil {
		t.Fatalf("Ignition says: %v, %s\n%s", err, rep.String(), data)
	}
	return config
}

// sound is a config of ours: Ignition does not even warn of it.
func sound(t *testing.T, data []byte) types.Config {
	t.Helper()
	if _, rep, _ := ignition.Parse(data); len(rep.Entries) > 0 {
		t.Errorf("Ignition says: %s\n%s", rep.String(), data)
	}
	return parsed(t, data)
}

func paths(config types.Config) []string {
	var found []string
	for _, f := range config.Storage.Files {
		found = append(found, f.Path)
	}
	slices.Sort(found)
	return found
}

// TestIgnitionMergesBoth: by Ignition's own library, in every version that can merge, the user's config is there byte for byte, and its
// files and ours are both in what the machine makes of it (B218).
func TestIgnitionMergesBoth(t *testing.T) {
	want := []string{dropinPath, principalsDir + "debian", principalsDir + "root", scriptPath, keysPath, "/etc/motd"}
	slices.Sort(want)
	for _, version := range []string{"3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0-experimental"} {
		t.Run(version, func(t *testing.T) {
			data := strings.Replace(theirIgnition, "3.3.0", version, 1)
			got := rendered(t, data, withPrincipals(t))
			merged, theirs := onTheMachine(t, got.Data)
			if string(theirs) != data || got.Form != FormIgnition || got.Compressed {
				t.Errorf("the user's config is %q", theirs)
			}
			if !slices.Equal(paths(merged), want) {
				t.Errorf("files %v, want %v", paths(merged), want)
			}
			if len(merged.Systemd.Units) != 1 || len(merged.Passwd.Users) != 1 {
				t.Errorf("units %v, users %v", merged.Systemd.Units, merged.Passwd.Users)
			}
			// The version of what a server is given is the user's: its Ignition knows that one.
			if !strings.Contains(string(got.Data), `{"version":"`+version+`"`) {
				t.Errorf("another version: %s", got.Data[:60])
			}
		})
	}
}

// TestIgnitionFilesAreWhatCloudInitWrites: a server trusts the same, whoever sets it up.
func TestIgnitionFilesAreWhatCloudInitWrites(t *testing.T) {
	merged, _ := onTheMachine(t, rendered(t, theirIgnition, withPrincipals(t)).Data)
	trusted, err := trust(withPrincipals(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{scriptPath: string(trustScript)}
	for _, f := range trusted.files() {
		want[f.Path] = f.Content
	}
	for _, f := range merged.Storage.Files {
		if f.Path == "/etc/motd" {
			continue
		}
		url, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		if string(url.Data) != want[f.Path] || *f.Mode != 0o644 || !*f.Overwrite {
			t.Errorf("%s, mode %o: %s", f.Path, *f.Mode, url.Data)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestIgnitionThatCannotTakeAnAuthority is refused with a reason (B218), and nothing of it is quoted.
func TestIgnitionThatCannotTakeAnAuthority(t *testing.T) {
	const canary = "canary"
	with := func(rest string) string { return `{"ignition":{"version":"3.1.0"},` + rest + `}` }
	for name, row := range map[string]struct {
		data string
		want Reason
		says string
	}{
		"version 2":         {`{"ignition":{"version":"2.3.0"}}`, ReasonIgnitionUnsupported, "3.0 to 3.5"},
		"version 1":         {`{"ignitionVersion":1,"ignition":{}}`, ReasonMalformed, "no version"},
		"version to come":   {`{"ignition":{"version":"3.99.0"}}`, ReasonIgnitionUnsupported, ""},
		"no version":        {`{"ignition":{}}`, ReasonMalformed, "no version"},
		"cut":               {theirIgnition[:60] + canary, ReasonMalformed, ""},
		"relative path":     {with(`"storage":{"files":[{"path":"` + canary + `"}]}`), ReasonMalformed, "$.storage.files.0.path, line 1"},
		"of another type":   {with(`"storage":{"files":"` + canary + `"}`), ReasonMalformed, ""},
		"our file":          {with(`"storage":{"files":[{"path":"` + keysPath + `"}]}`), ReasonPathTaken, keysPath},
		"our file, a link":  {with(`"storage":{"links":[{"path":"` + dropinPath + `","target":"/x"}]}`), ReasonPathTaken, dropinPath},
		"our file, a dir":   {with(`"storage":{"directories":[{"path":"` + scriptPath + `"}]}`), ReasonPathTaken, scriptPath},
		"a link above ours": {with(`"storage":{"links":[{"path":"/etc/ssh","target":"/` + canary + `"}]}`), ReasonPathTaken, guestDir},
		"our unit":          {with(`"systemd":{"units":[{"name":"` + unitName + `"}]}`), ReasonPathTaken, unitName},
		"too large, 3.0":    {`{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/x","contents":{"source":"data:,` + strings.Repeat("x", 60000) + `"}}]}}`, ReasonTooLarge, "65535"},
		"too large":         {with(`"storage":{"files":[{"path":"/x","contents":{"source":"data:,` + noise(60000) + `"}}]}`), ReasonTooLarge, "compressed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Render([]byte(row.data), staff(t))
			if reason := reasonOf(t, err); reason != row.want {
				t.Fatalf("%q, want %q: %v", reason, row.want, err)
			}
			if !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), canary) {
				t.Errorf("%v, want %q and nothing of the user's", err, row.says)
			}
		})
	}
}

// TestLargeIgnitionIsCompressedInside: Ignition decompresses what a config names, and never the config that it is given (B213).
func TestLargeIgnitionIsCompressedInside(t *testing.T) {
	data := `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/x","contents":{"source":"data:,` + strings.Repeat("x", 60000) + `"}}]}}`
	for name, authorities := range map[string][]Authority{"with an authority": staff(t), "without": nil} {
		got := rendered(t, data, authorities)
		_, theirs := onTheMachine(t, got.Data)
		if !got.Compressed || got.EncodedLen() > MaxEncoded || string(theirs) != data || !bytes.HasPrefix(got.Data, []byte("{")) {
			t.Errorf("%s: compressed %t, %d characters", name, got.Compressed, got.EncodedLen())
		}
	}
}

// TestIgnitionReplacedByAnother: a config that names another in its place loses all of its own; ours is not in it, and stays.
func TestIgnitionReplacedByAnother(t *testing.T) {
	data := `{"ignition":{"version":"3.3.0","config":{"replace":{"source":"https://config.example/full.ign"}}}}`
	merged, theirs := onTheMachine(t, rendered(t, data, staff(t)).Data)
	if string(theirs) != data || !slices.Contains(paths(merged), keysPath) || parsed(t, theirs).Storage.Files != nil {
		t.Errorf("files %v", paths(merged))
	}
}

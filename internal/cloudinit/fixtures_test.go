// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// authorizedKey is a key of its own for each number, the same in every run.
func authorizedKey(t testing.TB, number byte) string {
	t.Helper()
	public, ok := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	if !ok {
		t.Fatal("no public key")
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func staff(t testing.TB) []Authority {
	t.Helper()
	return []Authority{{Name: "staff", PublicKeys: []string{authorizedKey(t, 1) + " staff@example"}}}
}

func withPrincipals(t testing.TB) []Authority {
	t.Helper()
	return []Authority{
		{Name: "staff", PublicKeys: []string{authorizedKey(t, 1), authorizedKey(t, 2)}, Principals: map[string][]string{"root": {"ops"}, "debian": {"staff", "ops"}}},
		{Name: "automation", PublicKeys: []string{authorizedKey(t, 3)}, Principals: map[string][]string{"debian": {"robots", "ops"}, "guest": {}}},
	}
}

func gzipped(t testing.TB, data string) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func base64ed(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

// wrapped is base64 in lines, as the base64 command writes it.
func wrapped(data string) string { return string(encodeLines([]byte(data))) + "\n" }

// noise is text that does not compress to less than three quarters, of a length.
func noise(length int) string {
	random := rand.New(rand.NewChaCha8([32]byte{1}))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	text := make([]byte, length)
	for i := range text {
		text[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(text)
}

// reasonOf is the reason of the Error that err is; "" for nil.
func reasonOf(t *testing.T, err error) Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an Error: %v", err)
	}
	return e.Reason
}

func rendered(t *testing.T, userData string, authorities []Authority) Rendered {
	t.Helper()
	r, err := Render([]byte(userData), authorities)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	cloudConfig = "#cloud-config\nwrite_files:\n- path: /etc/motd\n  content: |\n    größe\nruncmd:\n- [touch, /run/theirs]\npackages: [jq]\n"
	replacing   = "#cloud-config\nmerge_how:\n- {name: list, settings: [replace]}\n- {name: dict, settings: [replace]}\nwrite_files:\n- {path: /etc/theirs, content: x}\n"
	script      = "#!/bin/sh\necho \"MIME-Version: no header\"\nexit 0"
	jinjaConfig = "## template: jinja\n#cloud-config\nwrite_files:\n- {path: /etc/name, content: '{{ v1.local_hostname }}'}\n"
	theirMIME   = "Content-Type: multipart/mixed; boundary=\"==theirs==\"\nMIME-Version: 1.0\n\npreamble\n--==theirs==\nContent-Type: text/cloud-config\n" +
		"Merge-Type: list(append)\n\n#cloud-config\nwrite_files: [{path: /a, content: a}]\n\n--==theirs==\nContent-Type: text/plain\n" +
		"Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"run.sh\"\n\nIyEvYmluL3NoCmVjaG8gaGkK\n\n--==theirs==--\nepilogue\n"
	theirIgnition = `{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]},"passwd":{"users":[{"name":"core"}]}}`
)

// forms are user data of every form that cloud-init knows, as it takes them. None needs a network.
var forms = map[string]struct {
	data string
	form Form
}{
	"cloud-config":         {cloudConfig, FormCloudConfig},
	"replacing":            {replacing, FormCloudConfig},
	"white space before":   {"\n  " + strings.ToUpper(cloudConfig[:13]) + cloudConfig[13:], FormCloudConfig},
	"carriage returns":     {strings.ReplaceAll(cloudConfig, "\n", "\r\n"), FormCloudConfig},
	"script":               {script, FormScript},
	"script with umlauts":  {"#!/bin/sh\n# gr\u00fc\u00dfe\n", FormScript},
	"long line":            {"#!/bin/sh\n: " + strings.Repeat("x", 2000) + "\n", FormScript},
	"boothook":             {"#cloud-boothook\n#!/bin/sh\ntrue\n", FormBoothook},
	"part handler":         {"#part-handler\ndef list_types():\n  return ['text/x']\n", FormPartHandler},
	"archive":              {"#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    write_files: [{path: /b, content: b}]\n- '#!/bin/sh\n\n  true\n\n  '\n", FormArchive},
	"JSON patch":           {"#cloud-config-jsonp\n[{\"op\":\"add\",\"path\":\"/write_files\",\"value\":[{\"path\":\"/c\",\"content\":\"c\"}]}]\n", FormJSONPatch},
	"Jinja":                {jinjaConfig, FormJinja},
	"MIME":                 {theirMIME, FormMIME},
	"MIME, unterminated":   {strings.Split(theirMIME, "\n--==theirs==--")[0], FormMIME},
	"MIME of one part":     {"Content-Type: text/cloud-config\nMIME-Version: 1.0\n\n" + cloudConfig[:13] + "\npackages: [jq]\n", FormMIME},
	"MIME of an envelope":  {"From nobody Thu Jan  1 00:00:00 1970\n" + theirMIME, FormMIME},
	"MIME, lines of CR LF": {strings.ReplaceAll(theirMIME, "\n", "\r\n"), FormMIME},
}

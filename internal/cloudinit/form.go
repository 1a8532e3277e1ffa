// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Form is how user data are written, below compression and base64.
type Form string

// The forms that are told apart. Jinja templates are a form of their own: what they become is known on the machine only.
const (
	FormNone        Form = "none"         // no user data, or white space only
	FormCloudConfig Form = "cloud-config" // #cloud-config
	FormArchive     Form = "archive"      // #cloud-config-archive
	FormJSONPatch   Form = "json-patch"   // #cloud-config-jsonp
	FormScript      Form = "script"       // #!
	FormInclude     Form = "include"      // #include and #include-once
	FormBoothook    Form = "boothook"     // #cloud-boothook
	FormPartHandler Form = "part-handler" // #part-handler
	FormJinja       Form = "jinja"        // ## template: jinja
	FormMIME        Form = "mime"         // a MIME message, with several parts or one
	FormIgnition    Form = "ignition"     // a JSON object with the member ignition
	FormUnknown     Form = "unknown"      // anything else: another agent's, perhaps
)

// markers are how cloud-init knows a form by its first characters, in lower case and after white space; where one begins another, the
// longer comes first. With each, the type that a part of that form bears in a MIME archive.
var markers = []struct {
	prefix  string
	form    Form
	subtype string
}{
	{"#cloud-config-archive", FormArchive, "cloud-config-archive"},
	{"#cloud-config-jsonp", FormJSONPatch, "cloud-config-jsonp"},
	{"## template: jinja", FormJinja, "jinja2"},
	{"#cloud-boothook", FormBoothook, "cloud-boothook"},
	{"#include-once", FormInclude, "x-include-once-url"},
	{"#cloud-config", FormCloudConfig, "cloud-config"},
	{"#part-handler", FormPartHandler, "part-handler"},
	{"#include", FormInclude, "x-include-url"},
	{"#!", FormScript, "x-shellscript"},
}

// cloudInit tells whether cloud-init would take user data of this form, and so decompress it.
func (f Form) cloudInit() bool {
	switch f {
	case FormNone, FormIgnition, FormUnknown:
		return false
	default:
		return true
	}
}

// formOf recognises user data that are neither compressed nor base64, and gives the content type of a part that holds them: "" for
// forms that are no single part.
func formOf(data []byte) (Form, string) {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return FormNone, ""
	}
	start := strings.ToLower(string(trimmed[:min(len(trimmed), 64)]))
	for _, m := range markers {
		if strings.HasPrefix(start, m.prefix) {
			return m.form, "text/" + m.subtype
		}
	}
	if isMIME(data) {
		return FormMIME, ""
	}
	if isIgnition(trimmed) {
		return FormIgnition, ""
	}
	return FormUnknown, ""
}

// headerLine begins a field of a message's header: its name and a colon (RFC 5322, 2.2).
var headerLine = regexp.MustCompile(`^([!-9;-~]+)[ \t]*:`)

// isMIME tells whether data begin with the header of a message that says it is MIME. cloud-init is content with the words anywhere in the
// first 4096 bytes; so would be another agent's document that quotes a message, and it is not ours to wrap.
func isMIME(data []byte) bool {
	envelope := []byte("From ") // the first line of a message out of a mailbox
	if bytes.HasPrefix(data, envelope) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	for first := true; len(data) > 0; first = false {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		if !first && bytes.ContainsAny(line[:min(len(line), 1)], " \t") {
			continue
		}
		field := headerLine.FindSubmatch(line)
		if field == nil {
			return false
		}
		if strings.EqualFold(string(field[1]), "MIME-Version") {
			return true
		}
	}
	return false
}

// isIgnition tells whether data is a JSON object that says it is a config of Ignition; whether it is a good one is another question, and
// a broken one is still no other agent's.
func isIgnition(data []byte) bool {
	if data[0] != '{' || !bytes.Contains(data, []byte(`"ignition"`)) {
		return false
	}
	if !json.Valid(data) {
		return true
	}
	var config struct {
		Ignition *json.RawMessage `json:"ignition"`
	}
	return json.Unmarshal(data, &config) == nil && config.Ignition != nil
}

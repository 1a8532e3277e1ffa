// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"strconv"
	"testing"
)

func parse(t *testing.T, raw string) (document, *gaps) {
	t.Helper()
	g := &gaps{}
	d, err := parseDocument([]byte(raw), "Thing", g)
	if err != nil {
		t.Fatal(err)
	}
	return d, g
}

// TestDocumentTakesWhatItCanUse: an odd value is dropped with a note and hides nothing else (B135, B140).
func TestDocumentTakesWhatItCanUse(t *testing.T) {
	d, g := parse(t, "\xef\xbb\xbf"+`{"text":" a ","number":12,"asText":"96.5","nothing":null,"odd":{"x":1},"na":"N/A","yes":true,"yesText":"True",
		"list":[{"a":1},null,7],"neg":-1,"huge":1e300,"obj":"text","href":"/redfish/v1/x","ref":{"@odata.id":"/redfish/v1/y"}}`)
	equal(t, "text", "a", d.text("text"))
	equal(t, "number as text", "12", d.text("number"))
	equal(t, "missing text", "", d.text("missing")+d.text("nothing"))
	half, ok := d.number("asText")
	equal(t, "number in text", 96.5, half)
	equal(t, "number in text", true, ok)
	equal(t, "null number", int64(0), d.count("nothing"))
	equal(t, "flags", []bool{true, true, true}, []bool{*d.flag("yes"), *d.flag("yesText"), d.flag("nothing") == nil})
	equal(t, "links", []string{"/redfish/v1/x", "/redfish/v1/y"}, []string{d.link("href"), d.link("ref")})
	if len(g.names) > 0 {
		t.Errorf("gaps for values that can be used, are null or missing: %v", g.names)
	}
	equal(t, "list", 1, len(d.list("list")))
	equal(t, "unusable", int64(0), d.count("na")+d.count("neg")+d.count("huge"))
	equal(t, "unusable", "", d.text("odd")+d.object("obj").text("x"))
	equal(t, "gaps", []string{"Thing.huge", "Thing.list", "Thing.na", "Thing.neg", "Thing.obj", "Thing.odd"}, g.list())
}

func TestGapsAreBoundedAndInOrder(t *testing.T) {
	g := &gaps{}
	for i := range 50 {
		g.note(strconv.Itoa(100 + i))
		g.note(strconv.Itoa(100 + i))
	}
	list := g.list()
	if len(list) != maxGaps+1 || list[0] != "100" || list[maxGaps] != "and 30 more" {
		t.Errorf("got %v", list)
	}
}

func TestHollowDocuments(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`: true, `{"@odata.id":"/x","@odata.type":"y","Links":{}}`: true, `{"Name":null}`: true, `{"@odata.id":"/x","Name":"n"}`: false,
	} {
		d, _ := parse(t, raw)
		equal(t, raw, want, d.hollow())
	}
}

// FuzzDocument: no payload makes reading panic.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"a":{"b":[1,"x",null,{"c":true}]}}`, `{"a":1e999}`, `{"Members":null}`, "\xef\xbb\xbf{}", `{"a`} {
		f.Add([]byte(seed), "a")
	}
	f.Fuzz(func(_ *testing.T, raw []byte, key string) {
		parseMessages(raw)
		d, err := parseDocument(raw, "x", &gaps{})
		if err != nil {
			return
		}
		d.text(key)
		d.number(key)
		d.count(key)
		d.flag(key)
		d.link(key)
		d.links(key)
		d.texts(key)
		d.hollow()
		for _, inner := range append(d.list(key), d.object(key)) {
			inner.text(key)
		}
		s := (&BMC{}).newSystem("/redfish/v1/Systems/1", d, nil)
		(&BMC{}).facts(s)
		bootTargets(s)
	})
}

// TestErrorsAreReadInEveryShape: extended information as object, list, string, beside a property or misspelt never breaks the reading (B138).
func TestErrorsAreReadInEveryShape(t *testing.T) {
	for name, body := range map[string]string{
		"list":            redfishError("SessionLimitExceeded", "full"),
		"object":          `{"error":{"@Message.ExtendedInfo":{"MessageId":"Base.1.8.SessionLimitExceeded"}}}`,
		"code only":       `{"error":{"code":"Base.1.8.SessionLimitExceeded","message":"full"}}`,
		"error as a list": `{"error":[{"MessageId":"Base.1.8.SessionLimitExceeded"}]}`,
		"at the top":      `{"@Message.ExtendedInfo":[{"MessageId":"SessionLimitExceeded"}]}`,
		"by property":     `{"UserName@Message.ExtendedInfo":[{"MessageID":"iLO.2.14.SessionLimitExceeded"}]}`,
	} {
		if !anyOf(parseMessages([]byte(body)), sessionsFullMessages) {
			t.Errorf("%s: not understood", name)
		}
	}
	for _, body := range []string{``, `null`, `[]`, `"x"`, `{"error":"text"}`, `{"error":null}`, `{"error":7}`, `{"error":{"@Message.ExtendedInfo":"text"}}`,
		`{"error":{"@Message.ExtendedInfo":[7,null,"x"]}}`, `<html>`, `{"error":{"code":7}}`} {
		if anyOf(parseMessages([]byte(body)), sessionsFullMessages) {
			t.Errorf("%s: understood as something it is not", body)
		}
	}
}

// TestMessageIDsAreNames: what stands in an error of ours is a name and nothing else (B244).
func TestMessageIDsAreNames(t *testing.T) {
	for _, m := range parseMessages([]byte(`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.0.bad\nid <b>"}]}}`)) {
		equal(t, "id", "", m.id)
	}
}

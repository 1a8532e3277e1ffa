// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"errors"
	"mime"
	"net/mail"
	"strings"
	"testing"
)

// FuzzRender: whatever a tenant writes, there is an Error of the set or a result that fits; never a panic, and without an authority never
// another content.
func FuzzRender(f *testing.F) {
	for _, row := range forms {
		f.Add([]byte(row.data))
		f.Add([]byte(gzipped(f, row.data)))
		f.Add([]byte(wrapped(row.data)))
	}
	for _, data := range []string{"", theirIgnition, `{"ignition":`, `{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/etc/ssh/holdfast"}]}}`, "From ", "\t:\nMIME-Version:", base64ed(gzipped(f, theirIgnition))} {
		f.Add([]byte(data))
	}
	authorities := staff(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		checkHandedOn(t, data)
		checkAdded(t, data, authorities)
		if !bytes.Equal(before, data) {
			t.Error("the caller's bytes are written")
		}
	})
}

func checkHandedOn(t *testing.T, data []byte) {
	t.Helper()
	got, err := Render(data, nil)
	if !isResult(t, got, err) || got.Form == FormIgnition {
		return
	}
	is := got.Data
	if got.Compressed {
		is, err = wantDecompressed(is)
	}
	if err != nil || !bytes.Equal(is, data) {
		t.Errorf("without an authority: %q is handed on as %q (%v)", data, is, err)
	}
}

func checkAdded(t *testing.T, data []byte, authorities []Authority) {
	t.Helper()
	got, err := Render(data, authorities)
	if !isResult(t, got, err) {
		return
	}
	again, _ := Render(data, authorities)
	if !bytes.Equal(got.Data, again.Data) {
		t.Error("not the same again")
	}
	if got.Form == FormIgnition {
		onTheMachine(t, got.Data)
		return
	}
	is := got.Data
	if got.Compressed {
		is, err = wantDecompressed(is)
	}
	if err != nil {
		t.Fatal(err)
	}
	if last := lastPart(t, is); !strings.Contains(last, keysPath) {
		t.Errorf("ours is not the last part: %q", last)
	}
}

// isResult tells whether there is a result, and complains of what is neither that nor an Error.
func isResult(t *testing.T, got Rendered, err error) bool {
	t.Helper()
	var e *Error
	if err != nil {
		if !errors.As(err, &e) || got.Data != nil {
			t.Errorf("got %T %v, and %q", err, err, got.Data)
		}
		return false
	}
	if got.EncodedLen() > MaxEncoded {
		t.Errorf("%d characters", got.EncodedLen())
	}
	return true
}

// lastPart is found by the boundary alone: the user's part may be a message that other readers than cloud-init's refuse.
func lastPart(t *testing.T, data []byte) string {
	t.Helper()
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n--"+parameters["boundary"])
	if n := len(parts) - 2; n != 2 && n != 3 {
		t.Fatalf("%d parts", n)
	}
	if end := parts[len(parts)-1]; end != "--\n" {
		t.Errorf("ends in %q", end)
	}
	return parts[len(parts)-2]
}

// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
)

// entity is one part of a MIME message as it is written: headers, an empty line, the body. What the user's message says stands in it
// verbatim, which is why the archive is written here: writers of messages compose the headers of their parts anew.
type entity []byte

// header is a line of a part's header.
type header struct{ name, value string }

const (
	maxLine      = 998 // characters of a line of a message: RFC 5322, 2.1.1
	encodedWidth = 76  // characters of a line of base64: RFC 2045, 6.8
)

// part is an entity that holds data of a content type. Plain text stands as it is, so that people can read what a server was given;
// the rest is base64. Text that is not ASCII is never put in as it is: cloud-init would read it as another encoding.
func part(contentType string, data []byte, headers ...header) entity {
	var out bytes.Buffer
	encoding, body := "7bit", data
	if !isPlain(data) {
		encoding, body = "base64", encodeLines(data)
	}
	fmt.Fprintf(&out, "Content-Type: %s; charset=\"utf-8\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: %s\n", contentType, encoding)
	for _, h := range headers {
		fmt.Fprintf(&out, "%s: %s\n", h.name, h.value)
	}
	out.WriteByte('\n')
	out.Write(body)
	return out.Bytes()
}

// isPlain tells whether data can stand in a message as they are.
func isPlain(data []byte) bool {
	line := 0
	for _, c := range data {
		switch {
		case c == '\n':
			line = 0
			continue
		case c != '\t' && (c < ' ' || c > '~'):
			return false
		}
		if line++; line > maxLine {
			return false
		}
	}
	return true
}

func encodeLines(data []byte) []byte {
	encoded := base64.StdEncoding.AppendEncode(nil, data)
	var out bytes.Buffer
	for len(encoded) > encodedWidth {
		out.Write(encoded[:encodedWidth])
		out.WriteByte('\n')
		encoded = encoded[encodedWidth:]
	}
	out.Write(encoded)
	return out.Bytes()
}

// archive joins parts to one message. The line break before a boundary belongs to the boundary: parts keep their last byte.
func archive(parts []entity) []byte {
	separator := boundary(parts)
	var out bytes.Buffer
	fmt.Fprintf(&out, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"%s\"\n", separator)
	for _, p := range parts {
		fmt.Fprintf(&out, "\n--%s\n", separator)
		out.Write(p)
	}
	fmt.Fprintf(&out, "\n--%s--\n", separator)
	return out.Bytes()
}

// boundary is made of the parts and in none of them, so that the same parts give the same archive.
func boundary(parts []entity) string {
	digest := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(digest, "%d\n", len(p))
		digest.Write(p)
	}
	for {
		sum := digest.Sum(nil)
		candidate := "holdfast-" + hex.EncodeToString(sum[:12])
		if !containsAny(parts, candidate) {
			return candidate
		}
		digest.Write(sum)
	}
}

func containsAny(parts []entity, text string) bool {
	for _, p := range parts {
		if bytes.Contains(p, []byte(text)) {
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
)

const (
	// maxUnwrapped bounds what compressed user data may become here: compression of a few kilobytes can hold gigabytes.
	maxUnwrapped = 4 << 20
	// maxLayers of base64 and gzip: two by a person who is thorough, and as many again by tools.
	maxLayers = 4
)

var gzipMagic = []byte{0x1f, 0x8b}

// content is what is below the layers of base64 and gzip.
type content struct {
	data        []byte
	form        Form
	contentType string // of a part that holds it, "" for forms that are no single part
	layers      int    // taken off
}

// unwrap takes off base64 and gzip, in any order. Text that merely could be base64 stays what it is: it is decoded only when something
// that is known comes out of it.
func unwrap(data []byte) (content, *Error) {
	found := content{data: data}
	for found.layers = 0; ; found.layers++ {
		found.form, found.contentType = formOf(found.data)
		if found.form != FormUnknown || found.layers == maxLayers {
			return found, nil
		}
		below, err := unwrapOne(found.data)
		if err != nil || below == nil {
			return found, err
		}
		found.data = below
	}
}

// unwrapOne takes off one layer; nil when there is none.
func unwrapOne(data []byte) ([]byte, *Error) {
	if bytes.HasPrefix(data, gzipMagic) {
		return decompress(data)
	}
	decoded := decodeBase64(data)
	if decoded == nil {
		return nil, nil
	}
	if bytes.HasPrefix(decoded, gzipMagic) {
		return decoded, nil
	}
	if form, _ := formOf(decoded); form != FormUnknown {
		return decoded, nil
	}
	if decodeBase64(decoded) != nil {
		return decoded, nil
	}
	return nil, nil
}

func decompress(data []byte) ([]byte, *Error) {
	const message = "the user data begin as gzip and cannot be decompressed"
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errorf(ReasonMalformed, message).because(err)
	}
	decompressed, err := io.ReadAll(io.LimitReader(reader, maxUnwrapped+1))
	if err != nil {
		return nil, errorf(ReasonMalformed, message).because(err)
	}
	if len(decompressed) > maxUnwrapped {
		return nil, errorf(ReasonTooLarge, "the user data are more than %d bytes when decompressed", maxUnwrapped)
	}
	return decompressed, nil
}

// decodeBase64 decodes text of base64, in lines or not; nil when it is none.
func decodeBase64(data []byte) []byte {
	text := bytes.Join(bytes.Fields(data), nil)
	if len(text) == 0 || len(text)%4 != 0 {
		return nil
	}
	decoded, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return nil
	}
	return decoded
}

// compress is the same for the same data: no name, no time.
func compress(data []byte) []byte {
	var out bytes.Buffer
	// Neither the level nor a buffer can fail.
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = writer.Write(data)
	_ = writer.Close()
	return out.Bytes()
}

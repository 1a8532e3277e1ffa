// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"
)

// MaxEncoded is how many characters of base64 the compute API takes as user data (Nova: a server's user_data).
const MaxEncoded = 65535

// Rendered is what a server is given.
type Rendered struct {
	// Data is handed over as it is; the compute API takes it in base64. nil when there is nothing to hand over.
	Data []byte
	// Form of what the user wrote, below compression and base64.
	Form Form
	// Compressed tells that Data were compressed here, for the guest to decompress.
	Compressed bool
}

// EncodedLen is how many characters Data are in base64: at most MaxEncoded.
func (r Rendered) EncodedLen() int { return encodedLen(r.Data) }

func encodedLen(data []byte) int { return base64.StdEncoding.EncodedLen(len(data)) }

// Render makes what a server is given of what its user wrote, which may be nothing, and the authorities that it must trust, in any
// order. The only error is an *Error.
func Render(userData []byte, authorities []Authority) (Rendered, error) {
	rendered, err := render(userData, authorities)
	if err != nil {
		return Rendered{}, err // not rendered, err: a nil *Error in an error is not nil
	}
	return rendered, nil
}

func render(userData []byte, authorities []Authority) (Rendered, *Error) {
	if len(authorities) == 0 {
		return handOn(userData)
	}
	trusted, err := trust(authorities)
	if err != nil {
		return Rendered{}, err
	}
	found, err := unwrap(userData)
	if err != nil {
		return Rendered{}, err
	}
	switch found.form {
	case FormUnknown:
		return Rendered{}, errorf(ReasonFormUnknown,
			"the user data are neither cloud-init's nor Ignition's: an SSH certificate authority cannot be added to them")
	case FormIgnition:
		return mergeIgnition(found.data, trusted.files())
	default:
		return addParts(found, trusted)
	}
}

// handOn is the life of user data without an authority: as they are, if they fit. Whoever reads them is unknown, so nothing else is
// done for a reason but that.
func handOn(userData []byte) (Rendered, *Error) {
	found, _ := unwrap(userData) // what cannot be unwrapped is of an unknown form, and handed on all the same
	rendered := Rendered{Data: userData, Form: found.form}
	switch {
	case len(userData) == 0:
		return Rendered{Form: FormNone}, nil
	case rendered.EncodedLen() <= MaxEncoded:
		return rendered, nil
	case found.layers == 0 && found.form == FormIgnition:
		return mergeIgnition(userData, nil)
	case found.layers == 0 && found.form.cloudInit():
		return fit(userData, found.form)
	default:
		return Rendered{}, tooLarge(encodedLen(userData))
	}
}

// addParts makes the archive of the user's parts and ours: the script, then the files, so that the merge type of the last part decides.
func addParts(found content, trusted authorities) (Rendered, *Error) {
	if !utf8.Valid(found.data) {
		return Rendered{}, errorf(ReasonMalformed, "the user data are text that is not UTF-8: cloud-init cannot read it")
	}
	var parts []entity
	switch found.form {
	case FormNone:
	case FormMIME:
		// A message is a part as it is: its own header begins it, and its boundary is its own.
		parts = append(parts, found.data)
	default:
		parts = append(parts, part(found.contentType, found.data))
	}
	return fit(archive(append(parts, scriptPart(), filesPart(trusted.files()))), found.form)
}

// fit compresses what would not fit otherwise, for cloud-init, which decompresses.
func fit(data []byte, form Form) (Rendered, *Error) {
	rendered := Rendered{Data: data, Form: form}
	if rendered.EncodedLen() <= MaxEncoded {
		return rendered, nil
	}
	rendered.Data, rendered.Compressed = compress(data), true
	if rendered.EncodedLen() <= MaxEncoded {
		return rendered, nil
	}
	return Rendered{}, errorf(ReasonTooLarge, "%s; compressed, %d", sizes(encodedLen(data)), rendered.EncodedLen())
}

func tooLarge(encoded int) *Error { return errorf(ReasonTooLarge, "%s", sizes(encoded)) }

func sizes(encoded int) string {
	return fmt.Sprintf("the user data with all that is added are %d characters of base64, and %d are the limit", encoded, MaxEncoded)
}

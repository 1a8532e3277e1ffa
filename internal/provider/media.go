// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"net/url"
	"path"
	"strings"
)

// MediaSlot is one slot for virtual media that takes a CD or DVD image.
type MediaSlot struct {
	Slot     string // Redfish Id
	Image    string // as the BMC tells it, which may lack scheme or host; "" where it tells none
	Inserted bool   // the system sees Image. An image that is told and not inserted is a leftover (B111)
}

// Holds says that this image is inserted. BMCs drop scheme or host, or escape and unescape, what they were given; one that tells no more than
// the file's name is believed.
func (s MediaSlot) Holds(image string) bool {
	if !s.Inserted || s.Image == "" {
		return false
	}
	told, wanted := plainImage(s.Image), plainImage(image)
	return told == wanted || (!strings.Contains(told, "/") && told == path.Base(wanted))
}

// plainImage is a URL without scheme and escapes.
func plainImage(image string) string {
	if _, rest, found := strings.Cut(image, "://"); found {
		image = rest
	}
	if plain, err := url.PathUnescape(image); err == nil {
		image = plain
	}
	return strings.TrimPrefix(image, "//")
}

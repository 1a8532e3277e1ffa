// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// UnreadableError says which entry of a ledger cannot be read, and why. The object is parked until a person has corrected or removed
// the entry: an unreadable memory is never an empty one.
type UnreadableError struct {
	// Key of the annotation.
	Key string
	// Err says what is wrong with its value.
	Err error
}

// Error implements error.
func (e *UnreadableError) Error() string { return fmt.Sprintf("annotation %s: %v", e.Key, e.Err) }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreadableError) Unwrap() error { return e.Err }

// longest entry that is read. Every entry of ours is shorter, one with the longest URL of an image included.
const longest = 8192

var (
	errEmpty   = errors.New("is empty")
	errLong    = fmt.Errorf("is longer than %d bytes", longest)
	errUnknown = errors.New("is no entry this version knows; a newer version may have written it")
)

// reader puts the value of one entry into a ledger of type T.
type reader[T any] func(into *T, value string) error

var serverReaders = map[string]reader[Server]{
	KeyIdentity:     text(func(s *Server) *string { return &s.Identity }),
	KeyOwner:        text(func(s *Server) *string { return &s.Owner }),
	KeyRestoreEpoch: text(func(s *Server) *string { return &s.RestoreEpoch }),
	KeyObjectUID: func(s *Server, value string) error {
		uid, err := parseText(value)
		s.ObjectUID = types.UID(uid)
		return err
	},
	KeyDiscoveredAt: instant(func(s *Server) *time.Time { return &s.DiscoveredAt }),
	KeyRestarted:    instant(func(s *Server) *time.Time { return &s.Restarted }),
	KeyDirtySince:   instant(func(s *Server) *time.Time { return &s.DirtySince }),
	KeyOffAt:        instant(func(s *Server) *time.Time { return &s.OffAt }),
	KeyPowerOn:      object(func(s *Server) **PowerOn { return &s.PowerOn }),
	KeyBoot:         object(func(s *Server) **Boot { return &s.Boot }),
	KeyReleased:     object(func(s *Server) **Released { return &s.Released }),
	KeyAssetTag:     object(func(s *Server) **AssetTag { return &s.AssetTag }),
	KeyIntent:       object(func(s *Server) **Intent { return &s.Intent }),

	KeyProvisionedAt:  object(func(s *Server) **Provisioned { return &s.ProvisionedAt }),
	KeyProviderID:     text(func(s *Server) *string { return &s.ProviderID }),
	KeyCreateAttempts: object(func(s *Server) **CreateAttempts { return &s.CreateAttempts }),
	KeyImage:          object(func(s *Server) **Image { return &s.Image }),
	KeyNetwork:        object(func(s *Server) **Network { return &s.Network }),
	KeyProject:        text(func(s *Server) *string { return &s.Project }),
}

var claimReaders = map[string]reader[Claim]{
	KeyIdentity: text(func(c *Claim) *string { return &c.Identity }),
	KeyBound:    text(func(c *Claim) *string { return &c.Bound }),
}

// ParseServer reads the ledger of a server from the annotations of its object. Other annotations are passed over.
// The error is an *UnreadableError; the ledger is then not to be used.
func ParseServer(annotations map[string]string) (Server, error) {
	return parse(annotations, serverReaders)
}

// ParseClaim reads the ledger of a claim from the annotations of its object. The error is an *UnreadableError.
func ParseClaim(annotations map[string]string) (Claim, error) {
	return parse(annotations, claimReaders)
}

func parse[T any](annotations map[string]string, readers map[string]reader[T]) (T, error) {
	var ledger, none T
	// Sorted, so that the same entry is named each time where several cannot be read.
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if !strings.HasPrefix(key, v1alpha1.LedgerPrefix) {
			continue
		}
		read, known := readers[key]
		if !known {
			return none, &UnreadableError{Key: key, Err: errUnknown}
		}
		if err := read(&ledger, annotations[key]); err != nil {
			return none, &UnreadableError{Key: key, Err: err}
		}
	}
	return ledger, nil
}

func text[T any](field func(*T) *string) reader[T] {
	return func(into *T, value string) (err error) {
		*field(into), err = parseText(value)
		return err
	}
}

func instant[T any](field func(*T) *time.Time) reader[T] {
	return func(into *T, value string) (err error) {
		*field(into), err = parseTime(value)
		return err
	}
}

// checked is an entry that knows what its fields may say.
type checked interface{ check() error }

func object[T any, V any, P interface {
	*V
	checked
}](field func(*T) *P) reader[T] {
	return func(into *T, value string) error {
		if err := fits(value); err != nil {
			return err
		}
		entry := P(new(V))
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(entry); err != nil {
			return err
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return errors.New("has something after its value")
		}
		if bytes.HasPrefix(bytes.TrimSpace([]byte(value)), []byte("null")) {
			return errEmpty
		}
		if err := entry.check(); err != nil {
			return err
		}
		*field(into) = entry
		return nil
	}
}

func fits(value string) error {
	switch {
	case value == "":
		return errEmpty
	case len(value) > longest:
		return errLong
	}
	return nil
}

func parseText(value string) (string, error) {
	if err := fits(value); err != nil {
		return "", err
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", errors.New("has a space or a control character in it")
	}
	return value, nil
}

func parseTime(value string) (time.Time, error) {
	if err := fits(value); err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}, fmt.Errorf("is no time as of RFC 3339: %q", value)
	}
	if t.IsZero() {
		return time.Time{}, errors.New("is the zero time")
	}
	return t.UTC(), nil
}

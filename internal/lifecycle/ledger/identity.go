// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// namespace of the identities of machines. It is a contract: another value would make every server another server.
var namespace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("server.holdfast.dev"))

// Hardware is what tells one machine from all others.
type Hardware struct {
	SystemUUID  string // of the ComputerSystem, in any case
	Serial      string
	ManagerUUID string
	SystemID    string // Redfish Id, unique behind one manager only
}

// MachineIdentity derives the identity of a machine from the best that is known of it: the UUID of its system, else its serial
// number, else its manager's UUID with its Id. "" where none is known. The same machine has the same identity whatever object
// speaks of it (P11).
func MachineIdentity(h Hardware) string {
	switch serial := strings.TrimSpace(h.Serial); {
	case h.SystemUUID != "":
		return derive(strings.ToLower(h.SystemUUID))
	case serial != "" && !placeholder(serial):
		return derive("serial:" + serial)
	case h.ManagerUUID != "" && h.SystemID != "":
		return derive("manager:" + strings.ToLower(h.ManagerUUID) + "/" + h.SystemID)
	}
	return ""
}

func derive(name string) string { return uuid.NewSHA1(namespace, []byte(name)).String() }

// placeholders are what firmware says where nobody has set a serial number.
var placeholders = []string{
	"none", "n/a", "na", "null", "unknown", "not specified", "not available", "not applicable", "default string",
	"to be filled by o.e.m.", "system serial number", "0123456789", "123456789",
}

func placeholder(serial string) bool {
	if strings.Trim(serial, "0xX.- ") == "" {
		return true
	}
	for _, p := range placeholders {
		if strings.EqualFold(serial, p) {
			return true
		}
	}
	return false
}

// stampPrefix starts every stamp: a mark of Holdfast's, first form.
const stampPrefix = "hf1:"

// Stamp is the mark on a machine that was made ready to boot for a claim: a digest, since many asset tags are short.
func Stamp(identity, owner, claim string) string {
	digest := sha256.New()
	for _, part := range []string{identity, owner, claim} {
		// With its length, so that no two triples are one text.
		digest.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	const chars = 16
	return stampPrefix + strings.ToLower(base32.StdEncoding.EncodeToString(digest.Sum(nil)))[:chars]
}

// IsStamp says whether an asset tag is a mark of Holdfast's, whoever's it is.
func IsStamp(assetTag string) bool { return strings.HasPrefix(assetTag, stampPrefix) }

// ClaimedIdentity is the identity of the virtual server that is made for a claim, by the claim's own: whoever makes it anew, after
// whatever was lost, makes the same server (P11).
func ClaimedIdentity(claim string) string { return derive("claim:" + claim) }

// ObjectIdentity is the identity of a virtual server that no claim made: of the first object that spoke of it.
func ObjectIdentity(uid types.UID) string { return derive("object:" + string(uid)) }

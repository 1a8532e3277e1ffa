// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strconv"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// longestName is what a label of DNS holds: the VM bears the name of its Server, as a host does.
const longestName = 63

// ServerNames are the names for the Server that a class makes for a claim, in the order in which they are to be tried. They follow from
// the claim alone, so that whoever makes the Server, after whatever was lost, makes it under the same name: two of them meet at the API
// server (B189). Another claim, also a later one of the same namespace and name, gives other names. There is no last one.
func ServerNames(c *v1alpha1.ServerClaim) iter.Seq[string] {
	return func(yield func(string) bool) {
		for attempt := 0; yield(serverName(c, attempt)); attempt++ {
		}
	}
}

// serverName is <namespace>-<claim>-<digest>, in the form of one label of DNS.
func serverName(c *v1alpha1.ServerClaim, attempt int) string {
	const digits = 8
	digest := sha256.Sum256([]byte(strconv.Itoa(attempt) + ":" + c.Namespace + "/" + c.Name + ":" + c.Annotations[ledger.KeyIdentity]))
	readable := strings.ReplaceAll(c.Namespace+"-"+c.Name, ".", "-")
	readable = strings.TrimRight(readable[:min(len(readable), longestName-digits-1)], "-")
	return readable + "-" + hex.EncodeToString(digest[:])[:digits]
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// obj is a JSON object.
type obj = map[string]any

// reply is an answer before it goes out.
type reply struct {
	status int
	header http.Header
	body   obj
	raw    []byte                                   // instead of body
	stream func(*http.Request, http.ResponseWriter) // instead of both, outside the lock
}

func newReply(status int, body obj) *reply {
	return &reply{status: status, header: http.Header{}, body: body}
}

func noContent() *reply { return newReply(http.StatusNoContent, nil) }

// encode returns the body's bytes.
func (r *reply) encode() []byte {
	if r.raw != nil || r.body == nil {
		return r.raw
	}
	return wire.JSON(r.body)
}

func (r *reply) send(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	for key, values := range r.header {
		header[key] = values
	}
	header.Set("OData-Version", "4.0")
	header.Set("Cache-Control", "no-cache")
	body := r.encode()
	if len(body) > 0 && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if r.status != http.StatusNoContent && r.status != http.StatusNotModified {
		header.Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // JSON, for programs
	}
}

// redfishError is an error reply with one message of the Base registry.
func redfishError(status int, key, message string, args ...string) *reply {
	if args == nil {
		args = []string{}
	}
	return newReply(status, obj{"error": obj{
		"code":    "Base.1.18.GeneralError",
		"message": "A general error has occurred. See ExtendedInfo for more information.",
		"@Message.ExtendedInfo": []obj{{
			"@odata.type": "#Message.v1_1_2.Message", "MessageId": messageID(key), "Message": message,
			"MessageArgs": args, "Severity": "Warning", "MessageSeverity": "Warning", "Resolution": "See the message.",
		}},
	}})
}

// messageID is the id of a message of the Base registry, unless key names a registry itself.
func messageID(key string) string {
	if strings.Contains(key, ".") {
		return key
	}
	return "Base.1.18." + key
}

func notFound(path string) *reply {
	return redfishError(http.StatusNotFound, "ResourceMissingAtURI", fmt.Sprintf("The resource at the URI '%s' was not found.", path), path)
}

func unauthorized() *reply {
	r := redfishError(http.StatusUnauthorized, "NoValidSession", "There is no valid session established with the implementation.")
	r.header.Set("WWW-Authenticate", `Basic realm="Redfish"`)
	return r
}

// etagOf is an entity tag of a document's content.
func etagOf(doc obj) string {
	hash := fnv.New64a()
	_, _ = hash.Write((&reply{body: doc}).encode())
	return fmt.Sprintf(`"%016x"`, hash.Sum64())
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import "fmt"

// ErrorShape is how a BMC words the body of a refusal (B138).
type ErrorShape string

// The shapes errors were seen in. The zero value is the specification's.
const (
	ErrorProper   ErrorShape = ""
	ErrorText     ErrorShape = "text"      // "error" is a text
	ErrorNoInfo   ErrorShape = "no-info"   // code and message, no extended information
	ErrorOneInfo  ErrorShape = "one-info"  // extended information is an object, not a list
	ErrorTextInfo ErrorShape = "text-info" // extended information is a list of texts
	ErrorBare     ErrorShape = "bare"      // extended information without "error" around it
	ErrorEmpty    ErrorShape = "empty"     // an empty object
	ErrorNothing  ErrorShape = "nothing"   // no body
)

// reshape words the body of a refusal.
func (s ErrorShape) reshape(r *reply) {
	proper, refused := r.body["error"].(obj)
	if !refused {
		return
	}
	info := proper["@Message.ExtendedInfo"].([]obj)
	switch s {
	case ErrorProper:
	case ErrorText:
		r.body = obj{"error": info[0]["Message"]}
	case ErrorNoInfo:
		r.body = obj{"error": obj{"code": info[0]["MessageId"], "message": info[0]["Message"]}}
	case ErrorOneInfo:
		r.body = obj{"error": obj{"code": proper["code"], "message": proper["message"], "@Message.ExtendedInfo": info[0]}}
	case ErrorTextInfo:
		r.body = obj{"error": obj{"code": proper["code"], "message": proper["message"], "@Message.ExtendedInfo": []any{info[0]["Message"], nil}}}
	case ErrorBare:
		r.body = obj{"@Message.ExtendedInfo": info}
	case ErrorEmpty:
		r.body = obj{}
	case ErrorNothing:
		r.body = nil
	}
}

// asText writes all numbers of a document as text, as some firmware does (B135).
func asText(value any) any {
	switch value := value.(type) {
	case obj:
		for member, child := range value {
			value[member] = asText(child)
		}
	case []obj:
		for _, child := range value {
			asText(child)
		}
	case int, int64, float64:
		return fmt.Sprint(value)
	}
	return value
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"slices"
	"strings"
)

// message is one entry of a Redfish error's extended information.
type message struct {
	id   string // last part of MessageId: "PropertyUnknown"
	text string // may quote what was sent: never shown, only searched
	args []string
}

// parseMessages reads the extended information of an error in any of the shapes services write it in: object, list or string under
// error, at the top, or beside a property. It never fails (B138).
func parseMessages(body []byte) []message {
	var top map[string]any
	if json.Unmarshal(body, &top) != nil {
		return nil
	}
	var out []message
	switch e := top["error"].(type) {
	case map[string]any:
		out = append(out, extended(e)...)
		if len(out) == 0 {
			out = append(out, toMessage(map[string]any{"MessageId": e["code"], "Message": e["message"]}))
		}
	case []any:
		for _, v := range e {
			if m, ok := v.(map[string]any); ok {
				out = append(out, toMessage(m))
			}
		}
	case string:
		out = append(out, message{text: e})
	}
	return append(out, extended(top)...)
}

func extended(m map[string]any) []message {
	var out []message
	for key, value := range m {
		if !strings.HasSuffix(key, "@Message.ExtendedInfo") {
			continue
		}
		switch v := value.(type) {
		case []any:
			for _, entry := range v {
				if e, ok := entry.(map[string]any); ok {
					out = append(out, toMessage(e))
				}
			}
		case map[string]any:
			out = append(out, toMessage(v))
		case string:
			out = append(out, message{text: v})
		}
	}
	return out
}

func toMessage(m map[string]any) message {
	text := func(key string) string { s, _ := m[key].(string); return s }
	id := text("MessageId")
	if id == "" {
		id = text("MessageID") // as some write it
	}
	out := message{id: id[strings.LastIndexByte(id, '.')+1:], text: text("Message")}
	if strings.ContainsFunc(out.id, notWord) {
		out.id = "" // shown to people, so nothing but a name may stand there
	}
	if args, ok := m["MessageArgs"].([]any); ok {
		for _, a := range args {
			if s, ok := a.(string); ok {
				out.args = append(out.args, s)
			}
		}
	}
	return out
}

func notWord(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
}

// messages that decide how a failure is classed, by the last part of their id. Sources: the Base registry, and what BMCs were seen to send.
var (
	// notNowMessages: the BMC will do it later.
	notNowMessages = []string{
		"ServiceTemporarilyUnavailable", "ServiceInUnknownState", "ServiceShuttingDown", "ResourceInUse", "ResourceInStandby",
		"ResourceBusy", "OperationTimeout", "UnableToModifyDuringSystemPOST", "SystemResetInProgress", "LongRunningOperation",
	}
	// sessionsFullMessages: the session table has no free place.
	sessionsFullMessages = []string{"SessionLimitExceeded", "MaximumSessionsReached", "MaxSessionsReached", "CreateLimitReachedForResource", "RAC0218"}
	// privilegeMessages: the credentials are right, the account may not.
	privilegeMessages = []string{"InsufficientPrivilege", "InsufficientPrivileges"}
	// passwordMessages: the account must change its password first.
	passwordMessages = []string{"PasswordChangeRequired"}
	// formMessages: the request itself is not as the BMC wants it.
	formMessages = []string{
		"ActionNotSupported", "ActionParameterMissing", "ActionParameterNotSupported", "ActionParameterUnknown", "ActionParameterValueNotInList",
		"ActionParameterValueFormatError", "ActionParameterValueTypeError", "ActionParameterValueError", "MalformedJSON", "PropertyValueNotInList",
	}
	// unwantedMessages: the request has a parameter too many.
	unwantedMessages = []string{"ActionParameterNotSupported", "ActionParameterUnknown", "PropertyUnknown", "PropertyNotWritable"}
	// stateMessages: the action does not fit the state the machine is in (B033).
	stateMessages = []string{"InvalidOperationForSystemState", "ActionNotAllowedInCurrentState", "OperationNotAllowed", "PowerOnInvalid", "AlreadyPoweredOn"}
)

func anyOf(messages []message, ids []string) bool {
	return slices.ContainsFunc(messages, func(m message) bool { return slices.Contains(ids, m.id) })
}

// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonUnspecified stands for a reason that is empty or malformed. The schema of metav1.Condition refuses
// such a reason, and with it the whole status write, hiding all that the write would have said; a reason
// that is visibly wrong is better.
const ReasonUnspecified = "Unspecified"

// Limits of metav1.Condition's schema, in characters. We count bytes, which is never more permissive.
const (
	maxReason  = 1024
	maxMessage = 32768
)

// Value is what a condition says, without its type: one value to return from a check and pass around,
// instead of three strings in the right order. The zero Value reads Unknown, Unspecified.
type Value struct {
	// Status is True, False or Unknown; empty means Unknown.
	Status metav1.ConditionStatus
	// Reason is a CamelCase word for programs.
	Reason string
	// Message is a sentence for people.
	Message string
}

// ValueOf reads the condition of the given type, typically of another object that this one depends on.
// Fields the condition leaves empty, or all of them when the condition is absent, are taken from fallback.
func ValueOf(conditions []metav1.Condition, conditionType string, fallback Value) Value {
	condition := find(conditions, conditionType)
	if condition == nil {
		return fallback
	}
	value := Value{Status: condition.Status, Reason: condition.Reason, Message: condition.Message}
	if value.Status == "" {
		value.Status = fallback.Status
	}
	if value.Reason == "" {
		value.Reason = fallback.Reason
	}
	if value.Message == "" {
		value.Message = fallback.Message
	}
	return value
}

// valid returns the value in a form the API server accepts. A malformed reason is kept in the message.
func (v Value) valid() Value {
	if v.Status == "" {
		v.Status = metav1.ConditionUnknown
	}
	switch {
	case v.Reason == "":
		v.Reason = ReasonUnspecified
	case !validReason(v.Reason):
		v.Message = v.Reason + ": " + v.Message
		v.Reason = ReasonUnspecified
	}
	v.Message = truncate(v.Message, maxMessage)
	return v
}

// validReason is metav1.Condition's pattern for a reason, ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, by hand
// because it runs for every condition of every pass.
func validReason(reason string) bool {
	if len(reason) > maxReason || !letter(reason[0]) {
		return false
	}
	for i := range len(reason) {
		if c := reason[i]; !letter(c) && (c < '0' || c > '9') && c != '_' && c != ',' && c != ':' {
			return false
		}
	}
	last := reason[len(reason)-1]
	return last != ',' && last != ':'
}

func letter(c byte) bool { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') }

// truncate cuts text to at most limit bytes, at a character's edge, and marks the cut. Bytes that are not
// UTF-8 (a provider's reply quoted in a message) are replaced, as JSON would: kept, they would read back
// differently and make every pass a change.
func truncate(text string, limit int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	cut := limit - len(mark)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

// find returns the condition of the given type in place, or nil.
func find(conditions []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

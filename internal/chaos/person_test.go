// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// A person types what the hold asks for, and nothing where it asks for none.
func TestAPersonTypesWhatTheHoldAsksFor(t *testing.T) {
	for message, want := range map[string]string{
		"sure that nobody uses it, annotate the Server with holdfast.dev/power-off=hf1:m336ip2bvsz74eu5":    "hf1:m336ip2bvsz74eu5",
		"annotate the Server with holdfast.dev/power-off=7f-3, or set spec.foundRunning to PowerOff":        "7f-3",
		"annotate the Server with holdfast.dev/power-off=7f-3. Ways out: switch it off by hand":             "7f-3",
		"restore the newer objects, or correct the VM's tags; holdfast.dev/resume=7f-3/monday is another's": "",
	} {
		server := &v1alpha1.Server{}
		server.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Message: message}}
		if got := asked(server, v1alpha1.AnnotationPowerOff); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
	if got := asked(&v1alpha1.Server{}, v1alpha1.AnnotationPowerOff); got != "" {
		t.Errorf("of an object that reports nothing: %q", got)
	}
	p := &person{campaign: &campaign{}}
	if err := p.consent(t.Context(), judge.Event{Kind: judge.ConsentedOff}, &v1alpha1.Server{}, v1alpha1.AnnotationPowerOff, ""); !errors.Is(err, errNothing) {
		t.Errorf("a consent that names nothing: %v", err)
	}
}

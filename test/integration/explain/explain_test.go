// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explain"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

func explainer(reader client.Reader, change ...func(*lifecycle.Settings)) *explain.Explainer {
	e := &explain.Explainer{Reader: reader, Settings: lifecycle.DefaultSettings(""), Now: time.Now}
	for _, c := range change {
		c(&e.Settings)
	}
	return e
}

func claim(name string, change func(*v1alpha1.ServerClaimSpec)) *v1alpha1.ServerClaim {
	c := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	change(&c.Spec)
	return c
}

// create creates an object for one test, and sees it gone at its end.
func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := stack.Admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		gone := func() error { return stack.Admin.Get(context.Background(), client.ObjectKeyFromObject(object), object) }
		if err := stack.Admin.Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
		err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return apierrors.IsNotFound(gone()), nil
		})
		if err != nil {
			t.Errorf("%s is not gone: %v", object.GetName(), err)
		}
	})
}

// Explain needs no more than the role of a viewer, says what it could not look at, and says of a server and a claim what their
// statuses say.
func TestAViewerIsToldWhatTheOperatorDecides(t *testing.T) {
	available(t, "rack1-u01")
	report, err := explainer(viewer).Server(t.Context(), "rack1-u01")
	if err != nil {
		t.Fatal(err)
	}
	if report.Phase != "Available" || report.Rule != "metal 12" || report.Step.Kind != lifecycle.StepSettled {
		t.Errorf("%+v", report.Description)
	}
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "--cluster-id") {
		t.Errorf("a viewer may not read the cluster's id, and is not told so: %q", notes)
	}
	report, err = explainer(stack.Admin).Server(t.Context(), "rack1-u01")
	if err != nil || len(report.Notes) > 0 {
		t.Errorf("an administrator sees all: %v, %v", report.Notes, err)
	}

	booked := claim("booked", func(s *v1alpha1.ServerClaimSpec) {
		s.ServerRef = &v1alpha1.LocalObjectReference{Name: "rack1-u01"}
		s.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "cloud-config"}
	})
	create(t, booked)
	testenv.Eventually(t, "the claim waits for its user data", func(ctx context.Context) error {
		if err := stack.Admin.Get(ctx, client.ObjectKeyFromObject(booked), booked); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(booked.Status.Conditions, v1alpha1.ConditionBound); c == nil || c.Status != metav1.ConditionTrue {
			return fmt.Errorf("%+v", booked.Status.Conditions)
		}
		return nil
	})
	report, err = explainer(viewer).Claim(t.Context(), client.ObjectKeyFromObject(booked))
	if err != nil {
		t.Fatal(err)
	}
	if report.Phase != "Bound" || report.Server == nil || report.Server.Phase != "Reserved" {
		t.Errorf("%+v", report)
	}
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "user data was not looked at") {
		t.Errorf("a viewer may not read secrets, and is not told so: %q", notes)
	}
}

// A claim that matches nothing is told why, as the claim controller counts it.
func TestAnUnmatchedClaimIsToldWhy(t *testing.T) {
	available(t, "rack2-u01")
	create(t, claim("nowhere", func(s *v1alpha1.ServerClaimSpec) {
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "r9"}}
	}))
	testenv.Eventually(t, "explained", func(ctx context.Context) error {
		report, err := explainer(viewer).Claim(ctx, types.NamespacedName{Namespace: "default", Name: "nowhere"})
		if err != nil {
			return err
		}
		if len(report.Gates) == 0 || report.Gates[0].Reason != v1alpha1.ReasonNoMatch || report.Server != nil {
			return fmt.Errorf("%+v", report)
		}
		return nil
	})
}

func TestExplainWritesNothingAndIsJSON(t *testing.T) {
	available(t, "rack2-u02")
	report, err := explainer(viewer).Server(t.Context(), "rack2-u02")
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Kind, Name, Phase, Rule string
		Step                    struct{ Kind, Clause string }
		Memory                  []struct{ Name, Text string }
	}
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	if read.Kind != "Server" || read.Name != "rack2-u02" || read.Phase != "Available" || read.Step.Clause != "Available.Settled" || len(read.Memory) < 4 {
		t.Errorf("%s", content)
	}
	events, err := testenv.ReadAudit(stack.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, event := range events {
		if event.ImpersonatedUser == nil || event.ImpersonatedUser.Username != viewerName {
			continue
		}
		reads++
		if testenv.IsWrite(event) {
			t.Errorf("a write: %s %s", event.Verb, event.RequestURI)
		}
	}
	if reads == 0 {
		t.Error("no request of the viewer is in the audit log: nothing was checked")
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	if _, err := explainer(viewer).Server(t.Context(), "nobody"); !apierrors.IsNotFound(err) {
		t.Errorf("server: %v", err)
	}
	if _, err := explainer(viewer).Claim(t.Context(), types.NamespacedName{Namespace: "default", Name: "nobody"}); !apierrors.IsNotFound(err) {
		t.Errorf("claim: %v", err)
	}
	var secrets corev1.SecretList
	if err := viewer.List(t.Context(), &secrets); !apierrors.IsForbidden(err) {
		t.Errorf("the viewer of these tests may list secrets: %v", err)
	}
}

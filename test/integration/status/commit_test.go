// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/holdfast-dev/holdfast/internal/testenv"
	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

// eachForm runs a test on a structured and on an unstructured object.
func eachForm(t *testing.T, test func(t *testing.T, w *widget.Widget, object status.Object)) {
	t.Run("structured", func(t *testing.T) {
		w := create(t)
		test(t, w, read(t, w))
	})
	t.Run("unstructured", func(t *testing.T) {
		w := create(t)
		test(t, w, readLoose(t, w))
	})
}

func TestWrittenMeansPersistedAndTheLocalObjectIsTheStoredOne(t *testing.T) {
	eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
		commit(t, object, status.Written, func(s *status.Session) {
			s.Set("Scheduled", yes, "NodeFound", "on node-7")
			converged(s)
		})
		stored := read(t, w)
		if c := conditionOf(stored, "Ready"); c.Status != yes || c.ObservedGeneration != stored.Generation {
			t.Errorf("%+v", c)
		}
		if stored.Status.ObservedGeneration != stored.Generation || len(stored.Status.Conditions) != 4 {
			t.Errorf("%+v", stored.Status)
		}
		if object.GetResourceVersion() != stored.ResourceVersion {
			t.Error("the local object is not the one stored")
		}
	})
}

// P8, B228: a settled object is silent. Counted in the API server's audit log, not in the client.
func TestAHundredPassesOverASettledObjectSendNothing(t *testing.T) {
	eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
		commit(t, object, status.Written, converged)
		version := read(t, w).ResourceVersion
		for range 50 {
			commit(t, read(t, w), status.Unchanged, converged)
			commit(t, readLoose(t, w), status.Unchanged, converged)
		}
		if stored := read(t, w); stored.ResourceVersion != version {
			t.Errorf("version %s became %s", version, stored.ResourceVersion)
		}
		// The log is in the order of requests: a write after them all says that it is complete.
		patch(t, w, "", `{"metadata":{"annotations":{"marker":"last"}}}`)
		testenv.Eventually(t, "the audit log to hold the last write", func(ctx context.Context) error {
			return auditedWrites(w.Name, map[string]int{"create": 1, "patch status": 1, "patch": 1})
		})
	})
}

func TestAChangeBetweenReadAndCommitIsALostRace(t *testing.T) {
	for name, interfere := range map[string]func(t *testing.T, w *widget.Widget){
		"metadata": func(t *testing.T, w *widget.Widget) { patch(t, w, "", `{"metadata":{"labels":{"a":"b"}}}`) },
		"spec":     func(t *testing.T, w *widget.Widget) { patch(t, w, "", `{"spec":{"parts":5}}`) },
		"status":   func(t *testing.T, w *widget.Widget) { patch(t, w, "status", `{"status":{"phase":"Theirs"}}`) },
		"recreated under the same name": func(t *testing.T, w *widget.Widget) {
			if err := api.Delete(t.Context(), w.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			again := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
			if err := api.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
				interfere(t, w)
				before := read(t, w)
				ran := false
				commit(t, object, status.LostRace, func(s *status.Session) {
					s.AfterPersist(func() { ran = true })
					converged(s)
				})
				after := read(t, w)
				if after.ResourceVersion != before.ResourceVersion || len(after.Status.Conditions) > 0 || ran {
					t.Errorf("something was published: %+v, callback %v", after.Status, ran)
				}
				commit(t, after, status.Written, converged) // the next pass, on fresh data
			})
		})
	}
}

func TestADeletedObjectIsGoneAndThatIsNoError(t *testing.T) {
	eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
		if err := api.Delete(t.Context(), w.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		commit(t, object, status.Gone, converged)
	})
}

// P10: absence is not evidence. A kind that is no longer served answers 404 as well, and that does not say
// that the object is gone.
func TestA404OfThePathIsAnErrorAndNotGone(t *testing.T) {
	correct, err := widget.CRD()
	if err != nil {
		t.Fatal(err)
	}
	crd := renamed(correct, "Removed"+utilrand.String(5))
	if _, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		t.Fatal(err)
	}
	removedKind := widget.GroupVersion.WithKind(crd.Spec.Names.Kind)
	object := createOther(t, removedKind)
	commit(t, object, status.Written, converged) // the client knows the kind from here on
	if err := api.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "the kind to be served no longer", func(ctx context.Context) error {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(removedKind)
		err := api.Get(ctx, client.ObjectKeyFromObject(object), u)
		if apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
			return nil
		}
		return fmt.Errorf("the answer is %w", err)
	})
	commit(t, object, status.Failed, func(s *status.Session) { s.Stalled("New", "") })
}

// The one 404 that cannot be told apart: the API server says "not found" of an object that is there when
// its CRD has no status subresource. Package statustest refuses such a CRD.
func TestAKindWithoutStatusSubresourceReadsAsGone(t *testing.T) {
	commit(t, createOther(t, bareKind), status.Gone, converged)
}

// createOther makes an object of a kind that has no Go type.
func createOther(t *testing.T, kind schema.GroupVersionKind) status.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("default")
	u.SetName(nameOf(t))
	if err := api.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), u.DeepCopy()) })
	object, err := status.FromUnstructured(u)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestObjectsBeingDeletedCanStillBeReportedOn(t *testing.T) {
	w := create(t)
	patch(t, w, "", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := api.Delete(t.Context(), read(t, w)); err != nil {
		t.Fatal(err)
	}
	commit(t, read(t, w), status.Written, func(s *status.Session) { s.Progressing("Deleting", "") })
	if c := conditionOf(read(t, w), "Ready"); c.Reason != "Deleting" {
		t.Errorf("%+v", c)
	}
}

// The fact a session builds on: metadata in a status patch is dropped, so sending it would be a write
// that never settles.
func TestMetadataSentToStatusIsDroppedAndASessionNeverSendsIt(t *testing.T) {
	w := create(t)
	patch(t, w, "status", `{"metadata":{"annotations":{"a":"b"},"finalizers":["example.com/f"]},"spec":{"parts":9},"status":{"phase":"P"}}`)
	stored := read(t, w)
	if len(stored.Annotations) > 0 || len(stored.Finalizers) > 0 || stored.Spec.Parts != 0 || stored.Status.Phase != "P" {
		t.Fatalf("the API server took it: %+v", stored)
	}
	commit(t, read(t, w), status.Written, converged)
	edited := read(t, w)
	commit(t, edited, status.Unchanged, func(s *status.Session) {
		edited.Annotations = map[string]string{"a": "b"}
		edited.Spec.Parts = 9
		converged(s)
	})
}

// Without the call the same pass loses its race against itself.
func TestMetadataWrittenCarriesAFinalizerAddedInsideTheSession(t *testing.T) {
	addFinalizer := func(t *testing.T, object status.Object) {
		t.Helper()
		target := client.Object(object)
		if holder, ok := object.(interface {
			UnstructuredContent() map[string]any
		}); ok {
			target = &unstructured.Unstructured{Object: holder.UnstructuredContent()}
		}
		before := target.DeepCopyObject().(client.Object)
		target.SetFinalizers([]string{"example.com/hold"})
		if err := api.Patch(t.Context(), target, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		if u, ok := target.(*unstructured.Unstructured); ok {
			object.(interface{ SetUnstructuredContent(map[string]any) }).SetUnstructuredContent(u.Object)
		}
	}
	t.Run("with", func(t *testing.T) {
		eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
			commit(t, object, status.Written, func(s *status.Session) {
				s.Set("Scheduled", no, "NoNode", "")
				addFinalizer(t, object)
				s.MetadataWritten()
				converged(s)
			})
			stored := read(t, w)
			if len(stored.Finalizers) != 1 || conditionOf(stored, "Scheduled").Reason != "NoNode" ||
				stored.Status.ObservedGeneration != stored.Generation {
				t.Errorf("%v %+v", stored.Finalizers, stored.Status)
			}
		})
	})
	t.Run("without", func(t *testing.T) {
		eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
			commit(t, object, status.LostRace, func(s *status.Session) {
				addFinalizer(t, object)
				converged(s)
			})
		})
	})
}

// What the schema of metav1.Condition refuses would cost the whole write.
func TestNothingASessionSetsIsRefusedByTheConditionSchema(t *testing.T) {
	for name, value := range map[string]status.Value{
		"zero":             {},
		"malformed reason": {Status: yes, Reason: "404 not found!", Message: "m"},
		"overlong reason":  {Status: yes, Reason: strings.Repeat("R", 2000)},
		"overlong message": {Status: yes, Reason: "R", Message: strings.Repeat("ü", 40_000)},
		"not UTF-8":        {Status: yes, Reason: "R", Message: "\xff\xfe\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
				report := func(s *status.Session) {
					s.SetValue("Domain", value)
					s.Stalled(value.Reason, value.Message)
				}
				commit(t, object, status.Written, report)
				commit(t, read(t, w), status.Unchanged, report)
				commit(t, readLoose(t, w), status.Unchanged, report)
			})
		})
	}
}

// A controller older than the CRD must not drop what it does not know.
func TestStatusFieldsUnknownToTheGoTypeSurvive(t *testing.T) {
	w := create(t)
	patch(t, w, "status", `{"status":{"newer":"kept"}}`)
	commit(t, read(t, w), status.Written, converged)
	if newer, _, _ := unstructured.NestedString(readUnstructured(t, w).Object, "status", "newer"); newer != "kept" {
		t.Errorf("newer is %q", newer)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package status shows, on a real API server, what package status relies on and promises.
package status

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/testenv"
	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

const (
	yes = metav1.ConditionTrue
	no  = metav1.ConditionFalse
)

var (
	env      *testenv.Environment
	auditLog string
	api      client.Client
	kind     = widget.GroupVersion.WithKind("Widget")
	bareKind = widget.GroupVersion.WithKind("Bare")
	scheme   = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, widget.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "status-audit-")
	if err != nil {
		fatal(err)
	}
	auditLog = filepath.Join(dir, "audit.log")
	code := testenv.Main(m, testenv.Options{AuditLog: auditLog}, func(e *testenv.Environment) {
		env = e
		if err := prepare(); err != nil {
			fatal(err)
		}
	})
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func prepare() error {
	crds, err := definitions()
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		return err
	}
	api, err = client.New(env.Config, client.Options{Scheme: scheme})
	return err
}

// definitions are the CRD of Widget, with a status field that its Go type does not know yet; a kind whose
// author forgot the status subresource; and the broken ones.
func definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	correct, err := widget.CRD()
	if err != nil {
		return nil, err
	}
	newer := correct.DeepCopy()
	newer.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties["newer"] =
		apiextensionsv1.JSONSchemaProps{Type: "string"}
	bare := renamed(newer, "Bare")
	bare.Spec.Versions[0].Subresources = nil
	crds := []*apiextensionsv1.CustomResourceDefinition{newer, bare}
	return append(crds, brokenDefinitions(correct)...), nil
}

func renamed(crd *apiextensionsv1.CustomResourceDefinition, kind string) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	singular := strings.ToLower(kind)
	crd.Name = singular + "s." + crd.Spec.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: kind, ListKind: kind + "List", Plural: singular + "s", Singular: singular,
	}
	return crd
}

// create makes a widget named after the test.
func create(t *testing.T) *widget.Widget {
	t.Helper()
	w := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: nameOf(t)}}
	if err := api.Create(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.Patch(context.Background(), w, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		_ = api.Delete(context.Background(), w)
	})
	return w
}

// nameOf gives a name that tells the test and is new in each run of it.
func nameOf(t *testing.T) string {
	name := strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()))
	if len(name) > 50 {
		name = name[len(name)-50:]
	}
	return strings.Trim(name, "-") + "-" + utilrand.String(5)
}

// read returns the widget as the API server has it.
func read(t *testing.T, w client.Object) *widget.Widget {
	t.Helper()
	stored := &widget.Widget{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(w), stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

func readUnstructured(t *testing.T, w client.Object) *unstructured.Unstructured {
	t.Helper()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(kind)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(w), stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

func readLoose(t *testing.T, w client.Object) status.Object {
	t.Helper()
	object, err := status.FromUnstructured(readUnstructured(t, w))
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// patch sends a merge patch as somebody else would.
func patch(t *testing.T, w client.Object, subresource, body string, options ...client.SubResourcePatchOption) {
	t.Helper()
	other := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.GetNamespace(), Name: w.GetName()}}
	raw := client.RawPatch("application/merge-patch+json", []byte(body))
	var err error
	if subresource == "" {
		err = api.Patch(t.Context(), other, raw)
	} else {
		err = api.SubResource(subresource).Patch(t.Context(), other, raw, options...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func converged(s *status.Session) { s.Converged("Succeeded", "the widget runs") }

// commit runs one pass and checks its outcome.
func commit(t *testing.T, object status.Object, want status.Outcome, report func(*status.Session), options ...status.Option) {
	t.Helper()
	session := status.Begin(api, nil, object, options...)
	report(session)
	outcome, err := session.Commit(t.Context())
	if outcome != want || (err != nil) != (want == status.Failed) {
		t.Fatalf("%s (%v), want %s", outcome, err, want)
	}
}

func conditionOf(w *widget.Widget, conditionType string) metav1.Condition {
	for _, c := range w.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return metav1.Condition{}
}

// SPDX-License-Identifier: Apache-2.0

// Package api tests the API as it is installed: schemas, defaults, admission policies, roles and the kustomization, on a real
// API server and with the users it is made for.
package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// env is the control plane that the tests of this package share. Each makes its own objects.
var env *testenv.Environment

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	policies, err := config.Policies()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	regions, err := config.StatusRegionPolicies(reconcilerUser, monitorUser)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := testenv.Options{Manifests: []fs.FS{config.CRDs(), config.RBAC(), policies, regions}}
	os.Exit(testenv.Main(m, options, func(started *testenv.Environment) { env = started }))
}

// awaitPolicies returns when the policies are in force: the API server takes them up some time after they were installed.
func awaitPolicies(t *testing.T) {
	t.Helper()
	giveRights(t)
	testenv.Eventually(t, "holdfast-memory is in force", func(ctx context.Context) error {
		return expectPolicy(as(t, tenant).Create(ctx, claim(unique("probe"), map[string]any{"spec.serverName": "x"}), client.DryRunAll))
	})
	observed := server(unique("probe"), nil)
	create(t, admin, observed)
	testenv.Eventually(t, "holdfast-status-regions is in force", func(ctx context.Context) error {
		return expectPolicy(patchStatus(ctx, t, reconciler, observed, `{"observed":{"reachable":true}}`, client.DryRunAll))
	})
}

// expectPolicy returns nil where a policy refused, and an error where RBAC did, or nobody.
func expectPolicy(err error) error {
	switch {
	case err == nil:
		return errors.New("allowed")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy 'holdfast-"):
		return nil
	default:
		return err
	}
}

func create(t *testing.T, who user, object *unstructured.Unstructured) {
	t.Helper()
	if err := as(t, who).Create(t.Context(), object); err != nil {
		t.Fatalf("%s creates %s: %v", who.name, object.GetName(), err)
	}
}

func patchStatus(
	ctx context.Context, t *testing.T, who user, object *unstructured.Unstructured, status string, options ...client.PatchOption,
) error {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`))
	var asStatus []client.SubResourcePatchOption
	for _, option := range options {
		asStatus = append(asStatus, &client.SubResourcePatchOptions{PatchOptions: *(&client.PatchOptions{}).ApplyOptions([]client.PatchOption{option})})
	}
	return as(t, who).Status().Patch(ctx, object.DeepCopy(), patch, asStatus...)
}

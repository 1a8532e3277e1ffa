// SPDX-License-Identifier: Apache-2.0

// Package explain tests the commands for people, holdfast explain and holdfast resume, against a running stack and with no more rights
// than people have.
package explain

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/devmode"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

const viewerName = "viewer"

// stack runs with four servers, and viewer has the role holdfast-viewer and nothing else.
var (
	stack  *devmode.Stack
	viewer client.Client
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "holdfast-explain-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	if stack, err = devmode.Start(ctx, devmode.Options{StateDir: dir, Tempo: devmode.Quick(), Audit: true}); err != nil {
		return 1, err
	}
	defer func() {
		if stopped := stack.Close(); err == nil {
			err = stopped
		}
	}()
	if _, err := stack.Enroll(ctx); err != nil {
		return 1, err
	}
	if err := stack.StartManager(ctx); err != nil {
		return 1, err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: viewerName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "holdfast-viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: viewerName}},
	}
	if err := stack.Admin.Create(ctx, binding); err != nil {
		return 1, err
	}
	if viewer, err = stack.As(viewerName, "system:authenticated"); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// available waits for a server that is free.
func available(t *testing.T, name string) {
	t.Helper()
	testenv.Eventually(t, "server "+name+" Available", func(ctx context.Context) error {
		server := &v1alpha1.Server{}
		if err := stack.Admin.Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
			return err
		}
		if server.Status.Phase != v1alpha1.PhaseAvailable || !meta.IsStatusConditionTrue(server.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("%s: %+v", server.Status.Phase, server.Status.Conditions)
		}
		return nil
	})
}

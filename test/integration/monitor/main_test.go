// SPDX-License-Identifier: Apache-2.0

// Package monitor shows on a real API server what the monitor writes, and above all what it does not. It runs under its own
// identity, with the rights and under the policy that an installation beside the manager gives it. The BMCs are scripted: the
// wire is shown elsewhere.
package monitor

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

var (
	env      *testenv.Environment
	auditLog string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	dir, err := os.MkdirTemp("", "holdfast-monitor-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	auditLog = filepath.Join(dir, "audit.log")
	options := testenv.Options{
		Manifests: []fs.FS{config.CRDs(), config.RBAC(), os.DirFS(filepath.Join("..", "..", "..", "config", "components", "monitor"))},
		AuditLog:  auditLog,
	}
	return testenv.Main(m, options, func(started *testenv.Environment) { env = started })
}

// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// LogTo has everything that logs in this process write to manager.log in a state directory, so that the terminal is the narrator's. It
// returns the file's path and what closes it. Call it once in a process.
func LogTo(dir string) (string, func() error, error) {
	if err := prepare(dir); err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "manager.log")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("log: %w", err)
	}
	logger := zap.New(zap.WriteTo(file))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return path, file.Close, nil
}

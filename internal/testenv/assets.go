// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// Environment variables that name the folder of the binaries.
const (
	// EnvKubebuilderAssets is the field's own variable; when set it is used as it
	// is and nothing else is searched.
	EnvKubebuilderAssets = "KUBEBUILDER_ASSETS"
	// EnvControlPlaneDir lets several clones share one build.
	EnvControlPlaneDir = "HOLDFAST_CONTROLPLANE_DIR"
)

// ErrNoAssets is wrapped by every error that says which binaries are missing.
var ErrNoAssets = errors.New("no control plane binaries")

// Assets is a folder that holds etcd and kube-apiserver, and kubectl when it was
// built too.
type Assets struct {
	// Dir is the absolute path of the folder.
	Dir string
}

// FindAssets returns the first of: KUBEBUILDER_ASSETS, HOLDFAST_CONTROLPLANE_DIR,
// and the newest bin/controlplane/<version> in the working directory, in the
// folder of the running executable, or in a parent of either. A variable that is
// set but names a folder without the binaries is an error, not a reason to look
// elsewhere: a test must not run silently against another version.
func FindAssets() (Assets, error) {
	for _, variable := range []string{EnvKubebuilderAssets, EnvControlPlaneDir} {
		dir := os.Getenv(variable)
		if dir == "" {
			continue
		}
		if !complete(dir) {
			return Assets{}, fmt.Errorf("%w in %s=%s: run `make controlplane`, or unset the variable", ErrNoAssets, variable, dir)
		}
		return newAssets(dir)
	}
	for _, start := range searchStarts() {
		if dir, found := searchUp(start); found {
			return newAssets(dir)
		}
	}
	return Assets{}, fmt.Errorf("%w: run `make controlplane` in the checkout (it builds etcd and kube-apiserver from source, "+
		"minutes the first time), or set %s to a folder that holds them", ErrNoAssets, EnvKubebuilderAssets)
}

// Kubectl returns the path of kubectl, which is built apart because only a few
// tests and people need it.
func (a Assets) Kubectl() (string, error) {
	path := a.path("kubectl")
	if !executable(path) {
		return "", fmt.Errorf("%w: %s does not exist: run `make kubectl`", ErrNoAssets, path)
	}
	return path, nil
}

func (a Assets) path(binary string) string {
	return filepath.Join(a.Dir, binary)
}

func newAssets(dir string) (Assets, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return Assets{}, fmt.Errorf("control plane folder %s: %w", dir, err)
	}
	return Assets{Dir: absolute}, nil
}

func searchStarts() []string {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if path, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(path))
	}
	return starts
}

func searchUp(dir string) (string, bool) {
	for {
		if found, ok := newest(filepath.Join(dir, "bin", "controlplane")); ok {
			return found, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// newest returns the complete folder with the highest version: an older one may
// be left from before an update of hack/controlplane.
func newest(parent string) (string, bool) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", false
	}
	var versions []*version.Version
	folders := map[string]string{}
	for _, entry := range entries {
		parsed, err := version.ParseSemantic(entry.Name())
		folder := filepath.Join(parent, entry.Name())
		if err != nil || !complete(folder) {
			continue
		}
		versions = append(versions, parsed)
		folders[parsed.String()] = folder
	}
	if len(versions) == 0 {
		return "", false
	}
	highest := slices.MaxFunc(versions, func(a, b *version.Version) int {
		if a.LessThan(b) {
			return -1
		}
		return 1
	})
	return folders[highest.String()], true
}

func complete(dir string) bool {
	return executable(filepath.Join(dir, "etcd")) && executable(filepath.Join(dir, "kube-apiserver"))
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

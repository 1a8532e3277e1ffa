// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeBinaries(t *testing.T, dir string, names ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func unsetAssets(t *testing.T) {
	t.Helper()
	t.Setenv(EnvKubebuilderAssets, "")
	t.Setenv(EnvControlPlaneDir, "")
}

func TestFindAssetsTakesTheNewestVersionOfAParentFolder(t *testing.T) {
	unsetAssets(t)
	root := t.TempDir()
	versions := filepath.Join(root, "bin", "controlplane")
	writeBinaries(t, filepath.Join(versions, "v1.9.3"), "etcd", "kube-apiserver")
	want := writeBinaries(t, filepath.Join(versions, "v1.37.2"), "etcd", "kube-apiserver")
	writeBinaries(t, filepath.Join(versions, "v1.38.0"), "etcd") // a build that was cut short
	deep := filepath.Join(root, "test", "integration")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)

	assets, err := FindAssets()
	if err != nil {
		t.Fatal(err)
	}
	if assets.Dir != want {
		t.Errorf("found %s, want %s", assets.Dir, want)
	}
	if _, err := assets.Kubectl(); !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), "make kubectl") {
		t.Errorf("kubectl was not built: got %v, want an error that says how to build it", err)
	}
}

func TestFindAssetsPrefersKubebuilderAssets(t *testing.T) {
	own := writeBinaries(t, filepath.Join(t.TempDir(), "own"), "etcd", "kube-apiserver")
	shared := writeBinaries(t, filepath.Join(t.TempDir(), "shared"), "etcd", "kube-apiserver")
	t.Setenv(EnvKubebuilderAssets, own)
	t.Setenv(EnvControlPlaneDir, shared)
	if assets, err := FindAssets(); err != nil || assets.Dir != own {
		t.Errorf("got %v, %v; want %s", assets, err, own)
	}
	t.Setenv(EnvKubebuilderAssets, "")
	if assets, err := FindAssets(); err != nil || assets.Dir != shared {
		t.Errorf("got %v, %v; want %s", assets, err, shared)
	}
}

func TestFindAssetsRefusesAFolderThatWasNamedAndIsEmpty(t *testing.T) {
	unsetAssets(t)
	empty := t.TempDir()
	t.Setenv(EnvControlPlaneDir, empty)
	_, err := FindAssets()
	if !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), "make controlplane") {
		t.Errorf("got %v, want an error that names `make controlplane`", err)
	}
}

func TestStartWithoutAssetsSaysHowToBuildThem(t *testing.T) {
	unsetAssets(t)
	t.Chdir(t.TempDir())
	_, err := Start(t.Context(), Options{})
	if !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), "make controlplane") {
		t.Errorf("got %v, want an error that names `make controlplane`", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// fieldOwner is the server-side apply owner of what Install applies.
const fieldOwner = client.FieldOwner("holdfast-install")

// Install applies all objects of all YAML files below the root of a file system,
// in the lexical order of their paths, custom resource definitions first and
// namespaces next. It is idempotent. Kustomizations are left out, not rendered:
// what is installed this way has to be complete without one.
//
// When it returns the custom kinds are served. An admission policy takes the API
// server up to some seconds more; a test about one has to poll for its first
// refusal.
func (e *Environment) Install(ctx context.Context, manifests fs.FS) error {
	objects, err := readManifests(manifests)
	if err != nil {
		return err
	}
	definitions, others, err := split(objects)
	if err != nil {
		return err
	}
	if len(definitions) > 0 {
		options := envtest.CRDInstallOptions{CRDs: definitions, MaxTime: processTimeout}
		if _, err := envtest.InstallCRDs(e.Config, options); err != nil {
			return fmt.Errorf("install: %w", err)
		}
	}
	applier, err := client.New(e.Config, client.Options{})
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	for _, object := range others {
		apply := client.ApplyConfigurationFromUnstructured(object)
		if err := applier.Apply(ctx, apply, fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// split takes the custom resource definitions out and sorts namespaces to the
// front of the rest.
func split(objects []*unstructured.Unstructured) ([]*apiextensionsv1.CustomResourceDefinition, []*unstructured.Unstructured, error) {
	var definitions []*apiextensionsv1.CustomResourceDefinition
	var others []*unstructured.Unstructured
	for _, object := range objects {
		switch object.GetKind() {
		case "Kustomization", "Component":
		case "CustomResourceDefinition":
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition); err != nil {
				return nil, nil, fmt.Errorf("custom resource definition %s: %w", object.GetName(), err)
			}
			definitions = append(definitions, definition)
		default:
			others = append(others, object)
		}
	}
	slices.SortStableFunc(others, func(a, b *unstructured.Unstructured) int {
		return rank(a) - rank(b)
	})
	return definitions, others, nil
}

func rank(object *unstructured.Unstructured) int {
	if object.GetKind() == "Namespace" {
		return 0
	}
	return 1
}

func readManifests(manifests fs.FS) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	err := fs.WalkDir(manifests, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) {
			return nil
		}
		content, err := fs.ReadFile(manifests, name)
		if err != nil {
			return err
		}
		documents, err := decode(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, documents...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	if len(objects) == 0 {
		return nil, errors.New("manifests: no YAML file found")
	}
	return objects, nil
}

func decode(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		if len(object.Object) == 0 {
			continue
		}
		if object.GetKind() == "" || object.GetAPIVersion() == "" {
			return nil, errors.New("an object without apiVersion or kind")
		}
		objects = append(objects, object)
	}
}

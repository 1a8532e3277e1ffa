// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/cloudinit"
)

// authoritiesIn are those of a file: of each manifest, or one of the file's name that has all its public keys.
func authoritiesIn(path string, content []byte) ([]cloudinit.Authority, error) {
	if isManifest(content) {
		return manifestsIn(path, content)
	}
	keys := keyLines(content)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s has no public key", path)
	}
	return []cloudinit.Authority{{Name: authorityName(path), PublicKeys: keys}}, nil
}

// authorityName is the file's name without its ending.
func authorityName(path string) string {
	if path == "-" {
		return "stdin"
	}
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// keyLines are the lines of a file of authorized_keys that are keys.
func keyLines(content []byte) []string {
	var keys []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	return keys
}

// isManifest tells manifests from keys by a member that every manifest has, at the start of a line or of JSON.
func isManifest(content []byte) bool {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		return true
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "apiVersion:") || strings.HasPrefix(line, "kind:") {
			return true
		}
	}
	return false
}

func manifestsIn(path string, content []byte) ([]cloudinit.Authority, error) {
	var found []cloudinit.Authority
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		object, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if string(object) == "null" { // nothing, or comments, between two separators
			continue
		}
		authority, err := manifest(object)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		found = append(found, authority)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no SSHCertificateAuthority", path)
	}
	return found, nil
}

// manifest reads one object in JSON. A member that the kind has not is a mistake that would change who can log in.
func manifest(document []byte) (cloudinit.Authority, error) {
	const kind = "SSHCertificateAuthority"
	var object v1alpha1.SSHCertificateAuthority
	var header struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &header); err != nil {
		return cloudinit.Authority{}, err
	}
	if header.Kind != kind || header.APIVersion != v1alpha1.GroupVersion.String() {
		return cloudinit.Authority{}, fmt.Errorf("%s %s is no %s of %s", header.APIVersion, header.Kind, kind, v1alpha1.GroupVersion)
	}
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return cloudinit.Authority{}, err
	}
	return authorityOf(&object), nil
}

func authorityOf(object *v1alpha1.SSHCertificateAuthority) cloudinit.Authority {
	return cloudinit.Authority{Name: object.Name, PublicKeys: object.Spec.PublicKeys, Principals: object.Spec.PrincipalsByLogin()}
}

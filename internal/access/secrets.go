// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Secrets reads the secrets of the operator's namespace, each once a version. It is safe for concurrent use.
type Secrets struct {
	// Metadata reads the metadata of secrets from a cache: it tells whether a secret changed without reading it.
	Metadata client.Reader
	// Live reads a secret's content from the API server.
	Live client.Reader
	// Namespace of the operator, where all secrets are that cluster-scoped objects name.
	Namespace string

	mu    sync.Mutex
	known map[string]known // by secret name
}

// known is what was read of a secret.
type known struct {
	version string // of the object
	content content
}

// content is what a secret holds.
type content struct {
	data map[string][]byte
	// version moves with the data alone: a label or a finalizer on the secret costs no session.
	version string
}

// read reads the secret only when its version moved: at rest there is no live read (P8), and a changed secret is used by the next request
// (B171, B179).
func (s *Secrets) read(ctx context.Context, name string) (content, error) {
	key := client.ObjectKey{Namespace: s.Namespace, Name: name}
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.Metadata.Get(ctx, key, meta); err != nil {
		if apierrors.IsNotFound(err) {
			s.drop(name)
		}
		return content{}, missingOr(err, name)
	}
	if last := s.remembered(name); last.version == versionOf(meta) {
		return last.content, nil
	}
	secret := &corev1.Secret{}
	if err := s.Live.Get(ctx, key, secret); err != nil {
		return content{}, missingOr(err, name)
	}
	return s.remember(name, secret), nil
}

func versionOf(object metav1.Object) string {
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

func (s *Secrets) remembered(name string) known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[name]
}

func (s *Secrets) remember(name string, secret *corev1.Secret) content {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]known{}
	}
	read := content{data: secret.Data, version: versionOf(secret)}
	if last := s.known[name].content; last.version != "" && maps.EqualFunc(last.data, read.data, slices.Equal[[]byte]) {
		read.version = last.version
	}
	s.known[name] = known{version: versionOf(secret), content: read}
	return read
}

// drop forgets a secret that is no more (B011): what somebody deleted is not kept.
func (s *Secrets) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}

func missingOr(err error, name string) error {
	if apierrors.IsNotFound(err) {
		return credentialsMissing("secret " + name + " does not exist in the operator's namespace")
	}
	return err
}

func credentialsMissing(message string) error {
	return &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsMissing, Message: message}
}

// SPDX-License-Identifier: Apache-2.0

// Package access opens the way from a BMC object to the BMC: it reads the credentials and hands out the provider, so that monitor and
// reconciler share one session per BMC. Credentials stay in here and in the provider.
package access

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
)

// Access hands out providers for BMC objects. It is safe for concurrent use.
type Access struct {
	// Metadata reads the metadata of secrets in Namespace from a cache: it tells whether a secret changed without reading it.
	Metadata client.Reader
	// Live reads a secret's content from the API server.
	Live client.Reader
	// Namespace of the operator, where all BMC secrets are.
	Namespace string
	// Pool keeps one session per BMC.
	Pool *redfish.Pool

	mu    sync.Mutex
	known map[string]known // by secret name
}

// known is what was read of a secret, and at which version of it.
type known struct {
	version     string
	credentials redfish.Credentials
}

// For is the provider's looking side for bmc. Errors are *provider.Error, but for those of the API server.
func (a *Access) For(ctx context.Context, bmc *v1alpha1.BMC) (provider.Observer, error) {
	opened, err := a.open(ctx, bmc)
	if err != nil {
		return nil, err
	}
	return opened.Observer(), nil
}

// Actor is the provider's acting side for bmc. Errors are *provider.Error, but for those of the API server.
func (a *Access) Actor(ctx context.Context, bmc *v1alpha1.BMC) (provider.Actor, error) {
	opened, err := a.open(ctx, bmc)
	if err != nil {
		return nil, err
	}
	return opened.Actor(), nil
}

// Forget ends the session of a BMC that is no more: after it nothing touches that BMC (B059).
func (a *Access) Forget(ctx context.Context, name string) { a.Pool.Forget(ctx, name) }

func (a *Access) open(ctx context.Context, bmc *v1alpha1.BMC) (*redfish.BMC, error) {
	credentials, err := a.credentials(ctx, bmc.Spec.CredentialsSecretRef.Name)
	if err != nil {
		return nil, err
	}
	return a.Pool.BMC(bmc.Name, endpointOf(bmc), credentials)
}

func endpointOf(bmc *v1alpha1.BMC) redfish.Endpoint {
	endpoint := redfish.Endpoint{URL: bmc.Spec.Endpoint, Vendor: bmc.Spec.Vendor}
	if tls := bmc.Spec.TLS; tls != nil {
		endpoint.TLS = redfish.TLSConfig{
			CABundle:           []byte(tls.CABundle),
			PinnedSHA256:       tls.PinnedSHA256,
			InsecureSkipVerify: tls.InsecureSkipVerify,
		}
	}
	return endpoint
}

// credentials reads the secret only when its version moved: at rest there is no live read (P8), and a changed secret is used by the
// next request (B171, B179).
func (a *Access) credentials(ctx context.Context, name string) (redfish.Credentials, error) {
	key := client.ObjectKey{Namespace: a.Namespace, Name: name}
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := a.Metadata.Get(ctx, key, meta); err != nil {
		if apierrors.IsNotFound(err) {
			a.drop(name)
		}
		return redfish.Credentials{}, missingOr(err, name)
	}
	if last := a.remembered(name); last.version == versionOf(meta) {
		return last.credentials, nil
	}
	secret := &corev1.Secret{}
	if err := a.Live.Get(ctx, key, secret); err != nil {
		return redfish.Credentials{}, missingOr(err, name)
	}
	credentials := redfish.Credentials{
		Username: string(secret.Data[corev1.BasicAuthUsernameKey]),
		Password: string(secret.Data[corev1.BasicAuthPasswordKey]),
		Version:  versionOf(secret),
	}
	if credentials.Username == "" || credentials.Password == "" {
		return redfish.Credentials{}, credentialsMissing("secret " + name + " lacks username or password")
	}
	return a.remember(name, known{version: versionOf(secret), credentials: credentials}), nil
}

func versionOf(object metav1.Object) string {
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

func (a *Access) remembered(name string) known {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[name]
}

// remember keeps what was read. The version of the credentials moves with the content alone: a label or a finalizer on the secret
// costs no session.
func (a *Access) remember(name string, read known) redfish.Credentials {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]known{}
	}
	if last := a.known[name].credentials; last.Username == read.credentials.Username && last.Password == read.credentials.Password {
		read.credentials.Version = last.Version
	}
	a.known[name] = read
	return read.credentials
}

// drop forgets a secret that is no more (B011): what somebody deleted is not kept.
func (a *Access) drop(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, name)
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

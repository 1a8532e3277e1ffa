// SPDX-License-Identifier: Apache-2.0

// Package access opens the way from a BMC or Cloud object to what it stands for: it reads the credentials and hands out the provider, so
// that monitor and reconciler share one session each. Credentials stay in here and in the providers.
package access

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
)

// BMCs hands out providers for BMC objects. It is safe for concurrent use.
type BMCs struct {
	Secrets *Secrets
	// Pool keeps one session per BMC.
	Pool *redfish.Pool
}

// For is the provider's looking side for bmc. Errors are *provider.Error, but for those of the API server.
func (a *BMCs) For(ctx context.Context, bmc *v1alpha1.BMC) (provider.Observer, error) {
	opened, err := a.open(ctx, bmc)
	if err != nil {
		return nil, err
	}
	return opened.Observer(), nil
}

// Actor is the provider's acting side for bmc. Errors are *provider.Error, but for those of the API server.
func (a *BMCs) Actor(ctx context.Context, bmc *v1alpha1.BMC) (provider.Actor, error) {
	opened, err := a.open(ctx, bmc)
	if err != nil {
		return nil, err
	}
	return opened.Actor(), nil
}

// Forget ends the session of a BMC that is no more: after it nothing touches that BMC (B059).
func (a *BMCs) Forget(ctx context.Context, name string) { a.Pool.Forget(ctx, name) }

func (a *BMCs) open(ctx context.Context, bmc *v1alpha1.BMC) (*redfish.BMC, error) {
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

func (a *BMCs) credentials(ctx context.Context, secret string) (redfish.Credentials, error) {
	read, err := a.Secrets.read(ctx, secret)
	if err != nil {
		return redfish.Credentials{}, err
	}
	credentials := redfish.Credentials{
		Username: string(read.data[corev1.BasicAuthUsernameKey]),
		Password: string(read.data[corev1.BasicAuthPasswordKey]),
		Version:  read.version,
	}
	if credentials.Username == "" || credentials.Password == "" {
		return redfish.Credentials{}, credentialsMissing("secret " + secret + " lacks username or password")
	}
	return credentials, nil
}

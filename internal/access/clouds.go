// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/openstack"
)

// Clouds hands out providers for Cloud objects. It is safe for concurrent use.
type Clouds struct {
	Secrets *Secrets
	// Pool keeps one connection per Cloud.
	Pool *openstack.Pool
}

// ForCloud is the provider's looking side for cloud. Errors are *provider.Error, but for those of the API server.
func (a *Clouds) ForCloud(ctx context.Context, cloud *v1alpha1.Cloud) (provider.CloudObserver, error) {
	opened, err := a.open(ctx, cloud)
	if err != nil {
		return nil, err
	}
	return opened.Observer(), nil
}

// CloudActor is the provider's acting side for cloud. Errors are *provider.Error, but for those of the API server.
func (a *Clouds) CloudActor(ctx context.Context, cloud *v1alpha1.Cloud) (provider.CloudActor, error) {
	opened, err := a.open(ctx, cloud)
	if err != nil {
		return nil, err
	}
	return opened.Actor(), nil
}

// Forget ends the connection to a cloud whose object is no more.
func (a *Clouds) Forget(ctx context.Context, name string) { a.Pool.Forget(ctx, name) }

func (a *Clouds) open(ctx context.Context, cloud *v1alpha1.Cloud) (*openstack.Cloud, error) {
	secret := cloud.Spec.CloudsSecretRef.Name
	read, err := a.Secrets.read(ctx, secret)
	if err != nil {
		return nil, err
	}
	file := read.data[v1alpha1.KeyClouds]
	if len(file) == 0 {
		return nil, credentialsMissing("secret " + secret + " lacks the key " + v1alpha1.KeyClouds)
	}
	endpoint := openstack.Endpoint{CloudName: cloud.Spec.CloudName, Region: cloud.Spec.Region, CABundle: []byte(cloud.Spec.CABundle)}
	return a.Pool.Cloud(cloud.Name, endpoint, openstack.Credentials{CloudsYAML: file, Version: read.version})
}

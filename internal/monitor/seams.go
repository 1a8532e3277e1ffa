// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Observers gives access to BMCs. Implementations read the credentials themselves and keep the connections.
type Observers interface {
	// For returns what looks at a BMC, with the credentials and the TLS identity of now. It is asked before each visit and
	// MUST be cheap when nothing changed. Errors that are a *provider.Error are reported as the BMC's; any other is taken for
	// trouble of our own (the API server does not answer), of which nothing follows about the BMC.
	For(ctx context.Context, bmc *v1alpha1.BMC) (provider.Observer, error)
	// Forget ends and drops all that is kept for the BMC of that name. After it nothing touches that BMC (B059).
	Forget(ctx context.Context, name string)
}

// CloudObservers gives access to clouds, as Observers does to BMCs.
type CloudObservers interface {
	// ForCloud returns what looks at a cloud, with the credentials of now. It is asked before each look and MUST be cheap when nothing
	// changed. Errors that are a *provider.Error are reported as the cloud's; any other is taken for trouble of our own.
	ForCloud(ctx context.Context, cloud *v1alpha1.Cloud) (provider.CloudObserver, error)
	// Forget ends and drops all that is kept for the cloud of that name. After it nothing touches that cloud (B059).
	Forget(ctx context.Context, name string)
}

// Unsettled says whether a server is on its way to somewhere, from the object as read. It MUST be pure, and MUST NOT modify
// the object: a cache shares it.
type Unsettled func(server *v1alpha1.Server) bool

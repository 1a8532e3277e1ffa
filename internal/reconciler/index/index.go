// SPDX-License-Identifier: Apache-2.0

// Package index names the cache indexes and the selectable fields by which objects find each other, and sets the former up.
package index

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Selectable at the API server as well as in the cache.
const (
	ServerClaimIdentity = "spec.claimRef.identity"
	ServerBMC           = "spec.redfish.bmcRef.name"
	ServerCloud         = "spec.openstack.cloudRef.name"
	ServerClass         = "spec.classRef.name"
	ClaimServerName     = "spec.serverName"
	ClaimClass          = "spec.className"
)

// In the cache alone.
const (
	ServerIdentity    = "ledger.identity"
	ServerClaimName   = "spec.claimRef" // namespace/name
	ServerSystemUUID  = "spec.redfish.systemUUID"
	ClaimIdentity     = "ledger.claim-identity"
	ClaimBound        = "ledger.bound"
	MaintenanceServer = "spec.serverRef.name"
	BMCManager        = "status.observed.uuid"
	BMCSecret         = "spec.credentialsSecretRef.name"
	CloudSecret       = "spec.cloudsSecretRef.name" //nolint:gosec // the path of a field
	ServerAuthority   = "spec.openstack.sshCertificateAuthorityRefs"
	ClassCloud        = "spec.openstack.cloudRef.name"
	ClassAuthority    = "spec.openstack.sshCertificateAuthorityRefs"
)

// None indexes, under ClaimServerName in the cache alone, the claims that name no server and no class: those that any machine may concern.
// No server can bear this name.
const None = "\x00none"

// Setup registers all indexes.
func Setup(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.object, i.field, i.values); err != nil {
			return fmt.Errorf("index %s of %T: %w", i.field, i.object, err)
		}
	}
	return nil
}

var indexes = []struct {
	object client.Object
	field  string
	values client.IndexerFunc
}{
	{&v1alpha1.Server{}, ServerClaimIdentity, of(func(s *v1alpha1.Server) string {
		if s.Spec.ClaimRef == nil {
			return ""
		}
		return s.Spec.ClaimRef.Identity
	})},
	{&v1alpha1.Server{}, ServerClaimName, of(func(s *v1alpha1.Server) string {
		if s.Spec.ClaimRef == nil {
			return ""
		}
		return s.Spec.ClaimRef.Namespace + "/" + s.Spec.ClaimRef.Name
	})},
	{&v1alpha1.Server{}, ServerBMC, of(func(s *v1alpha1.Server) string {
		if s.Spec.Redfish == nil {
			return ""
		}
		return s.Spec.Redfish.BMCRef.Name
	})},
	{&v1alpha1.Server{}, ServerSystemUUID, of(func(s *v1alpha1.Server) string {
		if s.Spec.Redfish == nil {
			return ""
		}
		return strings.ToLower(s.Spec.Redfish.SystemUUID)
	})},
	{&v1alpha1.Server{}, ServerCloud, of(func(s *v1alpha1.Server) string {
		if s.Spec.OpenStack == nil {
			return ""
		}
		return s.Spec.OpenStack.CloudRef.Name
	})},
	{&v1alpha1.Server{}, ServerClass, of(func(s *v1alpha1.Server) string {
		if s.Spec.ClassRef == nil {
			return ""
		}
		return s.Spec.ClassRef.Name
	})},
	{&v1alpha1.Server{}, ServerAuthority, func(object client.Object) []string {
		return authorities(object.(*v1alpha1.Server).Spec.OpenStack)
	}},
	{&v1alpha1.ServerClass{}, ClassCloud, of(func(c *v1alpha1.ServerClass) string { return c.Spec.OpenStack.CloudRef.Name })},
	{&v1alpha1.ServerClass{}, ClassAuthority, func(object client.Object) []string {
		return authorities(&object.(*v1alpha1.ServerClass).Spec.OpenStack)
	}},
	{&v1alpha1.Server{}, ServerIdentity, annotation(ledger.KeyIdentity)},
	{&v1alpha1.ServerClaim{}, ClaimServerName, of(func(c *v1alpha1.ServerClaim) string {
		if c.Spec.ServerName == "" && c.Spec.ClassName == "" {
			return None
		}
		return c.Spec.ServerName
	})},
	{&v1alpha1.ServerClaim{}, ClaimIdentity, annotation(ledger.KeyIdentity)},
	{&v1alpha1.ServerClaim{}, ClaimBound, annotation(ledger.KeyBound)},
	{&v1alpha1.ServerMaintenance{}, MaintenanceServer, of(func(m *v1alpha1.ServerMaintenance) string { return m.Spec.ServerRef.Name })},
	{&v1alpha1.ServerClaim{}, ClaimClass, of(func(c *v1alpha1.ServerClaim) string { return c.Spec.ClassName })},
	{&v1alpha1.Cloud{}, CloudSecret, of(func(c *v1alpha1.Cloud) string { return c.Spec.CloudsSecretRef.Name })},
	{&v1alpha1.BMC{}, BMCManager, of(func(b *v1alpha1.BMC) string {
		if b.Status.Observed == nil {
			return ""
		}
		return strings.ToLower(b.Status.Observed.UUID)
	})},
	{&v1alpha1.BMC{}, BMCSecret, of(func(b *v1alpha1.BMC) string { return b.Spec.CredentialsSecretRef.Name })},
}

// of makes an indexer of one value; an empty one is not indexed.
func of[T client.Object](value func(T) string) client.IndexerFunc {
	return func(object client.Object) []string {
		if v := value(object.(T)); v != "" {
			return []string{v}
		}
		return nil
	}
}

// authorities are the names of the SSH certificate authorities that a VM trusts; none for a server of bare metal.
func authorities(openstack *v1alpha1.OpenStackServer) []string {
	if openstack == nil {
		return nil
	}
	names := make([]string, 0, len(openstack.SSHCertificateAuthorityRefs))
	for _, ref := range openstack.SSHCertificateAuthorityRefs {
		names = append(names, ref.Name)
	}
	return names
}

func annotation(key string) client.IndexerFunc {
	return of(func(object client.Object) string { return object.GetAnnotations()[key] })
}

// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
)

// The kinds that are explained, or named by what is.
const (
	kindServer      = "Server"
	kindClaim       = "ServerClaim"
	kindBMC         = "BMC"
	kindCloud       = "Cloud"
	kindClass       = "ServerClass"
	kindAuthority   = "SSHCertificateAuthority"
	kindMaintenance = "ServerMaintenance"
)

// Edge is an object at the other end of a use.
type Edge struct {
	Kind string `json:"kind"`
	// Name is namespace/name for a claim.
	Name string `json:"name"`
	// Missing and Deleting say how the object stands.
	Missing  bool `json:"missing,omitempty"`
	Deleting bool `json:"deleting,omitempty"`
	// Guarded says that the object cannot go while it is used: it bears the finalizer holdfast.dev/in-use.
	Guarded bool `json:"guarded,omitempty"`
}

// String says how the object stands.
func (e Edge) String() string {
	text := "there"
	switch {
	case e.Missing:
		return "not there"
	case e.Deleting:
		text = "being deleted"
	}
	if e.Guarded {
		text += ", cannot go while it is used"
	}
	return text
}

// edgeTo is the edge to an object that was looked for. Nil: it does not exist.
func edgeTo[T interface {
	comparable
	client.Object
}](kind, name string, object T) Edge {
	var none T
	edge := Edge{Kind: kind, Name: name, Missing: object == none}
	if !edge.Missing {
		edge.Deleting, edge.Guarded = !object.GetDeletionTimestamp().IsZero(), guard.On(object)
	}
	return edge
}

func edgesOf(dependencies []lifecycle.Dependency) []Edge {
	var edges []Edge
	for _, d := range dependencies {
		edges = append(edges, Edge{Kind: d.Kind, Name: d.Name, Missing: d.Missing, Deleting: d.Deleting, Guarded: d.Guarded})
	}
	return edges
}

func usersOf(users []guard.User) []Edge {
	var edges []Edge
	for _, user := range users {
		edges = append(edges, Edge{Kind: user.Kind, Name: user.Name, Deleting: user.Deleting})
	}
	return edges
}

func serverUses(v lifecycle.ServerView) []Edge {
	var edges []Edge
	if redfish := v.Server.Spec.Redfish; redfish != nil {
		edges = append(edges, edgeTo(kindBMC, redfish.BMCRef.Name, v.BMC))
	}
	return append(edges, edgesOf(v.Dependencies)...)
}

func serverUsers(v lifecycle.ServerView) []Edge {
	var edges []Edge
	if ref := v.Server.Spec.ClaimRef; ref != nil {
		edges = append(edges, edgeTo(kindClaim, ref.Namespace+"/"+ref.Name, v.Claim))
	}
	if ref := v.Server.Spec.MaintenanceRef; ref != nil {
		edges = append(edges, edgeTo(kindMaintenance, ref.Name, v.Maintenance))
	}
	return edges
}

func claimUses(v claim.View) []Edge {
	var edges []Edge
	if name := v.Claim.Spec.ClassName; name != "" {
		edges = append(edges, edgeTo(kindClass, name, v.Class))
	}
	if name := v.Claim.Spec.ServerName; name != "" {
		edges = append(edges, edgeTo(kindServer, name, v.Server))
	}
	return edges
}

// users finds what uses an object, with the rights of whoever asks.
type users func(ctx context.Context, from client.Reader, name string) ([]guard.User, error)

// secretEdge names the credentials of a cloud. Who may explain it may mostly not read secrets, so nothing is said of how it stands.
func secretEdge(cloud *v1alpha1.Cloud) Line {
	return Line{"credentials", "secret " + cloud.Spec.CloudsSecretRef.Name + " of the operator's namespace, entry " + cloud.Spec.CloudName}
}

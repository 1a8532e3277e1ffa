// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/access"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// Explainer explains objects of one cluster.
type Explainer struct {
	// Reader reads from the API server.
	Reader client.Reader
	// Settings that the operator runs with. An empty ClusterID is looked up as the operator does it.
	Settings lifecycle.Settings
	// Namespace of the operator, where the secrets are that servers name themselves.
	Namespace string
	// Now is the time that decisions are made at.
	Now func() time.Time
}

// Report is what there is to say about one object.
type Report struct {
	Kind string `json:"kind"`
	// Name is namespace/name for a claim.
	Name string `json:"name"`
	lifecycle.Description
	// Facts are what the monitor saw last, and what the object names.
	Facts []Line `json:"facts,omitempty"`
	// Uses are what the object needs, UsedBy what needs it: the edges both ways.
	Uses   []Edge `json:"uses,omitempty"`
	UsedBy []Edge `json:"usedBy,omitempty"`
	// Memory is the ledger in words.
	Memory []Line `json:"memory,omitempty"`
	// Notes say what this report could not look at.
	Notes []string `json:"notes,omitempty"`
	// Server that a claim has or has chosen.
	Server *Report `json:"server,omitempty"`
}

// Line is one thing known, in words.
type Line struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Server explains a server. The error is the API server's: NotFound where there is none.
func (e *Explainer) Server(ctx context.Context, name string) (Report, error) {
	server := &v1alpha1.Server{}
	if err := e.Reader.Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
		return Report{}, fmt.Errorf("read server %s: %w", name, err)
	}
	reading, err := e.reading(ctx, server.Annotations[ledger.KeyOwner])
	if err != nil {
		return Report{}, err
	}
	return reading.server(ctx, name)
}

// Claim explains a claim, and the server it has or has chosen. The error is the API server's: NotFound where there is none.
func (e *Explainer) Claim(ctx context.Context, key types.NamespacedName) (Report, error) {
	object := &v1alpha1.ServerClaim{}
	if err := e.Reader.Get(ctx, key, object); err != nil {
		return Report{}, fmt.Errorf("read claim %s: %w", key, err)
	}
	reading, err := e.reading(ctx, e.ownerOf(ctx, object.Spec.ServerName))
	if err != nil {
		return Report{}, err
	}
	return reading.claim(ctx, key)
}

// ownerOf is the owner that a server's ledger names; "" where it cannot be told.
func (e *Explainer) ownerOf(ctx context.Context, server string) string {
	object := &v1alpha1.Server{}
	if server == "" || e.Reader.Get(ctx, client.ObjectKey{Name: server}, object) != nil {
		return ""
	}
	return object.Annotations[ledger.KeyOwner]
}

// reading is one explanation under way.
type reading struct {
	from      *scan
	settings  lifecycle.Settings
	namespace string
	now       time.Time
	notes     []string
}

func (e *Explainer) reading(ctx context.Context, owner string) (*reading, error) {
	from, err := newScan(ctx, e.Reader)
	if err != nil {
		return nil, err
	}
	r := &reading{from: from, settings: e.Settings, namespace: e.Namespace, now: e.Now()}
	return r, r.nameCluster(ctx, owner)
}

// nameCluster finds out who may act, as the operator does; without the right to, the ledger's own word is taken.
func (r *reading) nameCluster(ctx context.Context, owner string) error {
	if r.settings.ClusterID != "" {
		return nil
	}
	namespace := &corev1.Namespace{}
	err := r.from.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace)
	switch {
	case err == nil:
		r.settings.ClusterID = string(namespace.UID)
	case apierrors.IsForbidden(err):
		r.settings.ClusterID = cmp.Or(owner, "unknown")
		r.notes = append(r.notes, "the id of this cluster could not be read (--cluster-id gives it): the owner named in the ledger is taken for this cluster")
	default:
		return fmt.Errorf("read the id of the cluster: %w", err)
	}
	return nil
}

func (r *reading) servers() *view.Servers {
	return &view.Servers{Cache: r.from, API: r.from, UserData: r, Settings: r.settings}
}

// UserData implements view.UserDataReader with the rights of whoever asks: what they may not see is unknown, not denied to the operator.
func (r *reading) UserData(ctx context.Context, ref lifecycle.UserDataRef) (lifecycle.UserData, error) {
	known, err := access.UserData{API: r.from, Namespace: r.namespace}.UserData(ctx, ref)
	if err == nil && known == lifecycle.UserDataDenied {
		r.notes = append(r.notes, "whether the operator may read the user data was not looked at")
		return lifecycle.UserDataUnknown, nil
	}
	return known, err
}

func (r *reading) server(ctx context.Context, name string) (Report, error) {
	read, err := r.servers().Live(ctx, name, r.now)
	if err != nil {
		return Report{}, fmt.Errorf("read server %s: %w", name, err)
	}
	report := Report{
		Kind: kindServer, Name: name, Description: servers.Describe(read.View),
		Facts: r.serverFacts(read.View), Memory: serverMemory(read.Server.Annotations), Notes: r.notes,
		Uses: serverUses(read.View), UsedBy: serverUsers(read.View),
	}
	fill(report.Gates, values{
		serverIdentity: read.Server.Annotations[ledger.KeyIdentity], serverName: name, stamp: read.View.Facts().AssetTag, restore: r.settings.Epoch,
		owner: read.Server.Annotations[ledger.KeyOwner], claimIdentity: claimIdentity(read.Server),
	})
	return report, nil
}

func claimIdentity(server *v1alpha1.Server) string {
	if server.Spec.ClaimRef == nil {
		return ""
	}
	return server.Spec.ClaimRef.Identity
}

func (r *reading) claim(ctx context.Context, key types.NamespacedName) (Report, error) {
	claims := &view.Claims{Cache: r.from, API: r.from, Servers: r.servers(), Settings: r.settings}
	read, err := claims.Live(ctx, key, r.now)
	if err != nil {
		return Report{}, fmt.Errorf("read claim %s: %w", key, err)
	}
	report := Report{
		Kind: kindClaim, Name: key.String(), Description: describeClaim(claim.Decide(read.View)),
		Facts: claimFacts(read.View), Memory: claimMemory(read.Claim.Annotations), Uses: claimUses(read.View),
	}
	known := values{
		claimIdentity: read.Claim.Annotations[ledger.KeyIdentity], claimUID: string(read.Claim.UID),
		serverIdentity: read.Claim.Annotations[ledger.KeyBound], serverName: read.Claim.Spec.ServerName, restore: r.settings.Epoch,
	}
	if server := read.View.Server; server != nil {
		behind, err := r.server(ctx, server.Name)
		if err != nil {
			return Report{}, err
		}
		behind.Notes, report.Server = nil, &behind
		known.owner = server.Annotations[ledger.KeyOwner]
		if seen := server.Status.Observed; seen != nil {
			known.stamp = seen.AssetTag
		}
	}
	report.Notes = r.notes
	fill(report.Gates, known)
	return report, nil
}

// describeClaim puts a claim's decision into the same words as a server's. A claim has no table of phases: the clause is the rule.
func describeClaim(d claim.Decision) lifecycle.Description {
	return lifecycle.Describe(lifecycle.Decision{
		Phase: v1alpha1.ServerPhase(d.Phase), Rule: d.Step.Clause, Step: d.Step, Conditions: d.Conditions, Gates: d.Gates,
	})
}

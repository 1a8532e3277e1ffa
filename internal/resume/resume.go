// SPDX-License-Identifier: Apache-2.0

// Package resume gives a person's consent, to many servers at once, that effects go on after the cluster was restored from a snapshot.
package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Selection says which servers a person has looked at.
type Selection struct {
	// Epoch is the manager's --after-restore. Servers resumed for it already are passed over: a consent that is not used at once would
	// let go of the next restore unseen.
	Epoch string
	// Names of servers; with a Selector or All, empty.
	Names []string
	// Selector of labels; nil for none.
	Selector labels.Selector
	// All servers there are.
	All bool
}

func (s Selection) validate() error {
	if s.Epoch == "" {
		return errors.New("say which restore this is about: --after-restore, as the manager has it")
	}
	ways := 0
	for _, given := range []bool{len(s.Names) > 0, s.Selector != nil, s.All} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return errors.New("say which servers: names, -l <selector>, or --all")
	}
	return nil
}

// Held lists, by name, the servers selected that are held until a person resumes them.
func Held(ctx context.Context, reader client.Reader, s Selection) ([]*v1alpha1.Server, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	selected, err := s.servers(ctx, reader)
	if err != nil {
		return nil, err
	}
	var held []*v1alpha1.Server
	for _, server := range selected {
		if server.Annotations[ledger.KeyIdentity] != "" && server.Annotations[ledger.KeyRestoreEpoch] != s.Epoch {
			held = append(held, server)
		}
	}
	slices.SortFunc(held, func(a, b *v1alpha1.Server) int { return strings.Compare(a.Name, b.Name) })
	return held, nil
}

func (s Selection) servers(ctx context.Context, reader client.Reader) ([]*v1alpha1.Server, error) {
	var selected []*v1alpha1.Server
	for _, name := range s.Names {
		server := &v1alpha1.Server{}
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, server); err != nil {
			return nil, fmt.Errorf("read server %s: %w", name, err)
		}
		selected = append(selected, server)
	}
	if len(s.Names) > 0 {
		return selected, nil
	}
	options := &client.ListOptions{LabelSelector: s.Selector}
	var list v1alpha1.ServerList
	if err := reader.List(ctx, &list, options); err != nil {
		return nil, fmt.Errorf("list servers: %w", err)
	}
	for i := range list.Items {
		selected = append(selected, &list.Items[i])
	}
	return selected, nil
}

// Consent annotates a server with its own identity and the restore that it is about, guarded by the version that was looked at: a server that
// changed since is looked at again first.
func (s Selection) Consent(ctx context.Context, writer client.Writer, server *v1alpha1.Server, options ...client.PatchOption) error {
	changed := server.DeepCopy()
	changed.Annotations[v1alpha1.AnnotationResume] = lifecycle.ResumeConsent(server.Annotations[ledger.KeyIdentity], s.Epoch)
	patch := client.MergeFromWithOptions(server, client.MergeFromWithOptimisticLock{})
	if err := writer.Patch(ctx, changed, patch, options...); err != nil {
		return fmt.Errorf("annotate server %s: %w", server.Name, err)
	}
	return nil
}

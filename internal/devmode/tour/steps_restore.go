// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// loss is a server and its claim that are lost together, and what they are kept as.
type loss struct{ server, claim, keptServer, keptClaim string }

func restoreBoth(ctx context.Context, t *tour) error {
	return t.restored(ctx, loss{server: webServer, claim: web, keptServer: keptWebServer, keptClaim: keptWebClaim})
}

// restored is a cluster lost and restored, servers first, as a backup tool does it.
func (t *tour) restored(ctx context.Context, l loss) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.backup(ctx, l.keptServer, serverNamed(l.server)); err != nil {
		return err
	}
	if err := t.backup(ctx, l.keptClaim, claimNamed(l.claim)); err != nil {
		return err
	}
	if err := t.disaster(ctx, l.server, l.claim); err != nil {
		return err
	}
	if err := t.restoreServerFirst(ctx, l.keptServer, l.server, v1alpha1.ReasonClaimMissing); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.restoreClaim(ctx, l.keptClaim, l.server, l.claim); err != nil {
		return err
	}
	return t.untouched(m)
}

// disaster takes a server and its claim away while no manager runs: it and its cluster were lost together.
func (t *tour) disaster(ctx context.Context, server, claim string) error {
	if err := t.stack.StopManager(); err != nil {
		return err
	}
	for _, object := range []client.Object{claimNamed(claim), serverNamed(server)} {
		if err := t.destroy(ctx, object); err != nil {
			return err
		}
	}
	t.did("stopped the manager; deleted server %s and claim %s, finalizers forced away; the machine runs on", server, claim)
	return nil
}

// restoreServerFirst restores a server, starts the manager, and waits until it holds the server for one of the reasons.
func (t *tour) restoreServerFirst(ctx context.Context, kept, server string, reasons ...string) error {
	if _, err := t.restore(ctx, kept); err != nil {
		return err
	}
	if err := t.stack.StartManager(ctx); err != nil {
		return err
	}
	t.did("restored %s, without status, and started the manager", kept)
	message, err := t.stalls(ctx, server, reasons...)
	if err != nil {
		return err
	}
	t.saw("held: %s", message)
	return nil
}

// restoreClaim restores a claim and waits until it has its machine as before.
func (t *tour) restoreClaim(ctx context.Context, kept, server, claim string) error {
	restored, err := t.restore(ctx, kept)
	if err != nil {
		return err
	}
	t.did("restored %s", kept)
	if err := t.runs(ctx, server, claim); err != nil {
		return err
	}
	object, err := t.server(ctx, server)
	if err != nil {
		return err
	}
	if err := t.checked("server bound to the claim's new UID", object.Spec.ClaimRef.UID == string(restored.GetUID()), true); err != nil {
		return err
	}
	m, err := t.mark()
	if err != nil {
		return err
	}
	return t.watched(ctx, m)
}

// restoreOlder is a server restored from before its claim: its memory knows nothing of who runs on the machine.
func restoreOlder(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.backup(ctx, keptBatchClaim, claimNamed(batch)); err != nil {
		return err
	}
	if err := t.disaster(ctx, batchServer, batch); err != nil {
		return err
	}
	if err := t.restoreServerFirst(ctx, keptOlderServer, batchServer, v1alpha1.ReasonStampMismatch); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	report, err := t.explainer(t.admin).Server(ctx, batchServer)
	if err != nil {
		return err
	}
	t.did("holdfast explain server %s", batchServer)
	t.show(report)
	if err := t.restoreClaim(ctx, keptBatchClaim, batchServer, batch); err != nil {
		return err
	}
	return t.untouched(m)
}

// guardMemory tries what admission policy refuses.
func guardMemory(ctx context.Context, t *tour) error {
	forge := func(options ...client.CreateOption) error {
		forged := claimNamed("forged")
		forged.Annotations = map[string]string{ledger.KeyIdentity: "someone-else", ledger.KeyBound: "their-machine"}
		return t.tenant.Create(ctx, forged, options...)
	}
	// The API server takes a policy up some time after it was installed.
	if err := t.until(ctx, "policies in force", func(context.Context) error { return refusal(forge(client.DryRunAll)) }); err != nil {
		return err
	}
	if err := t.refused("a tenant's claim that bears another's memory", forge()); err != nil {
		return err
	}
	drop := fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, ledger.KeyBoot)
	err := t.admin.Patch(ctx, serverNamed(webServer), client.RawPatch(types.MergePatchType, []byte(drop)))
	return t.refused("a cluster admin's removal of the ledger's boot entry", err)
}

func (t *tour) refused(what string, err error) error {
	if err := refusal(err); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	t.line("checked", "refused by the API server: %s", what)
	return nil
}

// refusal is nil where a request was refused, and says what became of it otherwise.
func refusal(err error) error {
	switch {
	case err == nil:
		return errors.New("was let through")
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return nil
	}
	return err
}

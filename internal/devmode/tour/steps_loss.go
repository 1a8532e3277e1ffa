// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// looks at each machine are waited for before it is said that nothing happened.
const looks = 3

func statusOf(server *v1alpha1.Server) ([]byte, error) {
	status, err := json.Marshal(server.Status)
	if err != nil {
		return nil, fmt.Errorf("keep the status of %s: %w", server.Name, err)
	}
	return status, nil
}

func loseStatus(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	for _, object := range []client.Object{claimNamed(web), serverNamed(webServer)} {
		if err := t.admin.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))); err != nil {
			return fmt.Errorf("wipe the status of %s: %w", object.GetName(), err)
		}
		t.did("wiped the status of %s", told(object))
		if err := t.runs(ctx, webServer, web); err != nil {
			return err
		}
		t.saw("it is reported again")
	}
	older := fmt.Appendf(nil, `[{"op":"replace","path":"/status","value":%s}]`, t.keptStatus)
	if err := t.admin.Status().Patch(ctx, serverNamed(webServer), client.RawPatch(types.JSONPatchType, older)); err != nil {
		return fmt.Errorf("replace the status of %s: %w", webServer, err)
	}
	t.did("replaced the server's status by a copy from before the claim: Available, power Off")
	if err := t.runs(ctx, webServer, web); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	return t.untouched(m)
}

func restartManager(ctx context.Context, t *tour) error {
	if err := t.quiet(ctx); err != nil {
		return err
	}
	if err := t.stack.StopManager(); err != nil {
		return err
	}
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.stack.StartManager(ctx); err != nil {
		return err
	}
	t.did("stopped the manager and started it anew")
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	return t.silent(m)
}

// silent checks that the operator has written nothing at all since m.
func (t *tour) silent(m mark) error {
	f, err := t.since(m)
	if err != nil {
		return err
	}
	if err := t.checked("API writes of the operator", f.objects(), "0"); err != nil {
		return err
	}
	t.saw("%d logins at BMCs", f.logins)
	return t.untouched(m)
}

// quiet waits until the operator has nothing left to do: a whole round of looks without a write.
func (t *tour) quiet(ctx context.Context) error {
	return t.until(ctx, "a round of looks without a write", func(ctx context.Context) error {
		m, err := t.mark()
		if err != nil {
			return err
		}
		if err := t.round(ctx, m, 1); err != nil {
			return err
		}
		f, err := t.since(m)
		if err != nil {
			return err
		}
		if len(f.api) > 0 || f.writes > 0 || len(f.cloud) > 0 {
			return fmt.Errorf("API writes: %s, writes to BMCs: %d, to the cloud: %s", f.objects(), f.writes, f.cloudCalls())
		}
		return nil
	})
}

func rest(ctx context.Context, t *tour) error {
	if err := t.quiet(ctx); err != nil {
		return err
	}
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	return t.silent(m)
}

func loseServer(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	before, err := t.server(ctx, batchServer)
	if err != nil {
		return err
	}
	if err := t.destroy(ctx, serverNamed(batchServer)); err != nil {
		return err
	}
	t.did("deleted the Server %s and forced its finalizer away, while %s runs on it", batchServer, batch)
	err = t.until(ctx, "server "+batchServer+" made anew", func(ctx context.Context) error {
		now, err := t.server(ctx, batchServer)
		if err == nil && now.UID == before.UID {
			err = fmt.Errorf("the old object is there")
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := t.runs(ctx, batchServer, batch); err != nil {
		return err
	}
	after, err := t.server(ctx, batchServer)
	if err != nil {
		return err
	}
	t.saw("made anew from its BMC, another UID, and bound to %s again", batch)
	if err := t.checked("the same machine by its identity", after.Annotations[ledger.KeyIdentity], before.Annotations[ledger.KeyIdentity]); err != nil {
		return err
	}
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	return t.untouched(m)
}

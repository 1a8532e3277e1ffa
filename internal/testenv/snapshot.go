// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// PauseAPIServer freezes the API server: requests hang until ResumeAPIServer.
func (e *Environment) PauseAPIServer() error {
	return e.launcher.signal("kube-apiserver", syscall.SIGSTOP)
}

// ResumeAPIServer ends what PauseAPIServer began.
func (e *Environment) ResumeAPIServer() error {
	return e.launcher.signal("kube-apiserver", syscall.SIGCONT)
}

// SnapshotEtcd copies what etcd holds now into a folder, which is made. etcd stands
// still meanwhile, so that the copy is what a crash at this moment would leave,
// which etcd can start from.
func (e *Environment) SnapshotEtcd(dir string) (failure error) {
	if err := e.PauseEtcd(); err != nil {
		return err
	}
	defer func() { failure = errors.Join(failure, e.ResumeEtcd()) }()
	if err := os.CopyFS(dir, os.DirFS(e.plane.ControlPlane.Etcd.DataDir)); err != nil {
		return fmt.Errorf("snapshot of etcd: %w", err)
	}
	return nil
}

// RestoreEtcd puts a snapshot in the place of what etcd holds, as an administrator
// does: API server and etcd are stopped, and revisions go on above all that were
// ever given out (etcdutl snapshot restore --bump-revision --mark-compacted), so
// that caches notice and no resourceVersion means two things. The snapshot can be
// restored again. It returns when the API server was let begin on what was restored:
// nothing that came to be before that is remembered.
func (e *Environment) RestoreEtcd(ctx context.Context, dir string) (time.Time, error) {
	store := newKVClient(e.plane.ControlPlane.Etcd.URL.String())
	defer store.http.CloseIdleConnections() // etcd would wait for them when it is stopped
	last, err := store.revision(ctx)
	if err != nil {
		return time.Time{}, err
	}
	store.http.CloseIdleConnections()
	if err := e.StopAPIServer(); err != nil {
		return time.Time{}, err
	}
	if err := e.replaceData(dir); err != nil {
		return time.Time{}, err
	}
	if err := store.advance(ctx, last+revisionMargin); err != nil {
		return time.Time{}, err
	}
	begun := time.Now()
	return begun, e.StartAPIServer()
}

// revisionMargin is above what is written between the look at the revision and the
// stop of the API server.
const revisionMargin = 1000

func (e *Environment) replaceData(dir string) error {
	etcd := e.plane.ControlPlane.Etcd
	if err := etcd.Stop(); err != nil {
		return fmt.Errorf("stop etcd: %w", err)
	}
	if err := os.RemoveAll(etcd.DataDir); err != nil {
		return fmt.Errorf("remove the data of etcd: %w", err)
	}
	if err := os.CopyFS(etcd.DataDir, os.DirFS(dir)); err != nil {
		return fmt.Errorf("restore the data of etcd: %w", err)
	}
	// What etcd warns of otherwise: its folder is nobody else's.
	if err := os.Chmod(etcd.DataDir, 0o700); err != nil { //nolint:gosec // a folder has to be entered
		return fmt.Errorf("restore the data of etcd: %w", err)
	}
	if err := etcd.Start(); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	return nil
}

// kvClient speaks to etcd over its JSON gateway.
type kvClient struct {
	base string
	http http.Client
}

func newKVClient(base string) *kvClient {
	// As many connections are kept as are used.
	return &kvClient{base: base, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}}
}

// revision is etcd's newest.
func (c *kvClient) revision(ctx context.Context) (int64, error) {
	return c.post(ctx, "range", map[string]any{"key": []byte("holdfast"), "keys_only": true})
}

// atOnce is how many writes are under way at a time.
const atOnce = 32

// advance writes until the revision is at least that, and compacts all before it: a
// watch from before the restore ends instead of missing what was undone.
func (c *kvClient) advance(ctx context.Context, to int64) error {
	now, err := c.revision(ctx)
	if err != nil {
		return err
	}
	var left atomic.Int64
	left.Store(to - now)
	group, together := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				if _, err := c.post(together, "put", map[string]any{"key": []byte("holdfast/revision"), "value": []byte("")}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if to <= now {
		return nil
	}
	_, err = c.post(ctx, "compaction", map[string]any{"revision": strconv.FormatInt(to, 10)})
	return err
}

// post calls a method of etcd's key-value service and returns the revision it
// answers with.
func (c *kvClient) post(ctx context.Context, method string, body any) (int64, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v3/kv/"+method, bytes.NewReader(content))
	if err != nil {
		return 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, fmt.Errorf("etcd %s: %w", method, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("etcd %s: %w", method, err)
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("etcd %s: %s: %s", method, response.Status, answer)
	}
	var parsed struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return 0, fmt.Errorf("etcd %s: %w", method, err)
	}
	return parsed.Header.Revision, nil
}

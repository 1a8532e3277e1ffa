// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"sync"
)

// keyedLock is a lock per key. A key that nobody holds or waits for takes no memory.
type keyedLock struct {
	mu    sync.Mutex
	locks map[string]*heldLock
}

type heldLock struct {
	turn  chan struct{}
	users int
}

func newKeyedLock() *keyedLock { return &keyedLock{locks: map[string]*heldLock{}} }

// lock waits for the key's turn. It returns the context's error, or what gives the turn back.
func (k *keyedLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		l = &heldLock{turn: make(chan struct{}, 1)}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; k.leave(key, l) }, nil
	case <-ctx.Done():
		k.leave(key, l)
		return nil, ctx.Err()
	}
}

func (k *keyedLock) leave(key string, l *heldLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}

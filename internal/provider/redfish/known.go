// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// knowledge is what a connection has learnt and may forget at any time: it saves requests, and decides nothing.
type knowledge struct {
	wantsMatch atomic.Bool // a PATCH without If-Match was refused once (428)

	mu     sync.Mutex
	places map[provider.SystemRef]place
	tags   map[string]tagRecord
	resets map[string][]schemas.ResetType // by path of the ActionInfo that told them
	recent recent
	tasks  []taskSight // asked about, oldest first
}

// place is where a system was found.
type place struct {
	path string
	id   string
	// whole: one document tells all of the system's state, so that its ETag stands for all.
	whole bool
}

// still says that s, read at that place, is the system meant. A host that is off may not tell its UUID: silence contradicts nothing
// as long as Id and place are those at which it was proven.
func (p place) still(s *system, ref provider.SystemRef) bool {
	if s.id != p.id {
		return false
	}
	return s.is(ref) || (ref.UUID != "" && s.uuid == "")
}

func (k *knowledge) place(ref provider.SystemRef) (place, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.places[ref]
	return p, ok
}

// remember keeps where a named system is. The only one there is must be searched for each time: a second may appear.
func (k *knowledge) remember(ref provider.SystemRef, s *system, whole bool) {
	if (ref == provider.SystemRef{}) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.places == nil {
		k.places = map[provider.SystemRef]place{}
	}
	k.places[ref] = place{path: s.path, id: s.id, whole: whole}
}

func (k *knowledge) forget(ref provider.SystemRef) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.places, ref)
}

func (k *knowledge) resetTypes(actionInfo string) []schemas.ResetType {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resets[actionInfo]
}

// rememberResets keeps what an ActionInfo told, so that a reset needs no look between check and action; nil forgets it.
func (k *knowledge) rememberResets(actionInfo string, types []schemas.ResetType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.resets == nil {
		k.resets = map[string][]schemas.ResetType{}
	}
	k.resets[actionInfo] = types
}

// trust in the ETags of a resource is earned and can be lost.
type trust int

const (
	unproven trust = iota
	proven         // it was seen to change together with the power
	broken         // a fact changed and it did not
)

// checkEvery: of so many looks in a row, one reads the document although its ETag is trusted.
const checkEvery = 10

type tagRecord struct {
	etag   string
	power  provider.PowerState
	digest uint64
	trust  trust
	looks  int
}

// learn compares a picture with the last one of the same resource. Some BMCs change the ETag when something was written, and leave it
// when the power changes: those may never answer "not modified" to us (B037).
func (k *knowledge) learn(path, etag string, power provider.PowerState, facts uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tags == nil {
		k.tags = map[string]tagRecord{}
	}
	last, known := k.tags[path]
	now := tagRecord{etag: etag, power: power, digest: facts, trust: last.trust}
	switch {
	case etag == "", known && last.etag == etag && last.digest != facts:
		now.trust = broken
	case known && last.etag != etag && last.power != power && now.trust == unproven:
		now.trust = proven
	}
	k.tags[path] = now
}

// conditional says whether to ask with this ETag: it is the one last seen, and to be trusted.
func (k *knowledge) conditional(path, etag string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.tags[path]
	if etag == "" || r.etag != etag || r.trust != proven || r.looks >= checkEvery {
		return false
	}
	r.looks++
	k.tags[path] = r
	return true
}

// digestOf is a fingerprint of what an ETag must not hide.
func digestOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

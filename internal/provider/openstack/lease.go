// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/rand"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
)

// A lease is the right of one process to ask Nova for the VM of one identity. Nova has no such thing: it makes a VM for every POST, and two
// VMs on one port break each other's network. So the lease is kept where a compare-and-swap is to be had: in the name of the first port, as a
// stamp of time and chance that is written at the port's creation or with If-Match on its revision. A lease in force that is not ours, or
// of ours with a POST whose outcome is unknown, makes Create wait; the VM is looked for by its identity meanwhile, and adopted.

// leasePart is a third of a lease's time: its holder may send the POST in the first, the POST is carried out or broken off in the second, and
// the third is for clocks that differ. So it is the time of one request, but no less than what the requests in between may take.
func leasePart(request time.Duration) time.Duration { return max(request, minLeasePart) }

const (
	minLeasePart = 5 * time.Second
	leaseParts   = 3
)

const (
	stampTime   = 8 // digits of base 36: milliseconds until the year 2059
	stampChance = 4
)

// named is the form of a port's name: <server>-<index>-<stamp>.
var named = regexp.MustCompile(`-([0-9]{1,3})-([0-9a-z]{` + strconv.Itoa(stampTime+stampChance) + `})$`)

// tagPort is the tag that tells a port's index, + index. The name tells it before the tags are written, and after somebody renamed the port
// the tag does.
const tagPort = "holdfast-port:"

// portName is the name of a port. It is read back by indexOf and stampOf (B250).
func portName(server string, index int, stamp string) string {
	return server + "-" + strconv.Itoa(index) + "-" + stamp
}

// indexOf is which of its server's ports p is.
func indexOf(p *ports.Port) (int, bool) {
	for _, tag := range p.Tags {
		if digits, is := strings.CutPrefix(tag, tagPort); is {
			if index, err := strconv.Atoi(digits); err == nil && index >= 0 {
				return index, true
			}
		}
	}
	if m := named.FindStringSubmatch(p.Name); m != nil {
		index, err := strconv.Atoi(m[1])
		return index, err == nil
	}
	return 0, false
}

// stampOf is the stamp in a port's name, "" where there is none.
func stampOf(p *ports.Port) string {
	if m := named.FindStringSubmatch(p.Name); m != nil {
		return m[2]
	}
	return ""
}

// leases knows which stamps of this process are settled: nothing of theirs is on the wire any more. Forgetting them is safe, and costs
// waiting until they lapse.
type leases struct {
	clock func() time.Time
	use   time.Duration // how long after taking a lease its holder may send the POST
	time  time.Duration // how long it is respected

	mu      sync.Mutex
	settled map[string]time.Time // by stamp: when it was taken
	late    map[string]time.Time // by identity and index of a port: until when a POST of ours that timed out may still make one
}

func newLeases(clock func() time.Time, request time.Duration) *leases {
	part := leasePart(request)
	return &leases{clock: clock, use: part, time: leaseParts * part, settled: map[string]time.Time{}, late: map[string]time.Time{}}
}

// take makes a new stamp. It comes into force when it is written.
func (l *leases) take() string {
	chance, err := rand.Int(rand.Reader, big.NewInt(36*36*36*36))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return digits(l.clock().UnixMilli(), stampTime) + digits(chance.Int64(), stampChance)
}

func digits(n int64, width int) string {
	s := strconv.FormatInt(n, 36)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// settle says that nothing sent under that stamp can still make a VM unseen.
func (l *leases) settle(stamp string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	for s, at := range l.settled {
		if now.Sub(at) > l.time {
			delete(l.settled, s)
		}
	}
	if at, ok := takenAt(stamp); ok {
		l.settled[stamp] = at
	}
}

// left is how long the lease in p's name is still to be respected; 0 where there is none, or where it is settled. A stamp from further
// in the future than that was written by a clock that is wrong, and is none.
func (l *leases) left(p *ports.Port) time.Duration {
	stamp := stampOf(p)
	at, ok := takenAt(stamp)
	if !ok {
		return 0
	}
	l.mu.Lock()
	_, settled := l.settled[stamp]
	l.mu.Unlock()
	age := l.clock().Sub(at)
	if settled || age >= l.time || age <= -l.time {
		return 0
	}
	return min(l.time, l.time-age)
}

// mayComeLate notes that the POST of a port got no answer in time: it may be carried out yet, and a second one beside it would be nobody's.
func (l *leases) mayComeLate(identity string, index int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	for port, until := range l.late {
		if until.Before(now) {
			delete(l.late, port)
		}
	}
	l.late[latePort(identity, index)] = now.Add(l.time)
}

// expected is how long such a port is still to be waited for; 0 for none.
func (l *leases) expected(identity string, index int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.late[latePort(identity, index)].Sub(l.clock()))
}

func latePort(identity string, index int) string { return identity + "/" + strconv.Itoa(index) }

// usable says that the holder of stamp may still send the POST.
func (l *leases) usable(stamp string) bool {
	at, ok := takenAt(stamp)
	return ok && l.clock().Sub(at) < l.use
}

func takenAt(stamp string) (time.Time, bool) {
	if len(stamp) != stampTime+stampChance {
		return time.Time{}, false
	}
	millis, err := strconv.ParseInt(stamp[:stampTime], 36, 64)
	return time.UnixMilli(millis), err == nil
}

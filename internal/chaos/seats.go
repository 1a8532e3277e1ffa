// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
)

// The pools of machines.
const (
	poolNamed  = "named"  // each is claimed by name
	poolShared = "shared" // claimed by selector, by more tenants than there are machines
)

// namedOf is how many machines are claimed by name.
func namedOf(machines int) int { return machines * 3 / 5 }

func poolOf(i, machines int) string {
	if i < namedOf(machines) {
		return poolNamed
	}
	return poolShared
}

// seat is a place from which one tenant after another claims one kind of machine.
type seat struct {
	name   string
	number int
	// Exactly one of them says what is claimed.
	server, pool, class string
	// patience is how long its tenants wait for their machines before they give up.
	patience time.Duration

	mu  sync.Mutex
	now *tenancy
}

// seatsOf are the seats of a campaign: one a machine that is claimed by name, some more than there are shared machines, and one a VM.
func seatsOf(servers int) []*seat {
	machines := machinesOf(servers)
	named := namedOf(machines)
	shared := machines - named
	var seats []*seat
	add := func(s *seat) {
		s.name, s.number, s.patience = seatName(len(seats)), len(seats), scaled(getsWithin, servers)
		seats = append(seats, s)
	}
	for i := range named {
		add(&seat{server: machineName(i)})
	}
	for range shared + max(1, shared/8) {
		add(&seat{pool: poolShared})
	}
	for range servers - machines {
		add(&seat{class: className})
	}
	return seats
}

// tenancy that sits there now; nil where none does.
func (s *seat) tenancy() *tenancy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *seat) sit(t *tenancy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = t
}

// The lives of tenants.
const (
	// getsWithin is how long a tenant waits for its machine before it gives up, with fifty servers. With more of them each life takes longer, and tenants
	// who give up before that are work for nothing, of which there is ever more.
	getsWithin = time.Minute
	// leastUse and mostUse bound the pauses between what a tenant does.
	leastUse, mostUse = 2 * time.Second, 9 * time.Second
	// mostDeeds is how often it does something before it leaves.
	mostDeeds = 5
)

// live has one tenant after another sit in a seat until ctx ends. What they do is left to chance, by the campaign's seed and the seat.
func (s *seat) live(ctx context.Context, tenants *tenants, sight *sight, random *rand.Rand) error {
	between := func(least, most time.Duration) bool {
		return pause(ctx, least+time.Duration(random.Float64()*float64(most-least)))
	}
	if !between(0, mostUse/2) {
		return nil
	}
	for n := 1; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%s-%d", s.name, n)
		method := v1alpha1.BootHTTP
		if random.IntN(3) == 0 {
			method = v1alpha1.BootVirtualMedia
		}
		now, err := tenants.begin(ctx, name, func(ctx context.Context, t *tenancy) error { return s.create(ctx, tenants, t, method) })
		if err != nil {
			return ignoreEnd(ctx, err)
		}
		s.sit(now)
		waited := s.wait(ctx, sight, name)
		for range random.IntN(mostDeeds) {
			if !waited || !between(leastUse, mostUse) {
				break
			}
			if err := s.deed(ctx, tenants, now, random, between); err != nil {
				return ignoreEnd(ctx, err)
			}
		}
		if !between(leastUse, mostUse) {
			return nil
		}
		if err := tenants.leave(ctx, now); err != nil {
			return ignoreEnd(ctx, err)
		}
		s.untilGone(ctx, sight, name)
	}
	return nil
}

// ignoreEnd takes an error for none that the end of the campaign has caused.
func ignoreEnd(ctx context.Context, err error) error {
	if context.Cause(ctx) == nil {
		return err
	}
	return nil
}

// deed is one thing that a tenant does with its machine.
func (s *seat) deed(ctx context.Context, tenants *tenants, now *tenancy, random *rand.Rand, between func(least, most time.Duration) bool) error {
	if random.IntN(2) == 0 {
		return tenants.restart(ctx, now)
	}
	if err := tenants.power(ctx, now, v1alpha1.PowerOff); err != nil {
		return err
	}
	between(leastUse, mostUse)
	return tenants.power(ctx, now, v1alpha1.PowerOn)
}

// create creates the claim, and the user data where it is for a VM. What exists already was created by a request whose answer was lost.
func (s *seat) create(ctx context.Context, tenants *tenants, t *tenancy, method v1alpha1.BootMethod) error {
	claim := &v1alpha1.ServerClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: t.name}}
	claim.Spec.Boot = v1alpha1.ClaimBoot{Method: method, Image: watch.ImageURL(t.id)}
	switch {
	case s.server != "":
		claim.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: s.server}
	case s.pool != "":
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{labelPool: s.pool}}
	default:
		claim.Spec.ClassName = s.class
		claim.Spec.Boot = v1alpha1.ClaimBoot{UserDataSecretRef: &v1alpha1.LocalObjectReference{Name: t.name}}
		if err := ignoreExists(tenants.platform.Create(ctx, userData(t))); err != nil {
			return err
		}
	}
	return ignoreExists(tenants.api.Create(ctx, claim))
}

// userData is the secret that a claim for a VM names: what tells in the record whose the VM is. A tenant may not make secrets here, its
// platform does.
func userData(t *tenancy) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: t.name, Labels: map[string]string{v1alpha1.LabelUserData: "true"}},
		StringData: map[string]string{"user-data": watch.UserData(t.id)},
	}
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// wait waits until the tenant's machine is ready, but not for ever. It tells whether it is.
func (s *seat) wait(ctx context.Context, sight *sight, name string) bool {
	for deadline := time.Now().Add(s.patience); time.Now().Before(deadline) && pause(ctx, lookPause); {
		if claim := sight.claim(name); claim != nil && isTrue(claim, v1alpha1.ConditionReady) {
			return true
		}
	}
	return false
}

// untilGone waits until a claim that was given up is gone, but not for ever: the next tenant may as well wait in its place.
func (s *seat) untilGone(ctx context.Context, sight *sight, name string) {
	for deadline := time.Now().Add(s.patience / 2); time.Now().Before(deadline) && pause(ctx, lookPause); {
		if sight.claim(name) == nil {
			return
		}
	}
}

// sweep deletes again what was given up, or over, and has been brought back, and records what is remembered again.
func sweep(ctx context.Context, c *campaign) {
	for pause(ctx, 4*lookPause) {
		c.recall()
		for name, claim := range seen[*v1alpha1.ServerClaim](c.sight) {
			if t := c.tenants.get(name); t != nil && t.over() && claim.DeletionTimestamp == nil {
				_ = c.tenants.giveUp(ctx, t) // until it has been heard, or all is over
			}
		}
		for name, o := range seen[*v1alpha1.ServerMaintenance](c.sight) {
			if o.DeletionTimestamp == nil && !c.maintained.has(name) {
				_ = c.endMaintenance(ctx, name)
			}
		}
	}
}

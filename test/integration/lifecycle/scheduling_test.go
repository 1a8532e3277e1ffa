// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func labelled(k *harness.Kit) func(*v1alpha1.ServerClaim) {
	return func(c *v1alpha1.ServerClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"test": k.Name}}
	}
}

// A cordoned server takes no new claim and keeps the one it has.
func TestCordon(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "cordon")
	machine := k.Enroll()
	server := k.Server(machine.Name)
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Unschedulable = true })
	claim := k.Claim("", labelled(k))
	why := k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
	if !strings.Contains(why.Message, "1") {
		t.Errorf("no count of servers that do not fit: %s", why.Message)
	}
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Unschedulable = false })
	k.UntilReady(claim)
	mark := k.Mark()
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Unschedulable = true })
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
}

// A tainted server is bound to a claim that tolerates the taint, and to no other.
func TestTaints(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "taints")
	k.Enroll(func(e *harness.Enrollment) {
		e.BMC.Spec.ServerTemplate.Taints = []v1alpha1.Taint{{Key: "gpu", Value: "a100", Effect: v1alpha1.TaintNoBind}}
	})
	plain := k.Claim("", labelled(k))
	k.UntilCondition(plain, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
	tolerant := k.Claim("", labelled(k), func(c *v1alpha1.ServerClaim) {
		c.Spec.Tolerations = []v1alpha1.Toleration{{Key: "gpu", Operator: v1alpha1.TolerationExists}}
	})
	k.UntilReady(tolerant)
	k.UntilCondition(plain, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonNoMatch)
}

// B046, B048: twenty claims for one server: one is bound, claimRef changes once, nothing keeps moving, and when the machine is released
// the next claim gets it.
func TestTwentyClaimsForOneServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "race")
	machine := k.Enroll()
	changes := countClaimRefs(k, machine.Name)
	claims := make([]*v1alpha1.ServerClaim, 20)
	for i := range claims {
		if i%2 == 0 {
			claims[i] = k.Claim(machine.Name)
		} else {
			claims[i] = k.Claim("", labelled(k))
		}
	}
	winner := boundOne(k, claims)
	k.UntilReady(winner)
	k.UntilQuiet(machine.Name)
	for _, claim := range claims {
		if claim != winner {
			k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, "")
		}
	}
	version := harness.Read(k, k.Server(machine.Name)).ResourceVersion
	k.ExpectUntouched(k.Mark(), machine)
	if after := harness.Read(k, k.Server(machine.Name)).ResourceVersion; after != version {
		t.Errorf("the server moved from version %s to %s at rest", version, after)
	}
	if n := changes(); n != 1 {
		t.Errorf("claimRef changed %d times, want once", n)
	}
	for _, claim := range claims {
		if claim != winner {
			k.Delete(claim)
			k.UntilGone(claim)
		}
	}
	next := k.Claim("", labelled(k))
	k.Delete(winner)
	k.UntilReady(next)
}

// boundOne waits until exactly one of the claims is bound.
func boundOne(k *harness.Kit, claims []*v1alpha1.ServerClaim) *v1alpha1.ServerClaim {
	k.T.Helper()
	var winner *v1alpha1.ServerClaim
	k.Until("one claim bound", func(ctx context.Context) error {
		bound := 0
		for _, claim := range claims {
			if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
				return err
			}
			if claim.Status.Phase == v1alpha1.ClaimBound {
				bound, winner = bound+1, claim
			}
		}
		if bound > 1 {
			k.T.Errorf("%d claims are bound to one server", bound)
		}
		if bound != 1 {
			return fmt.Errorf("%d bound", bound)
		}
		return nil
	})
	return winner
}

// countClaimRefs counts the changes of a server's claimRef from now on.
func countClaimRefs(k *harness.Kit, server string) func() int {
	k.T.Helper()
	watching, err := k.Admin.Watch(k.T.Context(), &v1alpha1.ServerList{}, client.MatchingFields{"metadata.name": server})
	if err != nil {
		k.T.Fatal(err)
	}
	counted := make(chan int)
	go func() {
		changes, last := 0, ""
		for event := range watching.ResultChan() {
			object, is := event.Object.(*v1alpha1.Server)
			if event.Type == watch.Error || !is {
				continue
			}
			identity := ""
			if object.Spec.ClaimRef != nil {
				identity = object.Spec.ClaimRef.Identity
			}
			if identity != last {
				changes, last = changes+1, identity
			}
		}
		counted <- changes
	}()
	return func() int {
		watching.Stop()
		return <-counted
	}
}

// B051, B049: claims that come and go leave no server behind: after the storm every server is free.
func TestClaimsThatComeAndGoLeaveNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "comego")
	machines := []*harness.Machine{k.Enroll(), k.Enroll()}
	var claims []*v1alpha1.ServerClaim
	for range 12 {
		claim := k.Claim("", labelled(k))
		claims = append(claims, claim)
		k.Delete(claim)
	}
	for _, claim := range claims {
		k.UntilGone(claim)
	}
	for _, machine := range machines {
		server := k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		if server.Spec.ClaimRef != nil {
			t.Errorf("%s is still %s's", machine.Name, server.Spec.ClaimRef.Name)
		}
		if installs := k.Since(harness.Mark{}, machine).Installs; len(installs) > len(claims) {
			t.Error(errors.New("more installs than claims"))
		}
	}
}

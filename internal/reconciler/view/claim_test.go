// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
)

func numbered(first, count int) []*v1alpha1.Server {
	servers := make([]*v1alpha1.Server, count)
	for i := range servers {
		name := strconv.Itoa(first + i)
		servers[i] = &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}}
	}
	return servers
}

// What a server is good for is kept for as long as the object is the same, and not a version longer.
func TestAChangedServerIsAssessedAnew(t *testing.T) {
	claims := &Claims{Settings: lifecycle.DefaultSettings(lifecycletest.ClusterID)}
	server := *lifecycletest.View().Server
	if c := claims.assess([]*v1alpha1.Server{&server}); !c[0].Available {
		t.Fatal("a free server is not available")
	}
	paused := server
	paused.Spec.Paused, paused.ResourceVersion = true, server.ResourceVersion+"1"
	if c := claims.assess([]*v1alpha1.Server{&paused}); c[0].Available {
		t.Error("a server that was paused is still available")
	}
	again := server
	again.UID += "-anew"
	if c := claims.assess([]*v1alpha1.Server{&again}); c[0].Server.UID != again.UID {
		t.Error("another object of the same name is taken for the old one")
	}
}

// B011: what is kept follows the fleet, however many servers have come and gone.
func TestAssessmentsOfServersThatAreGoneGoToo(t *testing.T) {
	const fleet = 10
	claims := &Claims{}
	for generation := range 20 {
		claims.assess(numbered(generation*fleet, fleet))
		if kept := len(claims.assessed); kept > 3*fleet {
			t.Fatalf("%d assessments are kept of %d servers", kept, fleet)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

const (
	cluster    = "here"
	namespace  = "team"
	claimName  = "web"
	serverName = "own"
	className  = "small"
	cloudName  = "fra1"
	maintName  = "repair"

	otherCluster = "there"
)

// attempts is the budget of retries, smaller than the product's default: what holds for one holds for three.
const attempts = 1

// maxRestarts bounds how often restarts are asked for.
const maxRestarts = 6

func claimUID(n uint8) types.UID  { return types.UID("claim-" + strconv.Itoa(int(n))) }
func serverUID(n uint8) types.UID { return types.UID("server-" + strconv.Itoa(int(n))) }

func vmID(slot int) string { return "vm-" + strconv.Itoa(slot+1) }

// slotOf is the VM of an id; -1 for none.
func slotOf(vm string) int {
	for slot := range maxVMs {
		if vmID(slot) == vm {
			return slot
		}
	}
	return -1
}

func imageOf(image uint8) v1alpha1.ResourceSelector {
	return v1alpha1.ResourceSelector{Name: imageName(image)}
}

func imageName(image uint8) string { return "debian-" + strconv.Itoa(int(image)) }
func imageID(image uint8) string   { return "img-" + strconv.Itoa(int(image)) }

// imageNamed is the image that a name resolves to; 0 for none.
func imageNamed(name string) uint8 {
	for image := uint8(1); image <= 2; image++ {
		if imageName(image) == name {
			return image
		}
	}
	return 0
}

// Time stands still: what has a deadline is explored as if that had always passed, because EffectDeadline and CreateBackoff are 0.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// askedAt is when the n-th restart was asked for.
func askedAt(n uint8) time.Time { return now.Add(time.Duration(n) * time.Hour) }

// restored is what --after-restore is given.
const restored = "restored"

func settings(epoch bool) lifecycle.Settings {
	s := lifecycle.DefaultSettings(cluster)
	if epoch {
		s.Epoch = restored
	}
	s.EffectDeadline, s.CreateBackoff, s.CreateAttempts = 0, 0, attempts
	return s
}

func (x *explorer) writeServer(from id, patch *lifecycle.Patch) apiserver.Write {
	return x.servers.Apply(from, patch, nil)
}

func (x *explorer) writeClaim(from id, patch *lifecycle.Patch) apiserver.Write {
	return x.claims.Apply(from, patch, nil)
}

// deleted is what an object becomes that somebody deletes.
func deleted(object metav1.Object) {
	if object.GetDeletionTimestamp() == nil {
		t := metav1.NewTime(now)
		object.SetDeletionTimestamp(&t)
	}
}

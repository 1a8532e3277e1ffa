// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Time is abstract: within an era nothing that has a deadline has reached it, unless a pass is made late, and then everything has.
// What a late pass writes is dated as if it were early, so that time never adds states.
var epochStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const maxEra = 3

func askedIn(era uint8) time.Time { return epochStart.Add(time.Duration(era) * 24 * time.Hour) }
func early(era uint8) time.Time   { return askedIn(era).Add(time.Hour) }
func late(era uint8) time.Time    { return early(era).Add(12 * time.Hour) }

var undate = func() *strings.Replacer {
	var pairs []string
	for era := range uint8(maxEra + 1) {
		pairs = append(pairs, late(era).Format(time.RFC3339Nano), early(era).Format(time.RFC3339Nano))
	}
	return strings.NewReplacer(pairs...)
}()

func undated(annotations map[string]string) map[string]string {
	if len(annotations) == 0 {
		return nil
	}
	out := make(map[string]string, len(annotations))
	for key, value := range annotations {
		out[key] = undate.Replace(value)
	}
	return out
}

// eraOf tells in which era a time is: restarts are asked for at the start of one.
func eraOf(t *metav1.Time) int {
	if t == nil {
		return -1
	}
	return int(t.Sub(epochStart) / (24 * time.Hour))
}

// Writes of a late pass are dated as if it were early.
func (x *explorer) writeServer(from id, patch *lifecycle.Patch) apiserver.Write {
	return x.servers.Apply(from, patch, func(o *v1alpha1.Server) {
		o.Annotations = undated(o.Annotations)
		if x.brain.Report != nil {
			x.brain.Report(o)
		}
	})
}

func (x *explorer) writeClaim(from id, patch *lifecycle.Patch) apiserver.Write {
	return x.claims.Apply(from, patch, func(o *v1alpha1.ServerClaim) { o.Annotations = undated(o.Annotations) })
}

func (x *explorer) writeMaintenance(from id, patch *lifecycle.Patch) apiserver.Write {
	return x.maintenances.Apply(from, patch, nil)
}

// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/cloud"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/reconciler/serverclass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/sshca"
)

// Cloud explains a cloud: how it stands, and who uses it. The error is the API server's: NotFound where there is none.
func (e *Explainer) Cloud(ctx context.Context, name string) (Report, error) {
	object := &v1alpha1.Cloud{}
	report, err := e.dependency(ctx, kindCloud, name, object, guard.OfCloud)
	if err != nil {
		return Report{}, err
	}
	conditions, gates := cloud.Describe(object)
	report.Description = report.described(conditions, gates)
	report.Facts = append(cloudFacts(object), report.Facts...)
	return report, nil
}

// Class explains a server class: how what it names stands, and who uses it.
func (e *Explainer) Class(ctx context.Context, name string) (Report, error) {
	object := &v1alpha1.ServerClass{}
	report, err := e.dependency(ctx, kindClass, name, object, guard.OfClass)
	if err != nil {
		return Report{}, err
	}
	dependencies, err := serverclass.Dependencies(ctx, e.Reader, object)
	if err != nil {
		return Report{}, err
	}
	report.Description = report.described(serverclass.Describe(dependencies))
	report.Uses = edgesOf(dependencies)
	spec := object.Spec.OpenStack
	report.Facts = append([]Line{{"makes", fmt.Sprintf("VMs of flavor %s from image %s, %s after release",
		cmp.Or(spec.Flavor.Name, spec.Flavor.ID), spec.Image, cmp.Or(object.Spec.ReclaimPolicy, v1alpha1.ReclaimDelete))}}, report.Facts...)
	return report, nil
}

// Authority explains an SSH certificate authority: whether its keys are fit, and who uses it.
func (e *Explainer) Authority(ctx context.Context, name string) (Report, error) {
	object := &v1alpha1.SSHCertificateAuthority{}
	report, err := e.dependency(ctx, kindAuthority, name, object, guard.OfAuthority)
	if err != nil {
		return Report{}, err
	}
	report.Description = report.described(nil, sshca.Describe(object))
	report.Facts = append([]Line{{"keys", fmt.Sprintf("%d, for %d logins with principals of their own", len(object.Spec.PublicKeys), len(object.Spec.Principals))}}, report.Facts...)
	return report, nil
}

// dependency begins the report on what is only used: it has no phase, and no step but to be guarded or to wait for its users.
func (e *Explainer) dependency(ctx context.Context, kind, name string, object client.Object, of users) (Report, error) {
	if err := e.Reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return Report{}, fmt.Errorf("read %s %s: %w", kind, name, err)
	}
	from, err := newScan(ctx, e.Reader)
	if err != nil {
		return Report{}, err
	}
	users, err := of(ctx, from, name)
	if err != nil {
		return Report{}, err
	}
	report := Report{Kind: kind, Name: name, UsedBy: usersOf(users), Facts: []Line{{"guard", guardText(object, len(users))}}}
	if !object.GetDeletionTimestamp().IsZero() && len(users) > 0 {
		report.Gates = lifecycle.Describe(lifecycle.Decision{Gates: []lifecycle.Gate{guard.Waiting(users)}}).Gates
	}
	return report, nil
}

// described is how the object stands, after a gate that is there already: a deletion that waits comes first, as the controllers report it.
func (r Report) described(conditions []lifecycle.Condition, gates []lifecycle.Gate) lifecycle.Description {
	described := lifecycle.Describe(lifecycle.Decision{Conditions: conditions, Gates: gates})
	described.Gates = append(r.Gates, described.Gates...)
	return described
}

func guardText(object client.Object, users int) string {
	text := "not on yet: nothing is made with it before it is"
	if guard.On(object) {
		text = "on: it cannot go while it is used"
	}
	if !object.GetDeletionTimestamp().IsZero() {
		text = fmt.Sprintf("being deleted: takes no new user, waits for %d", users)
	}
	return text
}

func cloudFacts(object *v1alpha1.Cloud) []Line {
	lines := []Line{secretEdge(object)}
	seen := object.Status.Observed
	if seen == nil {
		return append(lines, Line{"cloud", "nothing was looked at yet"})
	}
	text := "reachable"
	if !seen.Reachable {
		text = "not reachable (" + cmp.Or(seen.Reason, v1alpha1.ReasonNotObserved) + "): this is the last picture"
	}
	text += ", project " + cmp.Or(seen.Project, seen.ProjectID, "not told") + ", compute " + cmp.Or(seen.ComputeMicroversion, "not told")
	lines = append(lines, Line{"cloud", text})
	for _, use := range []struct {
		name  string
		quota *v1alpha1.QuotaUse
	}{{"instances", seen.Instances}, {"cores", seen.Cores}, {"memory MiB", seen.MemoryMiB}} {
		if use.quota != nil {
			lines = append(lines, Line{use.name, quotaText(*use.quota)})
		}
	}
	return lines
}

func quotaText(q v1alpha1.QuotaUse) string {
	if q.Limit < 0 {
		return fmt.Sprintf("%d used, no limit", q.Used)
	}
	return fmt.Sprintf("%d of %d used", q.Used, q.Limit)
}

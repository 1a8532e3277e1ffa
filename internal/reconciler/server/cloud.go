// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// CloudActors hands out the acting side of a cloud. Errors are *provider.Error, but for those of the API server.
type CloudActors interface {
	CloudActor(ctx context.Context, cloud *v1alpha1.Cloud) (provider.CloudActor, error)
}

// Seeds makes what a VM is handed when it is made. Errors are *provider.Error, but for those of the API server.
type Seeds interface {
	Seed(ctx context.Context, view lifecycle.ServerView) ([]byte, error)
}

// performAtCloud makes the one call at a cloud. User data is read here, directly before it is handed over: it is in no decision, and
// nothing keeps it.
func (r *Reconciler) performAtCloud(ctx context.Context, read view.ServerRead, op lifecycle.Op, e lifecycle.VirtualEffect) (provider.Outcome, error) {
	actor, err := r.Clouds.CloudActor(ctx, read.View.Cloud)
	if err != nil {
		return provider.Outcome{}, err
	}
	if op == lifecycle.OpCreateInstance {
		if e.Spec.UserData, err = r.Seeds.Seed(ctx, read.View); err != nil {
			return provider.Outcome{}, err
		}
	}
	return callCloud(ctx, actor, op, e)
}

// callCloud is the one place where an effect becomes a call of a cloud.
func callCloud(ctx context.Context, actor provider.CloudActor, op lifecycle.Op, e lifecycle.VirtualEffect) (provider.Outcome, error) {
	switch op {
	case lifecycle.OpCreateInstance:
		return actor.Create(ctx, e.Instance, e.Spec)
	case lifecycle.OpDeleteFailed:
		return provider.Outcome{}, actor.DeleteFailed(ctx, e.Instance, e.Expect)
	case lifecycle.OpDismantle:
		return provider.Outcome{}, actor.Dismantle(ctx, e.Instance)
	case lifecycle.OpRebuild:
		return actor.Rebuild(ctx, e.Instance, e.Image, e.Expect)
	case lifecycle.OpStart:
		return actor.StartInstance(ctx, e.Instance, e.Expect)
	case lifecycle.OpStop:
		return actor.StopInstance(ctx, e.Instance, e.Expect)
	case lifecycle.OpConfirmStopped:
		return provider.Outcome{}, actor.ConfirmStopped(ctx, e.Instance, e.Expect)
	case lifecycle.OpStampInstance:
		return actor.StampInstance(ctx, e.Instance, e.Claim, e.OldOwner, e.Expect)
	case lifecycle.OpUpdatePorts:
		return actor.UpdatePorts(ctx, e.Instance, e.Spec.Ports)
	case lifecycle.OpAttachFloatingIP:
		return actor.AttachFloatingIP(ctx, e.Instance, e.Network)
	case lifecycle.OpReleaseFloatingIP:
		return provider.Outcome{}, actor.ReleaseFloatingIP(ctx, e.Instance)
	default:
		return provider.Outcome{}, fmt.Errorf("effect %q at a cloud is unknown", op)
	}
}

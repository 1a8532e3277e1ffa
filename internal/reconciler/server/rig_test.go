// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/status"
)

// rig is the reconciler of one server, whose BMC answers as it is told.
type rig struct {
	*Reconciler
	t        *testing.T
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder

	// outcome and failure are the BMC's next answer, during is what happens before it; calls are what it was asked for.
	outcome provider.Outcome
	failure error
	during  func()
	calls   []lifecycle.Op
	// refusing is what the API server answers to every patch of metadata and spec; nil: it takes them.
	refusing error
	// live counts the reads of the API server itself, reading is what happens before each.
	live    int
	reading func()
}

func newRig(t *testing.T, overrides ...lt.Override) *rig {
	t.Helper()
	scene := lt.New(overrides...)
	server := scene.View().Server
	server.ResourceVersion = ""
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := []client.Object{server}
	if scene.BMC != nil {
		objects = append(objects, scene.BMC)
	}
	if scene.Cloud != nil {
		objects = append(objects, scene.Cloud)
	}
	if scene.Claim != nil {
		scene.Claim.ResourceVersion = ""
		objects = append(objects, scene.Claim)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(server, &v1alpha1.ServerClaim{})
	if err := index.Setup(t.Context(), indexer{builder}); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(lt.Now), recorder: events.NewFakeRecorder(100)}
	c := builder.WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if r.refusing != nil {
				return r.refusing
			}
			return to.Patch(ctx, object, patch, options...)
		},
	}).Build()
	api := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			r.live++
			if r.reading != nil {
				r.reading()
			}
			return from.Get(ctx, key, into, options...)
		},
	})
	r.Reconciler = &Reconciler{
		Client: c, Reader: &view.Servers{Cache: c, API: api, Settings: scene.Settings},
		Actors: r, Clouds: r, Seeds: r, Recorder: r.recorder, Metrics: status.NewMetrics(), Clock: r.clock, Settings: scene.Settings,
	}
	return r
}

type indexer struct{ builder *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	i.builder.WithIndex(object, field, extract)
	return nil
}

// pass is one pass, at the rig's time.
func (r *rig) pass() ctrl.Result {
	r.t.Helper()
	result, err := r.Reconcile(r.t.Context(), requestFor(lt.ServerName))
	if err != nil {
		r.t.Fatal(err)
	}
	return result
}

// passesFor makes passes as the timers ask for them, for so long.
func (r *rig) passesFor(long time.Duration) {
	r.t.Helper()
	for end := r.clock.Now().Add(long); ; {
		wait := r.pass().RequeueAfter
		if wait == 0 { // it wrote: the watch brings the next pass
			wait = time.Millisecond
		}
		if !r.clock.Now().Add(wait).Before(end) {
			r.clock.SetTime(end)
			return
		}
		r.clock.SetTime(r.clock.Now().Add(wait))
	}
}

func (r *rig) server() *v1alpha1.Server {
	r.t.Helper()
	server := &v1alpha1.Server{}
	if err := r.Client.Get(r.t.Context(), client.ObjectKey{Name: lt.ServerName}, server); err != nil {
		r.t.Fatal(err)
	}
	return server
}

func (r *rig) ledger() ledger.Server {
	r.t.Helper()
	led, err := ledger.ParseServer(r.server().Annotations)
	if err != nil {
		r.t.Fatal(err)
	}
	return led
}

// events are those told since they were asked for last.
func (r *rig) events() []string {
	var told []string
	for {
		select {
		case event := <-r.recorder.Events:
			told = append(told, event)
		default:
			return told
		}
	}
}

func (r *rig) answer(op lifecycle.Op) (provider.Outcome, error) {
	r.calls = append(r.calls, op)
	if r.during != nil {
		r.during()
	}
	return r.outcome, r.failure
}

// Actor implements Actors.
func (r *rig) Actor(context.Context, *v1alpha1.BMC) (provider.Actor, error) {
	return hands{rig: r}, nil
}

// hands answers the calls that tests of passes make; any other panics.
type hands struct {
	provider.Actor
	rig *rig
}

func (h hands) PowerOn(context.Context, provider.SystemRef, provider.Expect) (provider.Outcome, error) {
	return h.rig.answer(lifecycle.OpPowerOn)
}

func (h hands) ShutDown(context.Context, provider.SystemRef, provider.Expect) (provider.Outcome, error) {
	return h.rig.answer(lifecycle.OpShutDown)
}

func (h hands) ForceOff(context.Context, provider.SystemRef, provider.Expect) (provider.Outcome, error) {
	return h.rig.answer(lifecycle.OpForceOff)
}

func (h hands) EjectMedia(context.Context, provider.SystemRef, string, provider.Expect) (provider.Outcome, error) {
	return h.rig.answer(lifecycle.OpEjectMedia)
}

// CloudActor and Seed make the rig the way to its cloud, where every call is answered as told.
func (r *rig) CloudActor(context.Context, *v1alpha1.Cloud) (provider.CloudActor, error) {
	return cloudRig{rig: r}, nil
}

func (r *rig) Seed(context.Context, lifecycle.ServerView) ([]byte, error) { return nil, nil }

// cloudRig answers what tests ask of a cloud; any other call is a panic.
type cloudRig struct {
	provider.CloudActor
	rig *rig
}

func (c cloudRig) Create(context.Context, provider.InstanceRef, provider.InstanceSpec) (provider.Outcome, error) {
	return c.rig.answer(lifecycle.OpCreateInstance)
}

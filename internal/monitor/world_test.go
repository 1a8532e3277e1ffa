// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// world is what a monitor sees in a unit test: objects with resourceVersions and events, and a rack of scripted BMCs. Time is
// that of a synctest bubble: days pass in milliseconds, and every test is exact. What an API server does in earnest is shown in
// test/integration/monitor.
type world struct {
	t       *testing.T
	cadence Cadence
	// unsettled answers for the lifecycle. By default an open intent is unsettled.
	unsettled Unsettled

	mu      sync.Mutex
	version int
	objects map[string]client.Object
	writes  []string // of regions, as "Server rack1"
	rack    map[string]*scriptedBMC
	sky     *sky
	forgot  []string
	// beforePatch runs before a patch of a region is applied: what others do at that moment.
	beforePatch func()
	patchError  error

	monitor  *Monitor
	registry *prometheus.Registry
	stop     func()
}

// inWorld runs a test in a bubble. Goroutines that outlive it fail the test.
func inWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t:       t,
			cadence: DefaultCadence(),
			objects: map[string]client.Object{},
			rack:    map[string]*scriptedBMC{},
			sky:     &sky{clouds: map[string]*scriptedCloud{}},
			unsettled: func(s *v1alpha1.Server) bool {
				return openIntent(s).ID != ""
			},
		}
		test(t, w)
		if w.stop != nil {
			w.stop()
		}
	})
}

// start starts a monitor over what exists. The pauses get the jitter of their middle unless random says otherwise.
func (w *world) start(random ...func() float64) {
	w.t.Helper()
	w.registry = prometheus.NewRegistry()
	m := &Monitor{
		observers: w, observeClouds: w.sky, owner: ownCluster, unsettled: w.unsettled, namespace: "holdfast-system", cadence: w.cadence, log: w.log(),
		reader: w, writer: w, now: time.Now,
		fleet: newFleet(w.cadence, func() float64 { return 0.5 }), clouds: newClouds(w.cadence, func() float64 { return 0.5 }),
	}
	if len(random) > 0 {
		m.fleet.random, m.clouds.random = random[0], random[0]
	}
	var err error
	if m.metrics, err = newMetrics(w.registry, m.census); err != nil {
		w.t.Fatal(err)
	}
	w.monitor = m
	for _, object := range w.objects {
		w.deliver(nil, object, true)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.run(ctx)
	}()
	w.stop = func() {
		cancel()
		<-done
		w.monitor, w.stop = nil, nil
	}
	synctest.Wait()
}

// log fails the test for a panic that it did not script: visits recover from them, and nobody would know.
func (w *world) log() logr.Logger {
	return funcr.New(func(_, line string) {
		if strings.Contains(line, "Panic while looking") && !strings.Contains(line, "scripted") {
			w.t.Error(line)
		}
		w.t.Log(line)
	}, funcr.Options{})
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func key(object client.Object) string {
	switch object.(type) {
	case *v1alpha1.BMC:
		return "BMC " + object.GetName()
	case *v1alpha1.Cloud:
		return "Cloud " + object.GetName()
	case *v1alpha1.Server:
		return "Server " + object.GetName()
	}
	return "Secret " + object.GetName()
}

// deliver tells an event, as an informer does: the store first, then the handlers.
func (w *world) deliver(before, after client.Object, initial bool) {
	if w.monitor == nil {
		return
	}
	object := after
	if object == nil {
		object = before
	}
	var handler toolscache.ResourceEventHandler
	switch object.(type) {
	case *v1alpha1.BMC:
		handler = w.monitor.bmcEvents()
	case *v1alpha1.Cloud:
		handler = w.monitor.cloudEvents()
	case *v1alpha1.Server:
		handler = w.monitor.serverEvents()
	default:
		handler = w.monitor.secretEvents()
	}
	switch {
	case before == nil:
		handler.OnAdd(after, initial)
	case after == nil:
		handler.OnDelete(before)
	default:
		handler.OnUpdate(before, after)
	}
}

// put creates or replaces an object as a user or the reconciler does, and lets the monitor come to rest.
func (w *world) put(object client.Object) {
	w.replace(object)
	synctest.Wait()
}

func (w *world) replace(object client.Object) {
	w.mu.Lock()
	before := w.objects[key(object)]
	stored := w.store(object)
	w.mu.Unlock()
	w.deliver(before, stored, false)
}

func (w *world) store(object client.Object) client.Object {
	stored, _ := object.DeepCopyObject().(client.Object)
	w.version++
	stored.SetResourceVersion(strconv.Itoa(w.version))
	if stored.GetUID() == "" {
		stored.SetUID(types.UID(fmt.Sprintf("uid-%d", w.version)))
	}
	w.objects[key(object)] = stored
	return stored
}

func (w *world) remove(object client.Object) {
	w.mu.Lock()
	before := w.objects[key(object)]
	delete(w.objects, key(object))
	w.mu.Unlock()
	w.deliver(before, nil, false)
	synctest.Wait()
}

func (w *world) server(name string) *v1alpha1.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	server, _ := w.objects["Server "+name].DeepCopyObject().(*v1alpha1.Server)
	return server
}

func (w *world) bmc(name string) *v1alpha1.BMC {
	w.mu.Lock()
	defer w.mu.Unlock()
	bmc, _ := w.objects["BMC "+name].DeepCopyObject().(*v1alpha1.BMC)
	return bmc
}

// change changes a server as somebody else than the monitor does.
func (w *world) change(name string, change func(*v1alpha1.Server)) {
	server := w.server(name)
	change(server)
	w.put(server)
}

// meanwhile is change from within what the monitor is doing.
func (w *world) meanwhile(name string, change func(*v1alpha1.Server)) {
	server := w.server(name)
	change(server)
	w.replace(server)
}

// enroll makes a BMC with one server, known and well as after a long time.
func (w *world) enroll(name string) *scriptedBMC {
	scripted := newScriptedBMC()
	w.mu.Lock()
	w.rack[name] = scripted
	w.mu.Unlock()
	w.put(newBMC(name))
	w.put(newServer(name))
	return scripted
}

// onPatch sets what happens between the making and the sending of a patch.
func (w *world) onPatch(hook func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beforePatch = hook
}

func (w *world) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	written := w.writes
	w.writes = nil
	return written
}

// Get implements client.Reader.
func (w *world) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	into.SetName(name.Name)
	stored, found := w.objects[key(into)]
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, name.Name)
	}
	switch target := into.(type) {
	case *v1alpha1.BMC:
		bmc, _ := stored.(*v1alpha1.BMC)
		bmc.DeepCopyInto(target)
	case *v1alpha1.Cloud:
		cloud, _ := stored.(*v1alpha1.Cloud)
		cloud.DeepCopyInto(target)
	case *v1alpha1.Server:
		server, _ := stored.(*v1alpha1.Server)
		server.DeepCopyInto(target)
	}
	return nil
}

// List implements client.Reader.
func (w *world) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return fmt.Errorf("a monitor lists nothing")
}

// Status implements client.StatusClient.
func (w *world) Status() client.SubResourceWriter { return regionWriter{w: w} }

type regionWriter struct {
	client.SubResourceWriter
	w *world
}

// Patch applies a patch as an API server does, and fails the test where it touches anything but status.observed under a lock.
func (r regionWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	r.w.mu.Lock()
	hook := r.w.beforePatch
	r.w.mu.Unlock()
	if hook != nil {
		hook()
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	before, after, err := r.w.patch(key(object), data)
	if err != nil {
		return err
	}
	r.w.deliver(before, after, false)
	return ctx.Err()
}

func (w *world) patch(name string, data []byte) (before, after client.Object, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.patchError != nil {
		return nil, nil, w.patchError
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, nil, err
	}
	metadata, _ := body["metadata"].(map[string]any)
	status, _ := body["status"].(map[string]any)
	if len(body) != 2 || len(metadata) != 1 || len(status) != 1 || metadata["resourceVersion"] == nil || status["observed"] == nil {
		w.t.Errorf("patch touches more than the region, or has no lock: %s", data)
	}
	before, found := w.objects[name]
	if !found {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, name)
	}
	if metadata["resourceVersion"] != before.GetResourceVersion() {
		return nil, nil, apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, name, fmt.Errorf("modified"))
	}
	merged, _ := before.DeepCopyObject().(client.Object)
	if err := mergeInto(merged, body); err != nil {
		return nil, nil, err
	}
	w.writes = append(w.writes, name)
	return before, w.store(merged), nil
}

// mergeInto applies a JSON merge patch (RFC 7386).
func mergeInto(object client.Object, patch map[string]any) error {
	encoded, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var document map[string]any
	if err := json.Unmarshal(encoded, &document); err != nil {
		return err
	}
	merge(document, patch)
	if encoded, err = json.Marshal(document); err != nil {
		return err
	}
	switch o := object.(type) {
	case *v1alpha1.Server:
		*o = v1alpha1.Server{}
	case *v1alpha1.BMC:
		*o = v1alpha1.BMC{}
	case *v1alpha1.Cloud:
		*o = v1alpha1.Cloud{}
	}
	return json.Unmarshal(encoded, object)
}

func merge(document, patch map[string]any) {
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(document, name)
		case isObject:
			child, ok := document[name].(map[string]any)
			if !ok {
				child = map[string]any{}
			}
			merge(child, inner)
			document[name] = child
		default:
			document[name] = value
		}
	}
}

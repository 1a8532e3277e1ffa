// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

var domainConditions = []string{"ProviderReachable", "Discovered", "DependenciesReady", "Provisioned", "Claimed"}

// typicalWidget is what a controller meets: 30 annotations, 8 conditions, a region of 4 KiB.
func typicalWidget() *widget.Widget {
	w := newWidget()
	w.Annotations = map[string]string{}
	for i := range 30 {
		w.Annotations[fmt.Sprintf("ledger.example.com/entry-%02d", i)] = fmt.Sprintf("value of the entry number %d", i)
	}
	w.Status.Observed = &widget.WidgetObserved{}
	for size := 0; size < 4096; {
		part := widget.Part{Name: fmt.Sprintf("disk-%d", size), Serial: fmt.Sprintf("S%030d", size), Healthy: true}
		data, _ := json.Marshal(part)
		size += len(data) + 1
		w.Status.Observed.Parts = append(w.Status.Observed.Parts, part)
	}
	if _, err := try(&server{}, nil, w, reportTypically, status.WithRegions("observed")); err != nil {
		panic(err)
	}
	return w
}

func reportTypically(s *status.Session) {
	for _, conditionType := range domainConditions {
		s.Set(conditionType, yes, "AsExpected", "as it should be, seen by the monitor and compared")
	}
	s.Converged("Succeeded", "the widget runs")
}

// BenchmarkCommitUnchanged is the whole session of a pass that has nothing new to say.
func BenchmarkCommitUnchanged(b *testing.B) {
	metrics := status.NewMetrics(status.PerObject("Widget"))
	for name, options := range map[string][]status.Option{
		"plain":   {status.WithRegions("observed")},
		"metrics": {status.WithRegions("observed"), status.WithMetrics(metrics)},
	} {
		b.Run("structured/"+name, func(b *testing.B) {
			benchmarkUnchanged(b, typicalWidget(), options...)
		})
		b.Run("unstructured/"+name, func(b *testing.B) {
			u := toUnstructured(b, typicalWidget())
			s := &server{}
			b.ReportAllocs()
			for b.Loop() {
				object, err := status.FromUnstructured(u)
				if err != nil {
					b.Fatal(err)
				}
				pass(b, s, object, options)
			}
			mustBeSilent(b, s)
		})
	}
}

func benchmarkUnchanged(b *testing.B, object status.Object, options ...status.Option) {
	s := &server{}
	b.ReportAllocs()
	for b.Loop() {
		pass(b, s, object, options)
	}
	mustBeSilent(b, s)
}

func pass(b *testing.B, s *server, object status.Object, options []status.Option) {
	session := status.Begin(s, nil, object, options...)
	reportTypically(session)
	if outcome, err := session.Commit(context.Background()); outcome != status.Unchanged {
		b.Fatal(outcome, err)
	}
}

func mustBeSilent(b *testing.B, s *server) {
	if len(s.patches) != 0 {
		b.Fatalf("%d patches sent", len(s.patches))
	}
}

// BenchmarkNaive is what controllers without a session do every pass: set the conditions, then
// Status().Update whatever they are. The client is the real one down to its HTTP transport, which answers
// at once; the network, the API server and the watch event that follows come on top.
func BenchmarkNaive(b *testing.B) {
	w := typicalWidget()
	c := answering(b, w)
	b.Run("StatusUpdate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			setNaively(w)
			if err := c.Status().Update(context.Background(), w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("StatusMergeFromPatch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			before := w.DeepCopy()
			setNaively(w)
			if err := c.Status().Patch(context.Background(), w, client.MergeFrom(before)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func setNaively(w *widget.Widget) {
	for _, conditionType := range append([]string{"Ready", "Reconciling", "Stalled"}, domainConditions...) {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: yes, Reason: "AsExpected", ObservedGeneration: w.Generation,
			Message: "as it should be, seen by the monitor and compared",
		})
	}
}

// BenchmarkCommitWritten is a pass with one condition changed, through the same client.
func BenchmarkCommitWritten(b *testing.B) {
	w := typicalWidget()
	c := answering(b, w)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		session := status.Begin(c, nil, w, status.WithRegions("observed"))
		reportTypically(session)
		session.Set("Claimed", yes, "AsExpected", time.Duration(i).String())
		if outcome, err := session.Commit(context.Background()); outcome != status.Written {
			b.Fatal(outcome, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering returns a real client whose transport answers every request with the object.
func answering(b *testing.B, object *widget.Widget) client.Client {
	answer := object.DeepCopy()
	answer.SetGroupVersionKind(widgetKind)
	body, err := json.Marshal(answer)
	if err != nil {
		b.Fatal(err)
	}
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode: http.StatusOK,
			Header:     http.Header{"Content-Type": {"application/json"}},
			Body:       io.NopCloser(bytes.NewReader(body)),
			Request:    r,
		}, nil
	})
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(widgetKind, meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: "http://api.invalid", QPS: -1},
		client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// A settled fleet runs this path for every object at every resync: it must cost nothing that matters.
func TestAnUnchangedPassAllocatesLittle(t *testing.T) {
	w, s := typicalWidget(), &server{}
	allocations := testing.AllocsPerRun(100, func() {
		session := status.Begin(s, nil, w, status.WithRegions("observed"))
		reportTypically(session)
		if outcome, err := session.Commit(context.Background()); outcome != status.Unchanged {
			t.Fatal(outcome, err)
		}
	})
	if allocations > 20 || len(s.patches) > 0 {
		t.Errorf("%.0f allocations, %d patches", allocations, len(s.patches))
	}
}

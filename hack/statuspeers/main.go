// SPDX-License-Identifier: Apache-2.0

// Command statuspeers measures what a pass costs that has nothing new to report: with the status library, with the patch helper of Flux's
// runtime, and with what controllers do by hand. All report on the same Server at the API server that KUBECONFIG names, one after the
// other, and the requests they send are counted. It prints JSON for test/bench.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// result of one way to report.
type result struct {
	Name        string  `json:"name"`
	Nanoseconds float64 `json:"nanoseconds"`
	Allocations int64   `json:"allocations"`
	Bytes       int64   `json:"bytes"`
	// Processor is the time that the process used, in nanoseconds a pass.
	Processor float64 `json:"processor"`
	// Requests are those sent in one pass.
	Requests float64 `json:"requests"`
}

func main() {
	benchtime := flag.String("benchtime", "1s", "how long each is run, as of go test")
	testing.Init()
	flag.Parse()
	if err := flag.Set("test.benchtime", *benchtime); err != nil {
		fail(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail(err)
	}
	config.QPS = -1
	var sent atomic.Int64
	config.Wrap(counted(&sent))
	results, err := measure(context.Background(), config, &sent)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func counted(sent *atomic.Int64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			sent.Add(1)
			return next.RoundTrip(request)
		})
	}
}

func measure(ctx context.Context, config *rest.Config, sent *atomic.Int64) ([]result, error) {
	subject, err := prepare(ctx, config)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, way := range ways {
		pass, err := way.pass(subject)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		if err := pass(ctx); err != nil { // the first may have something to write
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		var failed error
		passes, before, busy := int64(0), sent.Load(), processor()
		measured := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				passes++
				if err := pass(ctx); err != nil {
					failed = err
					b.FailNow()
				}
			}
		})
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", way.name, failed)
		}
		results = append(results, result{
			Name: way.name, Nanoseconds: float64(measured.T.Nanoseconds()) / float64(measured.N), Allocations: measured.AllocsPerOp(), Bytes: measured.AllocedBytesPerOp(),
			Requests: float64(sent.Load()-before) / float64(passes), Processor: float64(processor()-busy) / float64(passes),
		})
	}
	return results, nil
}

// processor is the time that this process has used.
func processor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// SPDX-License-Identifier: Apache-2.0

// Command chaos runs the fault campaign. It fails where a rule is broken, and where not all comes to rest.
//
//	go run ./hack/chaos                                 three minutes, fifty servers
//	DURATION=30m SERVERS=200 SEED=7 go run ./hack/chaos
//	FAULTS=move,kill-manager go run ./hack/chaos        those faults alone
//	WITHOUT=move go run ./hack/chaos                    all but that one
//	go run ./hack/chaos --plan                          what would be done when, and nothing else
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/holdfast-dev/holdfast/internal/chaos"
)

func main() {
	seed := flag.Uint64("seed", number("SEED", 1), "of everything that is left to chance")
	duration := flag.Duration("duration", span("DURATION", 3*time.Minute), "of the faults")
	servers := flag.Int("servers", int(number("SERVERS", 50)), "machines and VMs together")
	settle := flag.Duration("settle", span("SETTLE", 2*time.Minute), "bounds each of the two waits at the end")
	binary := flag.String("binary", filepath.Join("bin", "holdfast"), "the holdfast that runs as manager")
	dir := flag.String("dir", os.Getenv("CHAOS_DIR"), "where logs and records are kept; none: a new folder")
	only := flag.String("faults", os.Getenv("FAULTS"), "names of the faults to do, comma-separated; none: all")
	without := flag.String("without", os.Getenv("WITHOUT"), "names of faults not to do, comma-separated")
	plan := flag.Bool("plan", false, "print the plan alone")
	flag.Parse()
	options := chaos.Options{
		Seed: *seed, Duration: *duration, Servers: *servers, Settle: *settle, Binary: *binary, Dir: *dir,
		Out: os.Stdout, Progress: os.Stderr,
	}
	if *only != "" {
		options.Only = strings.Split(*only, ",")
	}
	if *without != "" {
		options.Without = strings.Split(*without, ",")
	}
	if *plan {
		fmt.Fprintln(os.Stdout, chaos.MakePlan(options))
		return
	}
	os.Exit(run(options))
}

// run is the exit code: 1 where the campaign was not passed, 2 where it could not be done.
func run(options chaos.Options) int {
	ctrl.SetLogger(logr.Discard()) // the managers have logs of their own
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	own := options.Dir == ""
	if own {
		dir, err := os.MkdirTemp("", "holdfast-campaign-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		options.Dir = dir
	}
	passed, err := chaos.Run(ctx, options)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "%v\nseed %d; what there is of logs is in %s\n", err, options.Seed, options.Dir)
		return 2
	case !passed:
		return 1
	}
	if own { // nobody asked for it, and there is nothing to look into
		if err := os.RemoveAll(options.Dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	return 0
}

func span(variable string, otherwise time.Duration) time.Duration {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		refused(variable, err)
	}
	return d
}

func number(variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		refused(variable, err)
	}
	return n
}

// refused ends a run that was asked for in a way that cannot be read: a default in its place would be another run than was asked for.
func refused(variable string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", variable, err)
	os.Exit(2)
}

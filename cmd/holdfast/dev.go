// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-dev/holdfast/internal/devmode"
	"github.com/holdfast-dev/holdfast/internal/devmode/tour"
)

func devCommand() *cobra.Command {
	var stateDir string
	var fresh, toured bool
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run a control plane, a simulated rack and cloud, and the operator here, and narrate what happens",
		Long: `Run a control plane, a rack of simulated BMCs, a simulated cloud and the operator on this machine, and narrate what happens until interrupted.
State is kept in a folder: stopped and started again, everything goes on where it was.
With --tour: take a scripted tour on a state of its own, and exit non-zero when a step fails.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if toured {
				return takeTour(cmd.Context(), cmd.OutOrStdout())
			}
			return runDev(cmd.Context(), cmd.OutOrStdout(), stateDir, fresh)
		},
	}
	flags := command.Flags()
	flags.StringVar(&stateDir, "state-dir", "", "where the state is kept (default in the user's cache)")
	flags.BoolVar(&fresh, "fresh", false, "wipe the state first")
	flags.BoolVar(&toured, "tour", false, "take the scripted tour")
	command.MarkFlagsMutuallyExclusive("tour", "state-dir")
	command.MarkFlagsMutuallyExclusive("tour", "fresh")
	return command
}

// runDev runs dev mode; an interrupt is its regular end.
func runDev(ctx context.Context, out io.Writer, stateDir string, fresh bool) error {
	if stateDir == "" {
		var err error
		if stateDir, err = devmode.DefaultStateDir(); err != nil {
			return err
		}
	}
	if fresh {
		if err := devmode.Wipe(stateDir); err != nil {
			return err
		}
	}
	_, closeLog, err := devmode.LogTo(stateDir)
	if err != nil {
		return err
	}
	defer func() { _ = closeLog() }()
	return devmode.Run(ctx, devmode.Options{StateDir: stateDir, Tempo: devmode.Lively()}, out)
}

// takeTour takes the tour on a temporary state, which is kept for a look where the tour fails.
func takeTour(ctx context.Context, out io.Writer) (err error) {
	stateDir, err := os.MkdirTemp("", "holdfast-tour-")
	if err != nil {
		return fmt.Errorf("state of the tour: %w", err)
	}
	_, closeLog, err := devmode.LogTo(stateDir)
	if err != nil {
		return err
	}
	defer func() {
		_ = closeLog()
		if err != nil {
			fmt.Fprintf(out, "the state of the tour, with its logs, is left in %s\n", stateDir)
			return
		}
		err = os.RemoveAll(stateDir)
	}()
	fmt.Fprintln(out, "starting a control plane, a rack of simulated BMCs and a simulated cloud")
	started := time.Now()
	stack, err := devmode.Start(ctx, devmode.Options{StateDir: stateDir, Tempo: devmode.Quick(), Audit: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "started in %s\n", time.Since(started).Round(100*time.Millisecond))
	return errors.Join(tour.Run(ctx, stack, out), stack.Close())
}

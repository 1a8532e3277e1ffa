// SPDX-License-Identifier: Apache-2.0

// Command holdfast runs the life of servers from Kubernetes.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "holdfast:", err)
		}
		stop()
		os.Exit(exitCode(err))
	}
}

func root() *cobra.Command {
	command := &cobra.Command{
		Use:           "holdfast",
		Short:         "Run the life of servers from Kubernetes",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.AddCommand(managerCommand(), monitorCommand(), backupCheckCommand(), bmcCommand(), devCommand(), explainCommand(), resumeCommand(), userdataCommand(), versionCommand())
	return command
}

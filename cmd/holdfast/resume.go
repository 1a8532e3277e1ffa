// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/resume"
)

func resumeCommand() *cobra.Command {
	var to connection
	var selection resume.Selection
	selector := ""
	dryRun := false
	command := &cobra.Command{
		Use:   "resume --after-restore EPOCH (NAME... | -l SELECTOR | --all)",
		Short: "Let servers go on that are held since the cluster was restored from a snapshot",
		Long: `Let servers go on that a manager with --after-restore holds (RestoredSnapshot). Look at the machines first: one that was claimed,
booted or released after the snapshot was taken is not as its object says. Each server is annotated with its identity, as
kubectl annotate would; servers resumed already are passed over.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			selection.Names = args
			if selector != "" {
				parsed, err := labels.Parse(selector)
				if err != nil {
					return fmt.Errorf("selector: %w", err)
				}
				selection.Selector = parsed
			}
			cluster, _, err := to.open()
			if err != nil {
				return err
			}
			var options []client.PatchOption
			suffix := ""
			if dryRun {
				options, suffix = append(options, client.DryRunAll), " (dry run)"
			}
			return resumeServers(cmd, cluster, selection, suffix, options...)
		},
	}
	flags := command.Flags()
	to.flags(flags)
	flags.StringVar(&selection.Epoch, "after-restore", "", "the manager's --after-restore")
	flags.StringVarP(&selector, "selector", "l", "", "labels of the servers")
	flags.BoolVar(&selection.All, "all", false, "all servers")
	flags.BoolVar(&dryRun, "dry-run", false, "have the API server check each change and make none")
	return command
}

// resumeServers goes on after a server that fails, so that one does not hold up the rest.
func resumeServers(cmd *cobra.Command, cluster client.Client, selection resume.Selection, suffix string, options ...client.PatchOption) error {
	held, err := resume.Held(cmd.Context(), cluster, selection)
	if err != nil {
		return err
	}
	var failures []error
	for _, server := range held {
		if err := selection.Consent(cmd.Context(), cluster, server, options...); err != nil {
			failures = append(failures, err)
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "server %s resumed%s\n", server.Name, suffix)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d of %d servers that were held\n", len(held)-len(failures), len(held))
	return errors.Join(failures...)
}

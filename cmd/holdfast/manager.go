// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/internal/operator"
)

func managerCommand() *cobra.Command {
	options := operator.Defaults()
	verbosity := 0
	command := &cobra.Command{
		Use:   "manager",
		Short: "Run the operator: all controllers, or those named by --controllers",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runOperator(cmd.Context(), options, verbosity)
		},
	}
	flags := command.Flags()
	commonFlags(flags, &options, &verbosity)
	flags.StringSliceVar(&options.Controllers, "controllers", nil, "controllers to run (default all): "+strings.Join(operator.Names(), ", "))
	flags.StringVar(&options.Settings.Epoch, "after-restore", "", "name of a restore: holds every effect until each server is resumed by a person")
	flags.StringVar(&options.Settings.TakeOver, "take-over", "", "id of an old cluster whose servers are all taken over; it must have been fenced")
	flags.IntVar(&options.Settings.CreateAttempts, "create-attempts", options.Settings.CreateAttempts, "how often a VM that never launched is deleted and made again")
	flags.DurationVar(&options.Settings.CreateBackoff, "create-backoff", options.Settings.CreateBackoff, "from one such attempt to the next, doubled each time")
	flags.DurationVar(&options.Settings.GracePeriod, "power-off-grace", options.Settings.GracePeriod, "from asking the operating system to stop until the power is cut")
	flags.DurationVar(&options.Settings.BootDeadline, "boot-deadline", options.Settings.BootDeadline, "until a boot override is cleared whatever the machine tells")
	flags.DurationVar(&options.Settings.EffectDeadline, "effect-deadline", options.Settings.EffectDeadline, "of one acting call to a provider; the same for all managers of a cluster")
	flags.StringVar(&options.LeaderElection.ID, "leader-election-id", options.LeaderElection.ID, "name of the lease of the controllers that act")
	flags.IntVar(&options.Workers, "workers", options.Workers, "servers worked on at a time")
	return command
}

func monitorCommand() *cobra.Command {
	options := operator.Defaults()
	options.Controllers = []string{operator.Monitor}
	verbosity := 0
	command := &cobra.Command{
		Use:   "monitor",
		Short: "Run the monitor alone, beside a manager that does not run it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runOperator(cmd.Context(), options, verbosity)
		},
	}
	commonFlags(command.Flags(), &options, &verbosity)
	return command
}

func commonFlags(flags *pflag.FlagSet, options *operator.Options, verbosity *int) {
	flags.StringVar(&options.Namespace, "namespace", namespaceOr(options.Namespace), "namespace of the operator: credentials and leases")
	flags.StringVar(&options.ClusterID, "cluster-id", "", "who may act; a clone of a cluster must set it (default: the UID of kube-system)")
	flags.StringVar(&options.MetricsAddress, "metrics-bind-address", options.MetricsAddress, "address of the metrics, 0 for none")
	flags.StringVar(&options.ProbeAddress, "health-probe-bind-address", options.ProbeAddress, "address of health and readiness, 0 for none")
	flags.StringVar(&options.ProfilingAddress, "pprof-address", options.ProfilingAddress, "address of profiles (net/http/pprof), of the loopback interface alone, 0 for none")
	flags.BoolVar(&options.LeaderElection.Enabled, "leader-elect", options.LeaderElection.Enabled, "wait to be the one process that acts")
	flags.DurationVar(&options.LeaderElection.LeaseDuration, "leader-elect-lease-duration", options.LeaderElection.LeaseDuration, "how long the others wait for a leader that is not heard of")
	flags.DurationVar(&options.LeaderElection.RenewDeadline, "leader-elect-renew-deadline", options.LeaderElection.RenewDeadline, "how long a leader tries to renew its lease before it ends; less than the lease")
	flags.DurationVar(&options.LeaderElection.RetryPeriod, "leader-elect-retry-period", options.LeaderElection.RetryPeriod, "from one try to get or renew the lease to the next")
	flags.DurationVar(&options.Cadence.Slow, "poll", options.Cadence.Slow, "pace of looking at settled machines")
	flags.DurationVar(&options.Cadence.Clouds.Slow, "cloud-poll", options.Cadence.Clouds.Slow, "pace of looking at clouds whose servers are all settled")
	flags.Float64Var(&options.CloudQPS, "cloud-qps", options.CloudQPS, "requests a second to each cloud")
	flags.DurationVar(&options.Cadence.Fast, "fast-poll", options.Cadence.Fast, "first pause after a change of an unsettled machine")
	flags.Float32Var(&options.QPS, "kube-api-qps", options.QPS, "requests a second to the API server")
	flags.IntVar(&options.Burst, "kube-api-burst", options.Burst, "requests to the API server in a burst")
	flags.IntVarP(verbosity, "v", "v", 0, "verbosity of the log: 0 to 4")
}

// namespaceOr is the namespace the process runs in, as Kubernetes tells it.
func namespaceOr(fallback string) string {
	if namespace := os.Getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	return fallback
}

func runOperator(ctx context.Context, options operator.Options, verbosity int) error {
	ctrl.SetLogger(zap.New(zap.UseDevMode(false), zap.Level(operator.LogLevel(verbosity))))
	if err := tuneMemory(memoryMax); err != nil {
		ctrl.Log.Info("memory is not limited by the control group", "reason", err.Error()) // no reason not to run
	}
	restConfig, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	options.Config = restConfig
	return operator.Run(ctx, options)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-dev/holdfast/internal/backup"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// Exit codes of holdfast backup-check, for scripts.
const (
	exitWouldHold  = 1
	exitNotChecked = 2
)

// backupCheck is what the flags of holdfast backup-check say.
type backupCheck struct {
	connection
	settings lifecycle.Settings
	output   string

	operatorNamespace string
	secretsElsewhere  bool
	snapshot          bool
}

func backupCheckCommand() *cobra.Command {
	asked := backupCheck{settings: lifecycle.DefaultSettings("")}
	command := &cobra.Command{
		Use:   "backup-check [DIR | FILE | -]...",
		Short: "Say what would become of each object if a backup were restored",
		Long: `Say, object by object, what Holdfast would do after a backup was restored: resume, re-stamp, hold and why, discover anew; and what is
at odds within the backup. Nothing is restored and nothing is written.

A backup is a directory or a gzipped tar of manifests as Velero lays them out, what kubectl get -o yaml prints (lists, or several
documents), or plain manifests as Git holds them; "-" reads stdin. Without one the cluster is read as a backup taken now would hold it.

The production decisions are asked on the objects as a restore leaves them: no status, new UIDs. How the machines will be nobody can
know beforehand, so each server is tried as the backup remembers it, and otherwise too: Off, On, with its stamp, without, with
another's; its VM there, stopped, gone.

Exit code: 0 all resume, 1 something would hold, be lost, or is at odds, 2 not checked, or not all of it could be read.`,
		Example: "  velero backup download nightly && holdfast backup-check nightly-data.tar.gz\n" +
			"  kubectl get srv,sclaim,bmc,cloud,sclass,sshca,smaint -A -o yaml | holdfast backup-check -\n" +
			"  holdfast backup-check --context production\n" +
			"  holdfast backup-check deploy/ --secrets-elsewhere -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return asked.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{err, exitNotChecked} })
	flags := command.Flags()
	flags.StringVar(&asked.kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster to read (default $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&asked.context, "context", "", "context of the kubeconfig")
	flags.StringVarP(&asked.output, "output", "o", "table", "table or json")
	flags.StringVar(&asked.settings.ClusterID, "cluster-id", "", "id of the cluster that is restored into (default the one that the backup is of)")
	flags.StringVar(&asked.settings.Epoch, "after-restore", "", "the manager's --after-restore, where it will have one")
	flags.StringVar(&asked.settings.TakeOver, "take-over", "", "the manager's --take-over, where it will have one")
	flags.StringVar(&asked.operatorNamespace, "operator-namespace", operator.Defaults().Namespace, "namespace of the manager")
	flags.BoolVar(&asked.secretsElsewhere, "secrets-elsewhere", false, "secrets are no part of the backup: take those that are named for present")
	flags.BoolVar(&asked.snapshot, "snapshot", false, "the objects come back with their UIDs and deletions, as a snapshot of etcd brings them")
	return command
}

func (b backupCheck) run(ctx context.Context, paths []string, in io.Reader, out io.Writer) error {
	if b.output != "table" && b.output != "json" {
		return exitError{fmt.Errorf("output %q is neither table nor json", b.output), exitNotChecked}
	}
	set, err := b.read(ctx, paths, in)
	if err != nil {
		return exitError{err, exitNotChecked}
	}
	report, err := backup.Check(ctx, set, backup.Options{
		Settings: b.settings, Namespace: b.operatorNamespace, SecretsElsewhere: b.secretsElsewhere, Snapshot: b.snapshot, Now: time.Now(),
	})
	if err != nil {
		return exitError{err, exitNotChecked}
	}
	write := report.WriteTable
	if b.output == "json" {
		write = report.WriteJSON
	}
	if err := write(out); err != nil {
		return exitError{err, exitNotChecked}
	}
	switch {
	case report.Unreadable():
		return exitError{errors.New("not all of the backup could be read"), exitNotChecked}
	case !report.Resumes():
		return exitError{errors.New("not everything would go on by itself"), exitWouldHold}
	}
	return nil
}

// read reads the files, or the cluster where none is named.
func (b backupCheck) read(ctx context.Context, paths []string, in io.Reader) (*backup.Set, error) {
	if len(paths) > 0 && (b.kubeconfig != "" || b.context != "") {
		return nil, errors.New("give files, or --kubeconfig and --context, not both")
	}
	if len(paths) > 0 {
		return backup.Read(paths, in)
	}
	cluster, _, err := b.open()
	if err != nil {
		return nil, err
	}
	return backup.Live(ctx, cluster, b.operatorNamespace)
}

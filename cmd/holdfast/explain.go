// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/explain"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

func explainCommand() *cobra.Command {
	settings := lifecycle.DefaultSettings("")
	var to connection
	output, operatorNamespace := "", ""
	command := &cobra.Command{
		Use:   "explain (server NAME | claim [NAMESPACE/]NAME | cloud NAME | class NAME | ca NAME)",
		Short: "Say what Holdfast makes of an object, why, who uses it, and what a person can do",
		Long: `Say what Holdfast makes of a server or claim: its phase and the rule that gave it, the next step, why it is not
ready, the ways out of what holds it, and what is remembered. Of a cloud, a server class and an SSH certificate authority: how it
stands. Of each, what it uses and what uses it. The production decision is asked on a live reading; nothing is written.`,
		Example: "  holdfast explain server rack1-u07\n  holdfast explain claim team-a/web -o json\n  holdfast explain cloud fra1",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, namespace, err := to.open()
			if err != nil {
				return err
			}
			explainer := &explain.Explainer{Reader: cluster, Settings: settings, Namespace: operatorNamespace, Now: time.Now}
			report, err := explainObject(cmd, explainer, namespace, args)
			if err != nil {
				return err
			}
			return writeReport(cmd.OutOrStdout(), report, output)
		},
	}
	to.flags(command.Flags())
	command.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	command.Flags().StringVar(&settings.ClusterID, "cluster-id", "", "the manager's --cluster-id, where it has one")
	command.Flags().StringVar(&operatorNamespace, "operator-namespace", operator.Defaults().Namespace, "namespace of the manager")
	command.Flags().StringVar(&settings.Epoch, "after-restore", "", "the manager's --after-restore, where it has one")
	return command
}

func explainObject(cmd *cobra.Command, explainer *explain.Explainer, namespace string, args []string) (explain.Report, error) {
	kind, name := args[0], args[1]
	switch strings.ToLower(kind) {
	case "server", "servers", "srv":
		return explainer.Server(cmd.Context(), name)
	case "claim", "serverclaim", "serverclaims", "sclaim":
		if before, after, both := strings.Cut(name, "/"); both {
			namespace, name = before, after
		}
		return explainer.Claim(cmd.Context(), types.NamespacedName{Namespace: namespace, Name: name})
	case "cloud", "clouds":
		return explainer.Cloud(cmd.Context(), name)
	case "class", "serverclass", "serverclasses", "sclass":
		return explainer.Class(cmd.Context(), name)
	case "ca", "sshca", "sshcertificateauthority", "sshcertificateauthorities":
		return explainer.Authority(cmd.Context(), name)
	}
	return explain.Report{}, fmt.Errorf("%q is none of server, claim, cloud, class and ca", kind)
}

func writeReport(w io.Writer, report explain.Report, form string) error {
	switch form {
	case "text":
		return report.Write(w)
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	return fmt.Errorf("output %q is neither text nor json", form)
}

// connection says which cluster a command for people talks to, as kubectl does.
type connection struct{ kubeconfig, context, namespace string }

func (c *connection) flags(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace of claims (default that of the context)")
}

// open connects, and tells the namespace that names without one are in.
func (c *connection) open() (client.Client, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	overrides.Context.Namespace = c.namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	restConfig, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("find the cluster: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("find the namespace: %w", err)
	}
	cluster, err := client.New(restConfig, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, "", fmt.Errorf("connect: %w", err)
	}
	return cluster, namespace, nil
}

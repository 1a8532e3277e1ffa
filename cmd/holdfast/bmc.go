// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/internal/inspect"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
)

// Environment variables that credentials are taken from where no file is given. Never flags: arguments show in process lists.
const (
	envUsername = "HOLDFAST_BMC_USERNAME"
	envPassword = "HOLDFAST_BMC_PASSWORD" //nolint:gosec // the name of a variable
)

// Exit codes of holdfast bmc inspect, for scripts.
const (
	exitNotUsable = 1
	exitUnknown   = 2
)

// exitError ends the program with a code of its own.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// exitCode is the code that err ends the program with.
func exitCode(err error) int {
	var e exitError
	if errors.As(err, &e) {
		return e.code
	}
	return 1
}

func bmcCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "bmc",
		Short: "Ask a BMC directly, without a cluster",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.AddCommand(inspectCommand())
	return command
}

// inspection is what the flags of holdfast bmc inspect say.
type inspection struct {
	output, system, vendor  string
	credentials, ca, pinned string
	insecure                bool
	timeout                 time.Duration
}

func inspectCommand() *cobra.Command {
	var asked inspection
	command := &cobra.Command{
		Use:   "inspect URL",
		Short: "Say whether Holdfast can run a BMC and the machines behind it",
		Long: `Say what a BMC tells of itself and of the machines behind it, how it differs from what Redfish promises, and what Holdfast can
and cannot do with them, and why. Nothing is changed at the BMC; a session is opened and ended.

Credentials come from --credentials-file, else from ` + envUsername + ` and ` + envPassword + `. The file is YAML or JSON with the
keys username and password, or a directory with files of those names, as a mounted secret has.

Exit code: 0 usable, 1 not usable, 2 could not be found out (unreachable, denied, …).`,
		Example: "  holdfast bmc inspect https://192.0.2.10 --credentials-file bmc.yaml\n  holdfast bmc inspect https://192.0.2.10 --pin 3f:9a:… -o json",
		Args:    unknownUnless(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return asked.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{err, exitUnknown} })
	flags := command.Flags()
	flags.StringVarP(&asked.output, "output", "o", "text", "text or json")
	flags.StringVar(&asked.system, "system", "", "UUID or Redfish Id of the system (default: all that can be reset)")
	flags.StringVar(&asked.vendor, "vendor", "", "overrules what the BMC tells of its vendor, as spec.vendor does")
	flags.StringVar(&asked.credentials, "credentials-file", "", "file with username and password, or directory with a file for each")
	flags.StringVar(&asked.ca, "ca", "", "PEM file of the authorities trusted for this BMC (default: the system's)")
	flags.StringVar(&asked.pinned, "pin", "", "SHA-256 of the BMC's certificate, hexadecimal")
	flags.BoolVar(&asked.insecure, "insecure", false, "take any certificate")
	flags.DurationVar(&asked.timeout, "timeout", 2*time.Minute, "of the whole inspection")
	return command
}

func unknownUnless(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return exitError{err, exitUnknown}
		}
		return nil
	}
}

func (i inspection) run(ctx context.Context, endpoint string, out io.Writer) error {
	if i.output != "text" && i.output != "json" {
		return exitError{fmt.Errorf("output %q is neither text nor json", i.output), exitUnknown}
	}
	report, err := i.look(ctx, endpoint)
	if err != nil {
		return exitError{err, exitUnknown}
	}
	write := report.WriteText
	if i.output == "json" {
		write = report.WriteJSON
	}
	if err := write(out); err != nil {
		return exitError{err, exitUnknown}
	}
	switch report.Verdict {
	case inspect.Usable:
		return nil
	case inspect.NotUsable:
		return exitError{errors.New("not usable: " + report.Why), exitNotUsable}
	default:
		return exitError{errors.New("could not tell: " + report.Why), exitUnknown}
	}
}

// look inspects the BMC. The session ends with it, also when it was interrupted.
func (i inspection) look(ctx context.Context, endpoint string) (inspect.Report, error) {
	tls, err := i.tls()
	if err != nil {
		return inspect.Report{}, err
	}
	credentials, err := readCredentials(i.credentials)
	if err != nil {
		return inspect.Report{}, err
	}
	pool := redfish.NewPool(redfish.Options{UserAgent: "holdfast-inspect"})
	defer func() {
		goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = pool.Close(goodbye)
	}()
	bmc, err := pool.BMC("inspected", redfish.Endpoint{URL: endpoint, Vendor: i.vendor, TLS: tls}, credentials)
	if err != nil {
		return inspect.Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, i.timeout)
	defer cancel()
	report := inspect.Inspect(ctx, withoutUser(endpoint), bmc.Observer(), i.ref())
	if report.Error != nil {
		return report, nil
	}
	account, err := bmc.Account(ctx)
	if err != nil {
		return report, nil // what the account may do is not told: the rest is
	}
	return report.For(account), nil
}

// ref names the system that was asked for: by UUID where it reads as one.
func (i inspection) ref() provider.SystemRef {
	if _, err := uuid.Parse(i.system); err == nil {
		return provider.SystemRef{UUID: i.system}
	}
	return provider.SystemRef{ID: i.system}
}

func (i inspection) tls() (redfish.TLSConfig, error) {
	cfg := redfish.TLSConfig{PinnedSHA256: i.pinned, InsecureSkipVerify: i.insecure}
	if (i.ca != "" && i.pinned != "") || (i.insecure && i.ca+i.pinned != "") {
		return cfg, errors.New("--ca, --pin and --insecure exclude each other")
	}
	if i.ca == "" {
		return cfg, nil
	}
	bundle, err := os.ReadFile(i.ca)
	if err != nil {
		return cfg, fmt.Errorf("read the authorities: %w", err)
	}
	cfg.CABundle = bundle
	return cfg, nil
}

// withoutUser is an endpoint fit to be shown.
func withoutUser(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

// readCredentials reads them from that file or directory, else from the environment.
func readCredentials(path string) (redfish.Credentials, error) {
	if path == "" {
		return complete(redfish.Credentials{Username: os.Getenv(envUsername), Password: os.Getenv(envPassword)})
	}
	info, err := os.Stat(path)
	if err != nil {
		return redfish.Credentials{}, fmt.Errorf("read the credentials: %w", err)
	}
	if info.IsDir() {
		return credentialsIn(path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return redfish.Credentials{}, fmt.Errorf("read the credentials: %w", err)
	}
	var file struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return redfish.Credentials{}, errors.New("the credentials file is neither YAML nor JSON with username and password") // the cause may quote it
	}
	return complete(redfish.Credentials{Username: file.Username, Password: file.Password})
}

// credentialsIn reads a directory as a mounted secret has it. One line break at the end is an editor's, and no part of a password.
func credentialsIn(dir string) (redfish.Credentials, error) {
	var read [2]string
	for i, name := range []string{"username", "password"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return redfish.Credentials{}, fmt.Errorf("read the credentials: %w", err)
		}
		read[i] = strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	}
	return complete(redfish.Credentials{Username: read[0], Password: read[1]})
}

func complete(c redfish.Credentials) (redfish.Credentials, error) {
	if c.Username == "" || c.Password == "" {
		return c, fmt.Errorf("no user name or no password: give --credentials-file, or set %s and %s", envUsername, envPassword)
	}
	return c, nil
}

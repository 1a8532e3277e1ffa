// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast-dev/holdfast/internal/cloudinit"
)

func userdataCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "userdata",
		Short: "Try what a server is given as user data, without a cluster",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.AddCommand(renderCommand())
	return command
}

// Forms of output of holdfast userdata render.
const (
	outputText   = "text"
	outputRaw    = "raw"
	outputBase64 = "base64"
)

// rendering is what the flags of holdfast userdata render say.
type rendering struct {
	file, output string
	authorities  []string
}

func renderCommand() *cobra.Command {
	var asked rendering
	command := &cobra.Command{
		Use:   "render",
		Short: "Print what a server would get of user data and SSH certificate authorities",
		Long: `Print what a server would get of a user's data and the SSH certificate authorities that it must trust: the bytes that Holdfast
hands to the cloud, made by the same code. What kind of user data they are, and how much of the cloud's limit they take, is told on
standard error.

A --ca FILE has manifests of SSHCertificateAuthority, or public keys as authorized_keys has them, which are one authority of the
file's name.

Outputs: text, what the server reads (decompressed, where it is sent compressed); raw, the bytes that are sent; base64, those bytes
as the field user_data of the compute API takes them.`,
		Example: "  holdfast userdata render -f cloud-config.yaml --ca staff.pub\n  kubectl get sshca staff -o yaml | holdfast userdata render -f ignition.json --ca -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asked.run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&asked.file, "filename", "f", "", "file with the user data, - for standard input (default none)")
	command.Flags().StringArrayVar(&asked.authorities, "ca", nil, "file with SSH certificate authorities, - for standard input; may be repeated")
	command.Flags().StringVarP(&asked.output, "output", "o", outputText, "text, raw or base64")
	return command
}

func (r rendering) run(in io.Reader, out, notes io.Writer) error {
	if r.output != outputText && r.output != outputRaw && r.output != outputBase64 {
		return fmt.Errorf("output %q is none of text, raw and base64", r.output)
	}
	if r.standardInputs() > 1 {
		return errors.New("only one file can be standard input")
	}
	var userData []byte
	if r.file != "" {
		read, err := readFile(in, r.file)
		if err != nil {
			return fmt.Errorf("read the user data: %w", err)
		}
		userData = read
	}
	var authorities []cloudinit.Authority
	for _, path := range r.authorities {
		read, err := readFile(in, path)
		if err != nil {
			return fmt.Errorf("read the authorities: %w", err)
		}
		found, err := authoritiesIn(path, read)
		if err != nil {
			return err
		}
		authorities = append(authorities, found...)
	}
	rendered, err := cloudinit.Render(userData, authorities)
	if err != nil {
		return explained(err)
	}
	if err := r.write(out, rendered); err != nil {
		return err
	}
	fmt.Fprintln(notes, summary(rendered, len(authorities)))
	return nil
}

func (r rendering) standardInputs() int {
	count := 0
	for _, path := range append([]string{r.file}, r.authorities...) {
		if path == "-" {
			count++
		}
	}
	return count
}

func readFile(in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(path)
}

// explained adds the cause. The operator never shows it, for it may quote user data; here they are the caller's own.
func explained(err error) error {
	var e *cloudinit.Error
	if errors.As(err, &e) && e.Err != nil {
		return fmt.Errorf("%w (%w)", err, e.Err)
	}
	return err
}

func summary(rendered cloudinit.Rendered, authorities int) string {
	compressed := ""
	if rendered.Compressed {
		compressed = ", compressed"
	}
	return fmt.Sprintf("user data: %s; authorities: %d; sent: %d bytes%s, %d of %d characters of base64",
		rendered.Form, authorities, len(rendered.Data), compressed, rendered.EncodedLen(), cloudinit.MaxEncoded)
}

func (r rendering) write(out io.Writer, rendered cloudinit.Rendered) error {
	switch r.output {
	case outputBase64:
		_, err := fmt.Fprintln(out, base64.StdEncoding.EncodeToString(rendered.Data))
		return err
	case outputRaw:
		if !isText(rendered.Data) && isTerminal(out) {
			return errors.New("what is sent is not text, and standard output is a terminal: use -o text or -o base64, or write to a file")
		}
		_, err := out.Write(rendered.Data)
		return err
	default:
		return writeText(out, rendered.Data)
	}
}

// writeText shows what the server reads. Only gzip as a whole is taken off: what a server's own software takes apart is its business.
func writeText(out io.Writer, data []byte) error {
	if reader, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		decompressed, err := io.ReadAll(reader)
		if err != nil {
			return fmt.Errorf("decompress the user data: %w", err)
		}
		data = decompressed
	}
	if !isText(data) && isTerminal(out) {
		return errors.New("the user data are not text, and standard output is a terminal: use -o base64, or write to a file")
	}
	_, err := out.Write(data)
	return err
}

// isText tells whether a terminal shows data and does nothing else on account of them.
func isText(data []byte) bool {
	return !bytes.ContainsFunc(data, func(c rune) bool {
		return c == '\uFFFD' || c == 0x7f || (c < ' ' && c != '\n' && c != '\t' && c != '\r')
	})
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

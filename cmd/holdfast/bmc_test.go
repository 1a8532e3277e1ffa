// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/inspect"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

const secret = "canary-password"

// inspected runs holdfast bmc inspect and gives what it wrote and the code it would end with.
func inspected(args ...string) (out string, code int) {
	command := root()
	var written bytes.Buffer
	command.SetOut(&written)
	command.SetErr(&written)
	command.SetArgs(append([]string{"bmc", "inspect"}, args...))
	if err := command.ExecuteContext(context.Background()); err != nil {
		return written.String() + err.Error(), exitCode(err)
	}
	return written.String(), 0
}

func startRack(t *testing.T) (*sim.Rack, *sim.BMC) {
	t.Helper()
	rack, err := sim.NewRack(sim.Config{OwnListeners: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rack.Close() })
	device, err := rack.AddBMC(sim.BMCSpec{Name: "bmc", Username: "operator", Password: secret, Systems: []sim.MachineSpec{{}}})
	if err != nil {
		t.Fatal(err)
	}
	return rack, device
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pinOf is the fingerprint of the certificate that a BMC shows.
func pinOf(t *testing.T, endpoint string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(endpoint, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
	return hex.EncodeToString(sum[:])
}

// TestInspectCredentialsAndTrust: credentials come from a file, a directory or the environment, trust from a flag; the password is in no
// output, and the session is ended.
func TestInspectCredentialsAndTrust(t *testing.T) {
	rack, device := startRack(t)
	file := write(t, "bmc.yaml", "username: operator\npassword: "+secret+"\n")
	dir := t.TempDir()
	for name, content := range map[string]string{"username": "operator\n", "password": secret + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ca := write(t, "ca.pem", string(rack.CAPEM()))
	t.Setenv(envUsername, "operator")
	t.Setenv(envPassword, secret)
	for name, args := range map[string][]string{
		"file, CA":               {"--credentials-file", file, "--ca", ca},
		"directory, pin":         {"--credentials-file", dir, "--pin", pinOf(t, device.Endpoint())},
		"environment, insecure":  {"--insecure"},
		"environment, by system": {"--insecure", "--system", device.Machines()[0].UUID()},
	} {
		t.Run(name, func(t *testing.T) {
			out, code := inspected(append(args, device.Endpoint())...)
			if code != 0 || !strings.Contains(out, "USABLE") || !strings.Contains(out, "Administrator") || strings.Contains(out, secret) {
				t.Errorf("code %d:\n%s", code, out)
			}
			if n := device.AuthStats().Sessions; n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
	}
}

// TestInspectAsAnotherVendor: a wrong word of the BMC about its vendor can be overruled before it is registered, as in its spec.
func TestInspectAsAnotherVendor(t *testing.T) {
	_, device := startRack(t)
	t.Setenv(envUsername, "operator")
	t.Setenv(envPassword, secret)
	if out, code := inspected("--insecure", device.Endpoint()); code != 0 || strings.Contains(out, "indicator-lit-is-normal") {
		t.Errorf("code %d:\n%s", code, out)
	}
	if out, code := inspected("--insecure", "--vendor", "Dell", device.Endpoint()); code != 0 || !strings.Contains(out, "indicator-lit-is-normal") {
		t.Errorf("code %d:\n%s", code, out)
	}
}

// TestInspectJSON is what a script reads.
func TestInspectJSON(t *testing.T) {
	_, device := startRack(t)
	t.Setenv(envUsername, "operator")
	t.Setenv(envPassword, secret)
	out, code := inspected("--insecure", "-o", "json", device.Endpoint())
	var report inspect.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("code %d, %v:\n%s", code, err, out)
	}
	if report.Verdict != inspect.Usable || len(report.Systems) != 1 || report.Systems[0].UUID != device.Machines()[0].UUID() {
		t.Errorf("got %+v", report)
	}
}

// TestInspectExitCodes: 1 is a verdict; whatever keeps it from being found is 2. Without trust no credentials are sent (B181).
func TestInspectExitCodes(t *testing.T) {
	_, device := startRack(t)
	t.Setenv(envUsername, "operator")
	t.Setenv(envPassword, secret)
	at := device.Endpoint()
	for name, row := range map[string]struct {
		env  string
		args []string
		code int
		says string
	}{
		"not trusted":         {secret, []string{at}, exitUnknown, "TLSVerifyFailed"},
		"denied":              {"wrong", []string{"--insecure", at}, exitUnknown, "CredentialsInvalid"},
		"no password":         {"", []string{"--insecure", at}, exitUnknown, envPassword},
		"no such file":        {secret, []string{"--insecure", "--credentials-file", "/nonexistent", at}, exitUnknown, "credentials"},
		"unreachable":         {secret, []string{"http://127.0.0.1:1"}, exitUnknown, "Unreachable"},
		"no URL":              {secret, []string{"--insecure", "ftp://x"}, exitUnknown, "EndpointInvalid"},
		"no argument":         {secret, nil, exitUnknown, "accepts 1 arg"},
		"unknown flag":        {secret, []string{"--password", "x", at}, exitUnknown, "unknown flag"},
		"two kinds of trust":  {secret, []string{"--insecure", "--pin", "00", at}, exitUnknown, "exclude"},
		"trust without TLS":   {secret, []string{"--pin", strings.Repeat("00", 32), strings.Replace(at, "https://", "http://", 1)}, exitUnknown, "no certificate to verify"},
		"another output":      {secret, []string{"--insecure", "-o", "xml", at}, exitUnknown, "xml"},
		"no time":             {secret, []string{"--insecure", "--timeout", "1ns", at}, exitUnknown, "Timeout"},
		"a system not there":  {secret, []string{"--insecure", "--system", "7", at}, exitUnknown, "SystemNotFound"},
		"credentials in argv": {secret, []string{"--insecure", strings.Replace(at, "://", "://operator:"+secret+"@", 1)}, exitUnknown, "EndpointInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(envPassword, row.env)
			before := device.AuthStats()
			out, code := inspected(row.args...)
			if code != row.code || !strings.Contains(out, row.says) || strings.Contains(out, secret) {
				t.Errorf("code %d, want %d and %q:\n%s", code, row.code, row.says, out)
			}
			if after := device.AuthStats(); name == "not trusted" && after != before {
				t.Errorf("credentials were shown: %+v, then %+v", before, after)
			}
		})
	}
	if _, err := device.Inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusNotFound}); err != nil {
		t.Fatal(err)
	}
	if out, code := inspected("--insecure", at); code != exitNotUsable || !strings.Contains(out, "NOT USABLE") {
		t.Errorf("code %d, want %d:\n%s", code, exitNotUsable, out)
	}
}

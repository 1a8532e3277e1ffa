// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root     = "../.."
	document = root + "/docs/cases.md"
)

var update = flag.Bool("update", false, "write docs/cases.md anew")

// built are the kinds of faults that concern what is built: each of their cases is shown, or a reason says why not yet.
var built = []string{
	"status-loss", "stale-data", "power-safety", "power", "wrong-delete", "claim-race", "maintenance", "pause-detach", "deletion",
	"release-clean", "recovery", "conditions", "write-storm", "security",
	"boot", "virtual-media", "bmc-quirk", "bmc-json", "async-task", "multi-system", "identity", "inspection", "session", "credentials", "tls",
	"duplicate-server", "orphan", "floating-ip", "nova-compat", "placement", "rate-limit", "user-data",
}

// Reasons why a case of those kinds is not shown.
const (
	agent  = "nothing runs on the machine and reports: there is no such message that could be old or lost"
	clean  = "cleaning is a phase and a seam; no cleaner is built yet"
	booted = "a BMC tells that a machine is On and its boot override used up, and nothing of what the firmware found there: with no agent on the machine Holdfast says Booted of that, and whether the installer ran is the tenant's to see"
	rotate = "Holdfast changes no password at a BMC: it uses the one that the secret holds"
)

var notShown = map[string]string{
	"B015": agent, "B084": agent, "B076": clean, "B109": booted, "B174": rotate,
}

func citations(t *testing.T) map[string][]Citation {
	t.Helper()
	found, err := Citations(root)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func cases(t *testing.T) []Case {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every case that concerns what is built has a test that cites it, or a reason; no reason outlives its need.
func TestEveryCaseIsShownOrExplained(t *testing.T) {
	found := citations(t)
	for _, c := range cases(t) {
		if !slices.Contains(built, c.Kind) {
			continue
		}
		reason := notShown[c.ID]
		if len(found[c.ID]) == 0 && reason == "" {
			t.Errorf("%s (%s) is cited by no test: %s", c.ID, c.Kind, c.Must)
		}
		if len(found[c.ID]) > 0 && reason != "" {
			t.Errorf("%s is cited by %s and still has a reason why it is not shown: %s", c.ID, found[c.ID][0].Test, reason)
		}
	}
}

// A test cites cases that there are.
func TestNoTestCitesACaseThatIsNone(t *testing.T) {
	known := map[string]bool{}
	for _, c := range cases(t) {
		known[c.ID] = true
	}
	for id, citations := range citations(t) {
		if !known[id] {
			t.Errorf("%s of %s cites %s, which is no case", citations[0].Test, citations[0].File, id)
		}
	}
}

var row = regexp.MustCompile(`(?m)^\| (B\d{3}) \|.*\| (.*) \|$`)

// Every test that docs/cases.md names for a case exists and cites it. Tests that came since are no fault: -update writes them in.
func TestTheDocumentNamesTestsThatThereAre(t *testing.T) {
	found := citations(t)
	if *update {
		if err := os.WriteFile(document, []byte(render(cases(t), found)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	rows := row.FindAllStringSubmatch(string(content), -1)
	if len(rows) < len(notShown) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, match := range rows {
		for _, named := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(match[2], -1) {
			if !slices.ContainsFunc(found[match[1]], func(c Citation) bool { return describe(c) == named[1] }) {
				t.Errorf("docs/cases.md says that %s shows %s: it does not cite it (go test ./test/cases -update)", named[1], match[1])
			}
		}
	}
}

func describe(c Citation) string { return c.File + " " + c.Test }

func render(all []Case, found map[string][]Citation) string {
	var out strings.Builder
	shown := 0
	for _, c := range all {
		if len(found[c.ID]) > 0 {
			shown++
		}
	}
	fmt.Fprintf(&out, `# Cases, and the tests that show them

What has gone wrong for people who run servers in this way, from public reports (the source is named), what must happen instead, and the
tests that show it. A test shows a case by citing its id. %d of %d cases are shown; those of capabilities that are
not built keep their ids for the day they are.

This file is written by `+"`go test ./test/cases -update`"+`; a test checks that every test it names exists and cites the case, and that every
case that concerns what is built is shown or has a reason.

| case | source | kind | what must happen | shown by |
|---|---|---|---|---|
`, shown, len(all))
	for _, c := range all {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", c.ID, c.Source, c.Kind, c.Must, showing(c, found[c.ID]))
	}
	return out.String()
}

func showing(c Case, by []Citation) string {
	if len(by) == 0 {
		if reason := notShown[c.ID]; reason != "" {
			return reason
		}
		return "not built yet"
	}
	names := make([]string, len(by))
	for i, citation := range by {
		names[i] = "`" + describe(citation) + "`"
	}
	return strings.Join(names, "<br>")
}

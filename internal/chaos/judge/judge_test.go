// SPDX-License-Identifier: Apache-2.0

package judge_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

var epoch = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// read makes events of lines: seconds, kind, then m(achine), t(enant), i(dentity), d(etail), a(rrived), k (acknowledged), s (since).
func read(t *testing.T, text string) []judge.Event {
	t.Helper()
	var events []judge.Event
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := judge.Event{At: second(t, words[0]), Kind: judge.Kind(words[1])}
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "m":
				e.Machine = value
			case "t":
				e.Tenant = value
			case "i":
				e.Identity = value
			case "d":
				e.Detail = value
			case "a":
				e.Arrived = second(t, value)
			case "k":
				e.Acked = second(t, value)
			case "s":
				e.Since = second(t, value)
			default:
				t.Fatalf("line %q: what is %q?", line, word)
			}
		}
		events = append(events, e)
	}
	return events
}

func second(t *testing.T, text string) time.Time {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return epoch.Add(time.Duration(n * float64(time.Second)))
}

// Beginnings that histories share.
const (
	booted = `0 Asked t=a; 1 Armed m=x t=a; 2 PoweredOn m=x; 2 WentOn m=x; 3 Disarmed m=x; 3 NetworkBoot m=x t=a; 4 Installed m=x t=a
		6 Began m=x t=a;`
	fromDrive = `0 Asked t=a; 1 MediaInserted m=x t=a; 1 Armed m=x t=a; 2 WentOn m=x; 3 NetworkBoot m=x t=a; 4 Installed m=x t=a; 5 MediaEjected m=x t=a
		6 Began m=x t=a;`
	launched = `0 Asked t=a; 1 PortMade m=p i=I; 2 CreatedVM m=v t=a i=I; 3 LaunchedVM m=v t=a i=I;`
	released = `10 GaveUp t=a; 11 PoweredOff m=x; 12 WentOff m=x;`
)

func TestEveryCheckPassesWhatIsRightAndFailsWhatIsNot(t *testing.T) {
	for _, row := range []struct{ name, history, want string }{
		{"a boot", booted + "50 Settled", ""},
		{"a boot from a virtual drive", fromDrive + "50 Settled", ""},
		{"a release", booted + released + "50 Settled", ""},

		{"I1: powered off, and nobody asked", booted + "10 PoweredOff m=x", "I1 x a"},
		{"I1: powered off when it is Off already", booted + "8 WentOff m=x d=tenant; 10 PoweredOff m=x", "I1 x a"},
		{"I1: powered off before the tenant asked", booted + "10 AskedOff t=a; 11 PoweredOff m=x a=9", "I1 x a"},
		{"I1: powered off before the tenant gave up", booted + "10 GaveUp t=a; 11 PoweredOff m=x a=9", "I1 x a"},
		{"the tenant asked for Off", booted + "9 AskedOff t=a k=12; 10 PoweredOff m=x", ""},
		{"the tenant wants On again, an effect was on the wire", booted + "8 AskedOff t=a; 9 AskedOn t=a k=10; 12.9 PoweredOff m=x", ""},
		{"I1: the tenant wants On again", booted + "8 AskedOff t=a; 9 AskedOn t=a k=10; 13.1 PoweredOff m=x", "I1 x a"},
		{"a restart", booted + "8 AskedRestart t=a; 9 PoweredOff m=x; 10 PoweredOff m=x; 11 WentOff m=x; 12 WentOn m=x", ""},
		{"I1: a restart once more", booted + "8 AskedRestart t=a; 9 PoweredOff m=x; 11 WentOff m=x; 12 PoweredOn m=x; 12 WentOn m=x; 13 PoweredOff m=x", "I1 x a"},
		{"a restart asked for in the second of a start", booted + "8 AskedRestart t=a; 9 PoweredOff m=x; 11 WentOff m=x; 12.1 AskedRestart t=a; 12.3 PoweredOn m=x; 12.4 WentOn m=x; 13 PoweredOff m=x", ""},
		{"I1: a restart asked for in the second before a start", booted + "8 AskedRestart t=a; 9 PoweredOff m=x; 11 WentOff m=x; 11.9 AskedRestart t=a; 12.3 PoweredOn m=x; 12.4 WentOn m=x; 13 PoweredOff m=x", "I1 x a"},
		{"a restart that a power cut is no answer to", booted + "8 AskedRestart t=a; 9 WentOff m=x d=power-cut; 10 WentOn m=x d=power-return; 11 PoweredOff m=x", ""},
		{"I1: a reset", booted + "10 Reset m=x", "I1 x a"},
		{"a person consents", booted + "9 ConsentedOff m=x; 10 PoweredOff m=x", ""},
		{"a person consents for a tenant", booted + "9 ConsentedOff t=a; 10 PoweredOff m=x", ""},
		{"I1: a consent is used up", booted + "9 ConsentedOff m=x; 10 PoweredOff m=x; 11 WentOff m=x; 12 PoweredOn m=x; 12 WentOn m=x; 13 PoweredOff m=x", "I1 x a"},
		{"a maintenance", booted + "9 MaintenanceBegan m=x; 10 PoweredOff m=x; 11 MaintenanceEnded m=x; 13 PoweredOff m=x", ""},
		{"I1: after a maintenance", booted + "9 MaintenanceBegan m=x; 11 MaintenanceEnded m=x; 15 PoweredOff m=x", "I1 x a"},
		{"I1: a stranger is powered off", "0 Ran m=x t=s; 1 PoweredOff m=x", "I1 x s"},
		{"I1: an unknown stranger is powered off", "0 Ran m=x; 1 PoweredOff m=x", "I1 x "},
		{"I1: an installer stopped", "0 Asked t=a; 3 NetworkBoot m=x t=a; 3.5 PoweredOff m=x", "I1 x a"},
		{"a power cut is nobody's effect", booted + "10 WentOff m=x d=power-cut; 11 WentOn m=x d=power-return; 12 Began m=x t=a; 50 Settled", ""},

		{"I1: armed for another tenant", booted + "9 Asked t=b; 10 Armed m=x t=b", "I1 x a"},
		{"I10: armed again", booted + "10 Armed m=x t=a", "I10 x a"},
		{"a person wants it booted again", booted + "9 ConsentedBoot m=x t=a; 10 Armed m=x t=a; 11 NetworkBoot m=x t=a; 12 Installed m=x t=a; 50 Settled", ""},
		{"I10: booted again twice", booted + "9 ConsentedBoot m=x t=a; 11 NetworkBoot m=x t=a; 12 Installed m=x t=a; 13 Armed m=x t=a", "I10 x a"},
		{"I10: a consent to boot another machine again", booted + "9 ConsentedBoot m=y t=a; 10 Armed m=x t=a", "I10 x a"},
		{"I1: a consent to boot is not another tenant's", booted + "9 ConsentedBoot m=x t=a; 10 NetworkBoot m=x t=b", "I1 x a"},
		{"I10: a consent to boot ends with the tenancy", booted + "9 ConsentedBoot m=x t=a; 10 GaveUp t=a; 11 Asked t=a; 20 Armed m=x t=a", "I10 x a"},
		{"a consent that ended, to an effect on the wire", booted + "9 ConsentedBoot m=x t=a; 10 GaveUp t=a; 12 NetworkBoot m=x t=a", ""},
		{"I1: another's image in the drive", booted + "9 Asked t=b; 10 MediaInserted m=x t=b", "I1 x a"},
		{"I10: the own image in the drive again", fromDrive + "10 MediaInserted m=x t=a", "I10 x a"},
		{"I1: the image taken out under the installer", "0 Asked t=a; 1 MediaInserted m=x t=a; 2 WentOn m=x; 3 NetworkBoot m=x t=a; 3.5 MediaEjected m=x t=a", "I1 x a"},
		{"I3: an image left in a drive", "0 Asked t=a; 1 MediaInserted m=x t=a; 10 GaveUp t=a; 50 Settled", "I3 x a"},
		{"I3: an image left in another tenant's drive", "0 Asked t=a; 1 MediaInserted m=x t=a; 8 Asked t=b; 9 NetworkBoot m=x t=b; 10 Installed m=x t=b; 50 Settled", "I3 x a"},
		{"I1: installed over", booted + "9 Asked t=b; 10 NetworkBoot m=x t=b; 11 Installed m=x t=b", "I1 x a"},
		{"I1: installed over, unseen", booted + "9 Asked t=b; 10 Installed m=x t=b; 50 Settled", "I1 x a; I6  a"},
		{"I10: installed again", booted + "10 NetworkBoot m=x t=a; 11 Installed m=x t=a", "I10 x a"},
		{"the next tenant", booted + released + "20 Asked t=b; 21 Armed m=x t=b; 22 NetworkBoot m=x t=b; 23 Installed m=x t=b; 50 Settled", ""},
		{"I8: two machines", booted + "10 NetworkBoot m=y t=a", "I8 y a"},
		{"I8: another's system runs", booted + "10 Began m=x t=b", "I8 x a"},
		{"I8: the old system is switched on beside the new one", booted + released + "13 Asked t=a; 20 NetworkBoot m=y t=a; 21 Installed m=y t=a; 30 PoweredOn m=x; 31 WentOn m=x; 32 Began m=x t=a", "I8 x a"},
		{"the old system comes back with the power", booted + released + "13 Asked t=a; 20 NetworkBoot m=y t=a; 21 Installed m=y t=a; 31 WentOn m=x d=power-return; 32 Began m=x t=a; 50 Settled", ""},
		{"brought back while it ran", booted + "10 GaveUp t=a; 11 Asked t=a; 20 PoweredOff m=x", "I1 x a"},
		{"brought back with an effect on the wire", booted + "10 GaveUp t=a; 11 Asked t=a; 12 PoweredOff m=x; 17 WentOff m=x; 20 NetworkBoot m=y t=a; 21 Installed m=y t=a; 50 Settled", ""},
		{"brought back when it was Off", booted + released + "13 Asked t=a; 20 NetworkBoot m=y t=a; 21 Installed m=y t=a; 50 Settled", ""},
		{"brought back and started from its disk", booted + released + "13 Asked t=a; 20 WentOn m=x; 21 Began m=x t=a; 22 PoweredOff m=x", "I1 x a"},
		{"I6: an installation that a power cut ended", "0 Asked t=a; 3 NetworkBoot m=x t=a; 4 WentOff m=x d=power-cut; 50 Settled", "I6 x a"},

		{"a VM", launched + "50 Settled", ""},
		{"a VM given up", launched + "10 GaveUp t=a; 11 DeletedVM m=v; 12 GoneVM m=v; 12 PortGone m=p; 50 Settled", ""},
		{"a VM made again that was never launched", "0 Asked t=a; 1 CreatedVM m=v t=a i=I; 2 DeletedVM m=v; 3 GoneVM m=v; 4 CreatedVM m=w t=a i=I; 5 LaunchedVM m=w; 50 Settled", ""},
		{"I2: a launched VM deleted", launched + "10 DeletedVM m=v", "I2 v a"},
		{"I2: a VM made anew", launched + "10 GoneVM m=v d=hand; 11 CreatedVM m=w t=a i=I", "I2 w a"},
		{"a VM taken away by hand", launched + "10 GoneVM m=v d=hand; 50 Settled", ""},
		{"I6: a VM that vanished", launched + "10 GoneVM m=v; 50 Settled", "I6 v a"},
		{"I3: two VMs of an identity", "0 Asked t=a; 1 CreatedVM m=v t=a i=I; 2 CreatedVM m=w t=a i=I", "I3 w a"},
		{"I8: two VMs of a tenant", "0 Asked t=a; 1 CreatedVM m=v t=a i=I; 2 CreatedVM m=w t=a i=J", "I8 w a"},
		{"I1: a VM stopped", launched + "10 PoweredOff m=v", "I1 v a"},
		{"I1: a VM rebooted", launched + "10 Reset m=v", "I1 v a"},
		{"a VM rebooted once", launched + "9 AskedRestart t=a; 10 Reset m=v; 11 WentOn m=v", ""},
		{"I1: a VM rebooted twice", launched + "9 AskedRestart t=a; 10 Reset m=v; 11 WentOn m=v; 13 Reset m=v", "I1 v a"},
		{"a VM stopped and started", launched + "9 AskedRestart t=a; 10 PoweredOff m=v; 11 WentOff m=v; 12 PoweredOn m=v; 13 WentOn m=v", ""},
		{"I1: a VM stopped and started twice", launched + "9 AskedRestart t=a; 10 PoweredOff m=v; 11 WentOff m=v; 12 PoweredOn m=v; 13 WentOn m=v; 14 PoweredOff m=v", "I1 v a"},
		{"I1: a VM rebuilt", launched + "10 RebuiltVM m=v", "I1 v a"},
		{"a VM rebuilt once", launched + "9 AskedRebuild t=a; 10 RebuiltVM m=v; 11 Installed m=v; 50 Settled", ""},
		{"I1: a VM rebuilt twice", launched + "9 AskedRebuild t=a; 10 RebuiltVM m=v; 11 Installed m=v; 12 RebuiltVM m=v", "I1 v a"},
		{"I3: a VM left behind", launched + "10 GaveUp t=a; 50 Settled", "I3 v a; I3 p a"},
		{"I3: a VM of nobody", "0 CreatedVM m=v i=I; 50 Settled", "I3 v "},
		{"a VM of other people", "0 CreatedVM m=v; 50 Settled", ""},
		{"I2: a VM of other people deleted", "0 CreatedVM m=v; 1 LaunchedVM m=v; 2 DeletedVM m=v", "I2 v "},
		{"I3: a port left behind", launched + "10 GaveUp t=a; 11 DeletedVM m=v; 12 GoneVM m=v; 50 Settled", "I3 p a"},
		{"I3: a floating IP left behind", launched + "5 AddressMade m=f i=I; 10 GaveUp t=a; 11 DeletedVM m=v; 12 GoneVM m=v; 13 PortGone m=p; 50 Settled", "I3 f a"},
		{"a port of one who waits", "0 Asked t=a; 1 PortMade m=p i=I; 50 Settled", ""},
		{"I3: a port of nobody", "0 Asked t=a; 1 PortMade m=p i=I; 2 PortMade m=q i=J; 50 Settled", "I3 q "},
		{"what was abandoned is a person's", launched + "10 GaveUp t=a; 11 Abandoned t=a; 50 Settled", ""},
		{"brought back while its VM went", launched + "10 GaveUp t=a; 11 DeletedVM m=v; 12 Asked t=a; 13 GoneVM m=v; 14 CreatedVM m=w t=a i=I; 15 LaunchedVM m=w; 50 Settled", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			report := judge.Judge(read(t, row.history))
			if diff := cmp.Diff(row.want, summary(report.Violations)); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, report.Violations)
			}
			if report.Settled != strings.Contains(row.history, "Settled") {
				t.Errorf("settled: %v", report.Settled)
			}
		})
	}
}

func summary(violations []judge.Violation) string {
	var lines []string
	for _, v := range violations {
		lines = append(lines, fmt.Sprint(v.Rule, " ", v.Machine, " ", v.Tenant))
	}
	return strings.Join(lines, "; ")
}

// What excuses and names nobody would be an amnesty for all: it is reported, and excuses nothing.
func TestAnExcuseOfNobodyIsAViolationOfTheRecord(t *testing.T) {
	for history, want := range map[string]string{
		booted + "9 Forgot":                               "record  ",
		booted + "9 RestoredSnapshot":                     "record  ",
		booted + "9 Remembered":                           "record  ",
		booted + "9 Abandoned":                            "record  ",
		booted + "9 ConsentedBoot m=x":                    "record x ",
		booted + "9 ConsentedBoot t=a; 10 Armed m=x t=a":  "record  a; I10 x a",
		"0 Ran m=x; 1 ConsentedOff; 2 PoweredOff m=x":     "record  ; I1 x ",
		"0 Ran m=x; 1 MaintenanceBegan; 2 PoweredOff m=x": "record  ; I1 x ",
	} {
		if got := summary(judge.Judge(read(t, history)).Violations); got != want {
			t.Errorf("%s: %q, want %q", history, got, want)
		}
	}
}

// What nobody can know of any more is told apart, for as long as that is so, and nothing else is. A snapshot knows what is older than it is.
func TestWhatWasForgottenIsToldApart(t *testing.T) {
	const left = "0 Asked t=a; 1 MediaInserted m=x t=a; 10 GaveUp t=a; "
	for history, want := range map[string]string{
		left + "11 Forgot m=x; 50 Settled":                                                                               "0 1",
		left + "11 RestoredSnapshot s=0.5; 50 Settled":                                                                   "0 1",
		left + "11 RestoredSnapshot s=2; 50 Settled":                                                                     "1 0",
		left + "11 Forgot m=y; 50 Settled":                                                                               "1 0",
		"0 Forgot m=x;" + left + "50 Settled":                                                                            "1 0",
		booted + "9 Forgot m=x; 10 PoweredOff m=x":                                                                       "1 0",
		booted + "9 RestoredSnapshot s=1; 10 Reset m=x":                                                                  "1 0",
		left + "2 Forgot m=x; 3 MediaEjected m=x; 4 MediaInserted m=x t=a; 50 Settled":                                   "1 0",
		left + "2 RestoredSnapshot s=0.5; 3 MediaEjected m=x; 4 MediaInserted m=x t=a; 50 Settled":                       "1 0",
		booted + "9 Forgot t=a; 10 NetworkBoot m=y t=a":                                                                  "0 1",
		booted + "9 RestoredSnapshot s=1; 10 NetworkBoot m=y t=a":                                                        "0 1",
		booted + "9 RestoredSnapshot s=8; 10 NetworkBoot m=y t=a":                                                        "1 0",
		booted + "9 RestoredSnapshot s=1; 9.5 Remembered t=a; 10 NetworkBoot m=y t=a":                                    "1 0",
		booted + "9 RestoredSnapshot s=1; 9.5 Remembered t=b; 10 NetworkBoot m=y t=a":                                    "0 1",
		booted + "9 RestoredSnapshot s=1; 10 NetworkBoot m=y t=a; 11 NetworkBoot m=z t=a":                                "1 1",
		"0 Asked t=a; 9 RestoredSnapshot s=1; 9.1 NetworkBoot m=x t=a; 10 NetworkBoot m=y t=a":                           "1 0",
		"0 Asked t=a; 9 RestoredSnapshot s=1; 9.1 NetworkBoot m=x t=a; 9.5 RestoredSnapshot s=1; 10 NetworkBoot m=y t=a": "0 1",
		booted + "9 Forgot t=b; 10 NetworkBoot m=y t=a":                                                                  "1 0",
		booted + "9 Forgot t=a; 10 NetworkBoot m=x t=a":                                                                  "1 0",
		launched + "9 RestoredSnapshot s=0.5; 10 GaveUp t=a; 50 Settled":                                                 "0 2",
		launched + "9 RestoredSnapshot s=1.5; 10 GaveUp t=a; 50 Settled":                                                 "1 1",
		launched + "9 RestoredSnapshot s=8; 10 GaveUp t=a; 50 Settled":                                                   "2 0",
		launched + "9 RestoredSnapshot s=0.5; 9.5 Remembered t=a; 10 GaveUp t=a; 50 Settled":                             "2 0",
		// A snapshot knows what was known when it was taken: after an earlier restore that is less than there was.
		launched + "9 RestoredSnapshot s=0.5; 11 Remembered t=a; 12 RestoredSnapshot s=10; 13 GaveUp t=a; 50 Settled": "0 2",
		launched + "9 RestoredSnapshot s=0.5; 10 Remembered t=a; 12 RestoredSnapshot s=11; 13 GaveUp t=a; 50 Settled": "2 0",
		launched + "9 Forgot m=v; 10 GaveUp t=a; 50 Settled":                                                          "2 0",
		launched + "9 RestoredSnapshot s=0.5; 10 DeletedVM m=v":                                                       "1 0",
	} {
		report := judge.Judge(read(t, history))
		if got := fmt.Sprint(len(report.Violations), " ", len(report.Excused)); got != want {
			t.Errorf("%s: %s violations and excused, want %s", history, got, want)
		}
	}
}

func TestATraceEndsWithWhatBrokeTheRule(t *testing.T) {
	report := judge.Judge(read(t, booted+"9 PoweredOff m=y; 10 PoweredOff m=x d=late"))
	if len(report.Violations) != 1 {
		t.Fatal(report.Violations)
	}
	v := report.Violations[0]
	if len(v.Trace) != 9 || v.Trace[8].Detail != "late" {
		t.Errorf("trace:\n%s", v)
	}
	if !strings.HasPrefix(v.String(), "I1 a machine is powered off whose tenant did not ask for it (machine x, tenant a)\n") ||
		!strings.HasSuffix(v.String(), "12:00:10.000 PoweredOff machine=x (late)\n") {
		t.Errorf("told as:\n%s", v)
	}
	if report.Counts[judge.PoweredOff] != 2 {
		t.Errorf("counts: %v", report.Counts)
	}
}

func TestTheOrderOfRecordersDoesNotMatter(t *testing.T) {
	events := read(t, booted+"10 AskedOff t=a; 10 PoweredOff m=x; 11 WentOff m=x; 20 AskedOn t=a; 50 Settled")
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	if report := judge.Judge(events); len(report.Violations) != 0 {
		t.Error(report.Violations)
	}
}

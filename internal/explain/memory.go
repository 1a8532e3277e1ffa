// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// serverMemory puts a server's ledger into words: entry by entry, in the order of a server's life.
func serverMemory(annotations map[string]string) []Line {
	led, err := ledger.ParseServer(annotations)
	if err != nil {
		return rawMemory(annotations, err)
	}
	var lines []Line
	say := sayer(&lines)
	say("identity", led.Identity)
	say("owner", prefixed("cluster ", led.Owner))
	say("object-uid", prefixed("confirmed for the object ", string(led.ObjectUID)))
	say("discovered-at", moment(led.DiscoveredAt))
	say("restore-epoch", prefixed("resumed after the restore ", led.RestoreEpoch))
	say("power-on", powerOn(led.PowerOn))
	say("boot", boot(led.Boot))
	say("restarted", moment(led.Restarted))
	say("dirty-since", prefixed("may have been booted for a tenant, since ", moment(led.DirtySince)))
	say("off-at", prefixed("no power-off of Holdfast is under way since ", moment(led.OffAt)))
	say("asset-tag", assetTag(led.AssetTag))
	say("released", released(led.Released))
	say("intent", intent(led.Intent))
	return append(lines, virtualMemory(led)...)
}

// sayer appends what there is to say.
func sayer(lines *[]Line) func(name, text string) {
	return func(name, text string) {
		if text != "" {
			*lines = append(*lines, Line{name, text})
		}
	}
}

// virtualMemory is what is remembered of a VM.
func virtualMemory(led ledger.Server) []Line {
	var lines []Line
	say := sayer(&lines)
	say("project", prefixed("the VM is of the cloud's project ", led.Project))
	say("provider-id", prefixed("the VM ", led.ProviderID))
	if p := led.ProvisionedAt; p != nil {
		say("provisioned-at", fmt.Sprintf("the VM %s was seen launched, %s: nothing deletes it by itself any more", p.ID, moment(p.At)))
	}
	if c := led.CreateAttempts; c != nil {
		say("create-attempts", fmt.Sprintf("%d VMs never launched and were deleted to be made again, the last %s", c.Count, moment(c.At)))
	}
	if i := led.Image; i != nil {
		say("image", fmt.Sprintf("built from %s, which was %s", i.Selector, i.ID))
	}
	if n := led.Network; n != nil {
		text := "the ports are as the spec says"
		if n.FloatingIP != "" {
			text += ", a floating IP from " + n.FloatingIP
		}
		say("network", text)
	}
	return lines
}

func claimMemory(annotations map[string]string) []Line {
	led, err := ledger.ParseClaim(annotations)
	if err != nil {
		return rawMemory(annotations, err)
	}
	var lines []Line
	if led.Identity != "" {
		lines = append(lines, Line{"identity", led.Identity})
	}
	if led.Bound != "" {
		lines = append(lines, Line{"bound", "may have booted on the machine " + led.Bound})
	}
	return lines
}

// rawMemory shows a ledger that cannot be read as it stands.
func rawMemory(annotations map[string]string, err error) []Line {
	lines := []Line{{"unreadable", err.Error()}}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if name, is := strings.CutPrefix(key, v1alpha1.LedgerPrefix); is {
			lines = append(lines, Line{name, fmt.Sprintf("%q", annotations[key])})
		}
	}
	return lines
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func powerOn(p *ledger.PowerOn) string {
	if p == nil {
		return ""
	}
	if p.By == ledger.ByUnknown {
		return "the machine was found running, " + moment(p.At) + ", and nothing here explains it: it is held, also once it is Off, until a person says that nobody uses it"
	}
	return strings.TrimSpace(fmt.Sprintf("the machine may be On because its %s asked for it, %s %s", p.By, moment(p.At), p.ID))
}

func boot(b *ledger.Boot) string {
	if b == nil {
		return ""
	}
	text := fmt.Sprintf("%s for the claim %s, %s", b.Stage, b.Claim, moment(b.At))
	if b.Media != "" {
		text += ", with " + b.Media + " in the virtual drive"
	}
	return text
}

func assetTag(a *ledger.AssetTag) string {
	switch {
	case a == nil:
		return ""
	case a.Unwritable:
		return "the machine keeps no stamp"
	case a.Previous == "":
		return "was empty before the stamp"
	}
	return fmt.Sprintf("was %q before the stamp", a.Previous)
}

func released(r *ledger.Released) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("from the claim %s, %s", r.Claim, moment(r.At))
}

func intent(i *ledger.Intent) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("%s announced (%s) %s, id %s", i.Op, i.Why, moment(i.At), i.ID)
}

// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

const password = "canary-password"

// simulated is a BMC of that model with machines, and an observer of it.
func simulated(t *testing.T, spec sim.BMCSpec) (*sim.Rack, *sim.BMC, provider.Observer) {
	t.Helper()
	rack, err := sim.NewRack(sim.Config{OwnListeners: true})
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Username, spec.Password = "bmc", "operator", password
	device, err := rack.AddBMC(spec)
	if err != nil {
		t.Fatal(err)
	}
	pool := redfish.NewPool(redfish.Options{})
	bmc, err := pool.BMC("bmc", redfish.Endpoint{URL: device.Endpoint(), TLS: redfish.TLSConfig{CABundle: rack.CAPEM()}},
		redfish.Credentials{Username: "operator", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pool.Close(context.WithoutCancel(t.Context()))
		if err := rack.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return rack, device, bmc.Observer()
}

// TestModels inspects every model the simulator plays: what can be run is usable, and nothing but a login was written.
func TestModels(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(sim.Profiles())) {
		t.Run(name, func(t *testing.T) {
			profile := sim.Profiles()[name]
			rack, device, observer := simulated(t, sim.BMCSpec{Profile: &profile, Systems: []sim.MachineSpec{{Power: sim.PowerOn, Disk: "linux"}}})
			report := Inspect(t.Context(), device.Endpoint(), observer, provider.SystemRef{})
			if report.Verdict != Usable || len(report.Systems) != 1 {
				t.Fatalf("got %s: %s, %+v", report.Verdict, report.Why, report.Error)
			}
			s := report.Systems[0]
			equal(t, "power", "On", s.Power)
			equal(t, "other systems", len(profile.Trays), len(report.BMC.Others))
			equal(t, "media", len(profile.Media.Slots) > 0, can(s.Abilities, AbilityMedia) != No)
			equal(t, "quirks described", false, slices.ContainsFunc(report.BMC.Quirks, func(q Quirk) bool { return q.Behaviour == "" }))
			requests, err := rack.Requests(sim.RequestFilter{BMC: "bmc"})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range requests {
				if r.Method != http.MethodGet && !strings.Contains(r.Path, "/Sessions") {
					t.Errorf("%s %s: an inspection wrote", r.Method, r.Path)
				}
			}
		})
	}
}

// TestAnAccountThatMayOnlyLook: what the machine could do is none of Holdfast's with such an account, and the report says why.
func TestAnAccountThatMayOnlyLook(t *testing.T) {
	_, device, observer := simulated(t, sim.BMCSpec{Systems: []sim.MachineSpec{{}}})
	report := Inspect(t.Context(), device.Endpoint(), observer, provider.SystemRef{})
	for name, row := range map[string]struct {
		account redfish.Account
		want    Verdict
		on      Can
	}{
		"not told":               {redfish.Account{}, Usable, Yes},
		"a role alone":           {redfish.Account{Role: "Custom"}, Usable, Yes},
		"one that may act":       {redfish.Account{Role: "Operator", Privileges: []string{"Login", "ConfigureComponents"}}, Usable, Yes},
		"one that may only look": {redfish.Account{Role: "ReadOnly", Privileges: []string{"Login"}}, NotUsable, No},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.For(row.account)
			equal(t, "verdict", row.want, got.Verdict)
			equal(t, "power on", row.on, can(got.Systems[0].Abilities, AbilityPowerOn))
			equal(t, "identity", Yes, can(got.Systems[0].Abilities, AbilityIdentity))
			equal(t, "usable", row.want == Usable, got.Systems[0].Usable)
			var text bytes.Buffer
			if err := got.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			equal(t, "told", row.account.Role != "", strings.Contains(text.String(), "account's role"))
			equal(t, "told why", row.want == NotUsable, strings.Contains(text.String(), "ReadOnly lacks the privilege ConfigureComponents"))
			equal(t, "the first report", Usable, report.Verdict)
		})
	}
}

// TestOneOfSeveral: several machines are told together, or the one that is named alone (B151).
func TestOneOfSeveral(t *testing.T) {
	_, device, observer := simulated(t, sim.BMCSpec{Systems: []sim.MachineSpec{{ID: "a"}, {ID: "b"}}})
	uuid := device.Machines()[1].UUID()
	for name, row := range map[string]struct {
		ref  provider.SystemRef
		want []string
	}{
		"all": {provider.SystemRef{}, []string{"a", "b"}}, "by Id": {provider.SystemRef{ID: "b"}, []string{"b"}},
		"by UUID": {provider.SystemRef{UUID: strings.ToUpper(uuid)}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Inspect(t.Context(), "", observer, row.ref).Systems {
				got = append(got, s.ID)
			}
			equal(t, "systems", row.want, sorted(got))
		})
	}
	report := Inspect(t.Context(), "", observer, provider.SystemRef{ID: "c"})
	equal(t, "verdict about a stranger", Unknown, report.Verdict)
	equal(t, "reason", provider.ReasonSystemNotFound, report.Error.Reason)
}

// TestWhatCannotBeTold: trouble on the way is no verdict about the BMC, and shows no secret.
func TestWhatCannotBeTold(t *testing.T) {
	for name, row := range map[string]struct {
		trouble func(*sim.BMC)
		reason  string
		verdict Verdict
	}{
		"unreachable":    {func(b *sim.BMC) { _ = b.SetReach(sim.ReachRefused) }, provider.ReasonUnreachable, Unknown},
		"denied":         {func(b *sim.BMC) { b.SetCredentials("operator", "another") }, provider.ReasonCredentialsInvalid, Unknown},
		"failing":        {func(b *sim.BMC) { inject(b, sim.Fault{Kind: sim.FaultStatus, Status: http.StatusInternalServerError}) }, provider.ReasonServerError, Unknown},
		"failing midway": {func(b *sim.BMC) { inject(b, sim.Fault{Kind: sim.FaultDrop, Path: "Processors"}) }, provider.ReasonUnreachable, Unknown},
		"no Redfish":     {func(b *sim.BMC) { inject(b, sim.Fault{Kind: sim.FaultStatus, Status: http.StatusNotFound}) }, provider.ReasonNotRedfish, NotUsable},
	} {
		t.Run(name, func(t *testing.T) {
			_, device, observer := simulated(t, sim.BMCSpec{Systems: []sim.MachineSpec{{}}})
			row.trouble(device)
			report := Inspect(t.Context(), "https://192.0.2.1", observer, provider.SystemRef{})
			equal(t, "verdict", row.verdict, report.Verdict)
			if report.Error == nil || report.Error.Reason != row.reason {
				t.Fatalf("got %+v, want %s", report.Error, row.reason)
			}
			var text bytes.Buffer
			if err := report.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			if err := report.WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), row.reason) || strings.Contains(text.String(), password) {
				t.Errorf("got:\n%s", text.String())
			}
		})
	}
}

func inject(b *sim.BMC, f sim.Fault) {
	if _, err := b.Inject(f); err != nil {
		panic(err)
	}
}

// scripted is an observer that tells what a test says.
type scripted struct {
	provider.Observer
	bmc     provider.BMCFacts
	systems map[string]provider.SystemFacts
}

func (s scripted) Discover(context.Context) (provider.BMCFacts, error) { return s.bmc, nil }

func (s scripted) Observe(_ context.Context, ref provider.SystemRef, _ provider.Depth, _ string) (provider.SystemFacts, error) {
	facts, found := s.systems[ref.ID]
	if !found {
		return facts, &provider.Error{Class: provider.Transient, Reason: provider.ReasonServerError, Message: "the BMC failed (500)"}
	}
	return facts, nil
}

func able(change func(*provider.Capabilities)) provider.SystemFacts {
	c := &provider.Capabilities{
		ResetTypes: []string{"On", "ForceOff", "GracefulShutdown"}, BootTargets: []string{"Pxe", "Cd", "UefiHttp"},
		Armable: []provider.BootTarget{provider.BootPXE, provider.BootCD, provider.BootHTTP}, TargetsTold: true, Stamp: true, Indicator: true, Media: true, HTTPBoot: true,
	}
	change(c)
	return provider.SystemFacts{
		ID: "1", UUID: "u", Capabilities: c, Hardware: &provider.Hardware{Serial: "S1"}, Media: []provider.MediaSlot{{Slot: "CD"}},
	}
}

// TestAbilities: each is told with its reason; what is not told is tried, and never taken for a no.
func TestAbilities(t *testing.T) {
	for name, row := range map[string]struct {
		facts   provider.SystemFacts
		ability string
		want    Can
		why     string
	}{
		"all told":          {able(func(*provider.Capabilities) {}), AbilityMedia, Yes, "boot target Cd, slot CD"},
		"ForceOn alone":     {able(func(c *provider.Capabilities) { c.ResetTypes = []string{"ForceOn"} }), AbilityPowerOn, Yes, "reset type ForceOn"},
		"no power-on":       {able(func(c *provider.Capabilities) { c.ResetTypes = []string{"ForceOff"} }), AbilityPowerOn, No, "cannot be switched on"},
		"no shutdown":       {able(func(c *provider.Capabilities) { c.ResetTypes = []string{"On", "ForceOff"} }), AbilityShutDown, No, "only be cut"},
		"resets not told":   {able(func(c *provider.Capabilities) { c.ResetTypes = nil }), AbilityCutPower, Untold, "tells no reset types"},
		"no HttpBootUri":    {able(func(c *provider.Capabilities) { c.HTTPBoot = false }), AbilityHTTP, No, "no HttpBootUri"},
		"no HTTP target":    {able(func(c *provider.Capabilities) { c.Armable = c.Armable[:2] }), AbilityHTTP, No, "no boot target UefiHttp"},
		"targets not told":  {able(func(c *provider.Capabilities) { c.TargetsTold = false }), AbilityPXE, Untold, "tells no boot targets"},
		"no CD target":      {able(func(c *provider.Capabilities) { c.Armable = c.Armable[:1] }), AbilityMedia, No, "no boot target Cd"},
		"no slot":           {withMedia([]provider.MediaSlot{}), AbilityMedia, No, "no slot"},
		"slots not read":    {withMedia(nil), AbilityMedia, Untold, "could not be read"},
		"no asset tag":      {able(func(c *provider.Capabilities) { c.Stamp = false }), AbilityStamp, No, "--after-restore"},
		"known by UUID":     {able(func(*provider.Capabilities) {}), AbilityIdentity, Yes, "by its UUID"},
		"known by serial":   {provider.SystemFacts{Hardware: &provider.Hardware{Serial: "S1"}}, AbilityIdentity, Yes, "serial number"},
		"known by its seat": {provider.SystemFacts{}, AbilityIdentity, Yes, "Id of the system alone"},
	} {
		t.Run(name, func(t *testing.T) {
			list := abilities(row.facts)
			i := slices.IndexFunc(list, func(a Ability) bool { return a.Name == row.ability })
			if list[i].Can != row.want || !strings.Contains(list[i].Why, row.why) {
				t.Errorf("got %+v, want %s because %q", list[i], row.want, row.why)
			}
		})
	}
}

func withMedia(slots []provider.MediaSlot) provider.SystemFacts {
	facts := able(func(*provider.Capabilities) {})
	facts.Media = slots
	return facts
}

// TestVerdicts: one machine that can be run makes a BMC usable; what could not be read is never "not usable" (P10).
func TestVerdicts(t *testing.T) {
	fine, lame := able(func(*provider.Capabilities) {}), able(func(c *provider.Capabilities) { c.ResetTypes = []string{"On"} })
	host := func(id string) provider.SystemSummary { return provider.SystemSummary{ID: id, CanReset: true} }
	for name, row := range map[string]struct {
		systems []provider.SystemSummary
		told    map[string]provider.SystemFacts
		gaps    []string
		want    Verdict
	}{
		"one that can be run":             {[]provider.SystemSummary{host("1")}, map[string]provider.SystemFacts{"1": fine}, nil, Usable},
		"one that cannot":                 {[]provider.SystemSummary{host("1")}, map[string]provider.SystemFacts{"1": lame}, nil, NotUsable},
		"one of two":                      {[]provider.SystemSummary{host("1"), host("2")}, map[string]provider.SystemFacts{"1": lame, "2": fine}, nil, Usable},
		"the other not read (B130)":       {[]provider.SystemSummary{host("1"), host("2")}, map[string]provider.SystemFacts{"2": fine}, nil, Usable},
		"the other not read, this cannot": {[]provider.SystemSummary{host("1"), host("2")}, map[string]provider.SystemFacts{"2": lame}, nil, Unknown},
		"trays alone":                     {[]provider.SystemSummary{{ID: "HGX"}}, nil, nil, NotUsable},
		"trays, and one not read":         {[]provider.SystemSummary{{ID: "HGX"}}, nil, []string{"Systems/1"}, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			report := Inspect(t.Context(), "", scripted{bmc: provider.BMCFacts{Systems: row.systems, Gaps: row.gaps}, systems: row.told}, provider.SystemRef{})
			equal(t, "verdict", row.want, report.Verdict)
			equal(t, "says why", true, report.Why != "")
		})
	}
}

// TestJSON: what scripts read is there under its name, and lists are lists also when they are empty.
func TestJSON(t *testing.T) {
	report := Inspect(t.Context(), "https://192.0.2.1", scripted{
		bmc:     provider.BMCFacts{Firmware: "1.2.3", Systems: []provider.SystemSummary{{ID: "1", CanReset: true}}},
		systems: map[string]provider.SystemFacts{"1": able(func(c *provider.Capabilities) { c.BootTargets = nil })},
	}, provider.SystemRef{})
	var out bytes.Buffer
	if err := report.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Verdict string         `json:"verdict"`
		BMC     map[string]any `json:"bmc"`
		Systems []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	equal(t, "firmware", any("1.2.3"), doc.BMC["firmware"])
	for _, list := range []string{"processors", "nics", "drives", "resetTypes", "bootTargets", "media", "abilities"} {
		if _, isList := doc.Systems[0][list].([]any); !isList {
			t.Errorf("%s is %v, want a list", list, doc.Systems[0][list])
		}
	}
}

// TestTextIsHarmless: what a BMC tells cannot move the cursor of who reads it.
func TestTextIsHarmless(t *testing.T) {
	facts := able(func(*provider.Capabilities) {})
	facts.Hardware.Model = "X\x1b[2J\r1"
	var out bytes.Buffer
	report := Inspect(t.Context(), "", scripted{bmc: provider.BMCFacts{Systems: []provider.SystemSummary{{ID: "1", CanReset: true}}},
		systems: map[string]provider.SystemFacts{"1": facts}}, provider.SystemRef{})
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r") || !strings.Contains(out.String(), "X[2J1") {
		t.Errorf("got %q", out.String())
	}
}

// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.UTC)

func TestServerPicture(t *testing.T) {
	up := true
	facts := provider.SystemFacts{
		ID: "1", UUID: "uuid", Power: provider.PoweringOn, Health: "Warning", Indicator: provider.IndicatorLit,
		Boot:         provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce, Mode: "UEFI"},
		BootProgress: provider.BootProgressBooting, AssetTag: "hf1:0123456789abcdef", StampSupport: true, ETag: "never told",
		Gaps: []string{"Drives", "Drives", "Memory"},
		Hardware: &provider.Hardware{
			Manufacturer: "Contoso", Model: "X1", Serial: "S1", SKU: "K1", BIOSVersion: "2.0", MemoryBytes: 64 << 30,
			Processors:   []provider.Processor{{ID: "2", Model: "Slow", Cores: 8, Threads: 16}, {ID: "1", Model: "Fast", Cores: 16, Threads: 32}},
			Accelerators: []provider.Processor{{ID: "GPU1"}},
			NICs:         []provider.NIC{{Name: "b", MAC: "02:00:00:00:00:02", LinkUp: &up, SpeedMbps: 25000}, {Name: "a", MAC: "02:00:00:00:00:01"}},
			Drives:       []provider.Drive{{Name: "d", Model: "M", Serial: "never told", MediaType: "SSD", Protocol: "NVMe", CapacityBytes: 1 << 40}},
		},
	}
	want := &v1alpha1.ServerObserved{
		Reachable: true, SystemUUID: "uuid", SystemID: "1", PowerState: v1alpha1.ObservedPoweringOn,
		Since: new(metav1.NewTime(noon.Truncate(time.Second))), Health: "Warning", IndicatorLED: "Lit",
		BootOverride: &v1alpha1.ObservedBootOverride{Target: "Pxe", Enabled: "Once", Mode: "UEFI"},
		BootProgress: "Booting", Intent: "i1", AssetTag: "hf1:0123456789abcdef",
		Hardware: &v1alpha1.Hardware{
			Manufacturer: "Contoso", Model: "X1", SerialNumber: "S1", SKU: "K1", BIOSVersion: "2.0",
			CPUs:   v1alpha1.CPUSummary{Sockets: 2, Cores: 24, Threads: 48, Model: "Fast"},
			Memory: new(resource.MustParse("64Gi")),
			NICs: []v1alpha1.NIC{
				{Name: "a", MAC: "02:00:00:00:00:01"}, {Name: "b", MAC: "02:00:00:00:00:02", LinkUp: &up, SpeedMbps: 25000},
			},
			NICCount: 2,
			Drives:   []v1alpha1.Drive{{Name: "d", Model: "M", Type: "SSD", Protocol: "NVMe", Size: new(resource.MustParse("1Ti"))}}, DriveCount: 1,
			AcceleratorCount: 1,
			Gaps:             []string{"Drives", "Memory"},
		},
	}
	if diff := cmp.Diff(want, serverPicture(nil, facts, taken{intent: ledger.Intent{ID: "i1"}, at: noon})); diff != "" {
		t.Error(diff)
	}
}

// P11: a look at the state alone tells whose it is: the inventory that is kept must not lend another machine its serial number.
func TestTheSerialNumberIsOfTheLastLook(t *testing.T) {
	before := &v1alpha1.ServerObserved{SystemID: "1", Hardware: &v1alpha1.Hardware{Model: "X1", SerialNumber: "S1"}}
	for told, want := range map[string]string{"S1": "S1", "S2": "S2", "": "S1"} {
		picture := serverPicture(before, provider.SystemFacts{ID: "1", Serial: told, Power: provider.PowerOn}, taken{at: noon})
		if got := picture.Hardware.SerialNumber; got != want {
			t.Errorf("told %q: serial number %q, want %q", told, got, want)
		}
	}
	if before.Hardware.SerialNumber != "S1" {
		t.Error("the picture before was changed")
	}
}

func TestPowerStatesAreTranslated(t *testing.T) {
	for power, want := range map[provider.PowerState]v1alpha1.ObservedPower{
		provider.PowerOn: v1alpha1.ObservedOn, provider.PowerOff: v1alpha1.ObservedOff,
		provider.PoweringOn: v1alpha1.ObservedPoweringOn, provider.PoweringOff: v1alpha1.ObservedPoweringOff,
		provider.PowerUnknown: v1alpha1.ObservedUnknown, "": v1alpha1.ObservedUnknown, "Paused": v1alpha1.ObservedUnknown, // B028
	} {
		if got := powerOf(power); got != want {
			t.Errorf("power %q: %s, want %s", power, got, want)
		}
	}
}

// TestPicturesAreBounded: a BMC may tell anything; the API server refuses a region that is longer than its schema allows.
func TestPicturesAreBounded(t *testing.T) {
	long := strings.Repeat("é", 1000)
	hardware := &provider.Hardware{Model: long}
	var gaps []string
	var systems []provider.SystemSummary
	for i := range 200 {
		hardware.NICs = append(hardware.NICs, provider.NIC{Name: long, MAC: fmt.Sprintf("%03d", 199-i)})
		hardware.Drives = append(hardware.Drives, provider.Drive{Name: fmt.Sprintf("%03d", 199-i)})
		gaps = append(gaps, fmt.Sprintf("%03d", 199-i))
		systems = append(systems, provider.SystemSummary{ID: fmt.Sprintf("%03d", (199-i)/2)}, provider.SystemSummary{})
	}
	told := hardwareOf(*hardware, gaps, nil)
	if len(told.NICs) != 64 || len(told.Drives) != 64 || len(told.Gaps) != 32 || told.NICCount != 200 || told.DriveCount != 200 {
		t.Errorf("lists of %d, %d and %d, counts %d and %d", len(told.NICs), len(told.Drives), len(told.Gaps), told.NICCount, told.DriveCount)
	}
	if told.NICs[0].MAC != "000" || told.Drives[63].Name != "063" {
		t.Errorf("cut before sorted: %s, %s", told.NICs[0].MAC, told.Drives[63].Name)
	}
	if got := len([]rune(told.Model)); got != v1alpha1.MaxFactLength {
		t.Errorf("model of %d characters", got)
	}
	known := systemsOf(systems)
	ids := map[string]bool{}
	for _, system := range known {
		if system.ID == "" || ids[system.ID] {
			t.Fatalf("Id %q twice or empty: the schema refuses the whole region", system.ID)
		}
		ids[system.ID] = true
	}
	if len(known) != 64 {
		t.Errorf("%d systems, want 64 of 100", len(known))
	}
}

// TestSameServer: what counts as a difference.
func TestSameServer(t *testing.T) {
	region := func(change func(*v1alpha1.ServerObserved)) *v1alpha1.ServerObserved {
		observed := &v1alpha1.ServerObserved{
			Reachable: true, PowerState: v1alpha1.ObservedOn, Since: new(metav1.NewTime(noon)), Intent: "i1", Task: "Done", TaskMonitor: "/tasks/7",
			Hardware: &v1alpha1.Hardware{
				Memory: new(resource.MustParse("64Gi")), Gaps: []string{"a", "b"},
				NICs: []v1alpha1.NIC{{MAC: "1"}, {MAC: "2"}}, Drives: []v1alpha1.Drive{{Name: "1"}, {Name: "2"}},
			},
		}
		if change != nil {
			change(observed)
		}
		return observed
	}
	for name, test := range map[string]struct {
		region, picture *v1alpha1.ServerObserved
		want            bool
	}{
		"equal":             {region(nil), region(nil), true},
		"no region":         {nil, region(nil), false},
		"power":             {region(nil), region(func(o *v1alpha1.ServerObserved) { o.PowerState = v1alpha1.ObservedOff }), false},
		"reachable":         {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Reachable = false }), false},
		"intent opened":     {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Intent = "i2" }), false},
		"intent closed":     {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Intent, o.Task, o.TaskMonitor = "", "", "" }), true},
		"task":              {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Task = "Failed" }), false},
		"another task":      {region(nil), region(func(o *v1alpha1.ServerObserved) { o.TaskMonitor = "/tasks/8" }), false},
		"link":              {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Hardware.NICs[0].LinkUp = new(true) }), false},
		"time of elsewhere": {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Since = new(metav1.NewTime(noon.Local())) }), true},
		"memory respelt":    {region(nil), region(func(o *v1alpha1.ServerObserved) { o.Hardware.Memory = new(resource.MustParse("65536Mi")) }), true},
		"lists in another order": {region(func(o *v1alpha1.ServerObserved) {
			o.Hardware.NICs = []v1alpha1.NIC{{MAC: "2"}, {MAC: "1"}}
			o.Hardware.Drives = []v1alpha1.Drive{{Name: "2"}, {Name: "1"}}
			o.Hardware.Gaps = []string{"b", "a"}
		}), region(nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			kept := test.region.DeepCopy()
			if got := sameServer(test.region, test.picture); got != test.want {
				t.Errorf("same: %t, want %t", got, test.want)
			}
			if diff := cmp.Diff(kept, test.region); diff != "" {
				t.Errorf("modified: %s", diff)
			}
		})
	}
}

func TestSameBMC(t *testing.T) {
	lost := func(message string) *v1alpha1.BMCObserved {
		return &v1alpha1.BMCObserved{Reason: "Timeout", Message: message, Systems: []v1alpha1.ObservedSystem{{ID: "1"}, {ID: "2"}}}
	}
	reordered := lost("after 3 s")
	reordered.Systems = []v1alpha1.ObservedSystem{{ID: "2"}, {ID: "1"}}
	if !sameBMC(lost("after 3 s"), lost("after 5 s")) || !sameBMC(reordered, lost("after 3 s")) {
		t.Error("another message or another order is told as another fact")
	}
	other := lost("after 3 s")
	other.Reason = "Unreachable"
	if sameBMC(lost("after 3 s"), other) || sameBMC(nil, other) {
		t.Error("another reason is told as the same fact")
	}
}

// TestPictureIsStable: whatever a BMC tells, in whatever order, the second look at it says the same as the first.
func TestPictureIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,2}`)
		facts := provider.SystemFacts{Hardware: &provider.Hardware{
			NICs: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) provider.NIC {
				return provider.NIC{Name: word.Draw(t, "name"), MAC: word.Draw(t, "mac"), SpeedMbps: rapid.IntRange(0, 2).Draw(t, "speed")}
			}), 0, 120).Draw(t, "nics"),
			Drives: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) provider.Drive {
				return provider.Drive{Name: word.Draw(t, "name"), CapacityBytes: rapid.Int64Range(0, 2).Draw(t, "size")}
			}), 0, 80).Draw(t, "drives"),
		}, Gaps: rapid.SliceOf(word).Draw(t, "gaps")}
		first := serverPicture(nil, facts, taken{at: noon})
		seed := rapid.Uint64().Draw(t, "seed")
		shuffle := rand.New(rand.NewPCG(seed, 0))
		shuffle.Shuffle(len(facts.Hardware.NICs), func(i, j int) {
			facts.Hardware.NICs[i], facts.Hardware.NICs[j] = facts.Hardware.NICs[j], facts.Hardware.NICs[i]
		})
		shuffle.Shuffle(len(facts.Hardware.Drives), func(i, j int) {
			facts.Hardware.Drives[i], facts.Hardware.Drives[j] = facts.Hardware.Drives[j], facts.Hardware.Drives[i]
		})
		shuffle.Shuffle(len(facts.Gaps), func(i, j int) { facts.Gaps[i], facts.Gaps[j] = facts.Gaps[j], facts.Gaps[i] })
		if second := serverPicture(first, facts, taken{at: noon.Add(time.Hour)}); !sameServer(first, second) {
			t.Fatalf("differs: %s", cmp.Diff(first, second))
		}
	})
}

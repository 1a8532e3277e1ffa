// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	cluster   = "here"
	namespace = "team"
	maintName = "repair"
)

func serverName(i int) string { return "server" + strconv.Itoa(i+1) }
func claimName(i int) string  { return "claim" + strconv.Itoa(i+1) }

func serverUID(i int, n uint8) types.UID {
	return types.UID(serverName(i) + "-" + strconv.Itoa(int(n)))
}
func claimUID(i int, n uint8) types.UID {
	return types.UID(claimName(i) + "-" + strconv.Itoa(int(n)))
}

var systems = [maxServers]string{"38947555-7742-3448-3784-823347823831", "38947555-7742-3448-3784-823347823832", "38947555-7742-3448-3784-823347823833"}

func serverIdentity(i int) string {
	return ledger.MachineIdentity(ledger.Hardware{SystemUUID: systems[i]})
}

// identities maps what claims are called in ledgers to owners, and back.
var identities = func() map[string]owner {
	m := map[string]owner{}
	for c := range maxClaims {
		for n := uint8(1); n <= maxUIDs; n++ {
			m[string(claimUID(c, n))] = ownerOf(c, int(n))
		}
	}
	return m
}()

func (o owner) String() string {
	if o == stranger {
		return "somebody"
	}
	for name, is := range identities {
		if is == o {
			return name
		}
	}
	return "nobody"
}

// newServer is a Server as the BMC controller makes it: no memory at all.
func newServer(i int, uid uint8) *v1alpha1.Server {
	return &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: serverName(i), UID: serverUID(i, uid), Generation: 1},
		Spec: v1alpha1.ServerSpec{
			Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: "bmc"}, SystemUUID: systems[i]},
			Power:   v1alpha1.PowerOff, PowerOff: v1alpha1.PowerOffAllowed, FoundRunning: v1alpha1.FoundRunningHold,
			ReclaimPolicy: v1alpha1.ReclaimRecycle, Cleaning: v1alpha1.CleaningNone,
		},
	}
}

func newBMC() *v1alpha1.BMC {
	return &v1alpha1.BMC{
		ObjectMeta: metav1.ObjectMeta{Name: "bmc", UID: "bmc", Finalizers: []string{v1alpha1.FinalizerInUse}},
		Spec:       v1alpha1.BMCSpec{Endpoint: "https://10.0.0.1"},
		Status:     v1alpha1.BMCStatus{Observed: &v1alpha1.BMCObserved{Reachable: true}},
	}
}

// available is a Server that was enrolled and discovered long ago.
func available(i int, w World) *v1alpha1.Server {
	s := newServer(i, 1)
	s.Finalizers = []string{v1alpha1.FinalizerServer}
	long := askedIn(0).Add(-24 * time.Hour)
	s.Annotations = ledger.Server{
		Identity: serverIdentity(i), Owner: cluster, ObjectUID: s.UID, DiscoveredAt: long,
	}.Render()
	s.Status.Observed = observe(nil, machine{}, s, i, 0, w)
	s.Status.Observed.Since = &metav1.Time{Time: long}
	return s
}

func newClaim(i int, uid uint8, w World) *v1alpha1.ServerClaim {
	boot := v1alpha1.ClaimBoot{Method: v1alpha1.BootPXE, When: w.when()}
	if w.Method != "" {
		boot.Method, boot.Image = w.Method, imageOf(i)
	}
	return &v1alpha1.ServerClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: claimName(i), UID: claimUID(i, uid), Generation: 1},
		Spec:       v1alpha1.ServerClaimSpec{Power: v1alpha1.PowerOn, Boot: boot},
	}
}

// imageOf is what a claim boots where its method takes an image: each claim its own.
func imageOf(claim int) string { return "http://images.example/" + claimName(claim) + ".iso" }

// mediaOf is the number of an image in a drive.
func mediaOf(image string) uint8 {
	for c := range maxClaims {
		if image == imageOf(c) {
			return uint8(c) + 1
		}
	}
	panic("an image of nobody: " + image)
}

// target is what claims of a world arm.
func (w World) target() provider.BootTarget {
	switch w.Method {
	case v1alpha1.BootHTTP:
		return provider.BootHTTP
	case v1alpha1.BootVirtualMedia:
		return provider.BootCD
	}
	return provider.BootPXE
}

func newMaintenance(w World) *v1alpha1.ServerMaintenance {
	return &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{Name: maintName, UID: "repair-1", CreationTimestamp: metav1.Time{Time: askedIn(0)}},
		Spec: v1alpha1.ServerMaintenanceSpec{
			ServerRef: v1alpha1.LocalObjectReference{Name: serverName(0)}, Policy: w.Policy, Power: w.MaintenancePower,
		},
	}
}

var inventory = func() *v1alpha1.Hardware {
	memory := resource.MustParse("64Gi")
	return &v1alpha1.Hardware{Model: "M1", CPUs: v1alpha1.CPUSummary{Sockets: 1, Cores: 16}, Memory: &memory}
}()

// observe is the picture that the monitor takes of a machine, having read the intent open on seen before (R4).
func observe(last *v1alpha1.ServerObserved, m machine, seen *v1alpha1.Server, i int, era uint8, w World) *v1alpha1.ServerObserved {
	power := v1alpha1.ObservedPower(m.power(w))
	since := &metav1.Time{Time: early(era)}
	if last != nil && last.PowerState == power && last.Since != nil {
		since = last.Since
	}
	picture := &v1alpha1.ServerObserved{
		Reachable: true, SystemUUID: systems[i], SystemID: "1", PowerState: power, Since: since,
		AssetTag: tagOf(m.tag), StampUnsupported: w.NoStamp, Hardware: inventory, BootOverride: overrideOf(m, w),
	}
	memory, err := ledger.ParseServer(seen.Annotations)
	if err == nil && memory.Intent != nil {
		picture.Intent = memory.Intent.ID
		observeTask(picture, m, *memory.Intent)
	}
	if err == nil && memory.Boot != nil && memory.Boot.Media != "" {
		picture.Media = driveOf(m)
	}
	return picture
}

// overrideOf is the override as told. A URI armed is the image of the one claim that there is in worlds that boot by HTTP.
func overrideOf(m machine, w World) *v1alpha1.ObservedBootOverride {
	told := &v1alpha1.ObservedBootOverride{Target: string(w.target()), Enabled: "Once"}
	switch m.armed {
	case 0:
		return &v1alpha1.ObservedBootOverride{Target: "None", Enabled: "Disabled"}
	case 2:
		told.Enabled = "Continuous"
	}
	if w.Method == v1alpha1.BootHTTP {
		told.HTTPURI = imageOf(0)
	}
	return told
}

func driveOf(m machine) *v1alpha1.ObservedMedia {
	slot := v1alpha1.ObservedMediaSlot{Slot: "Cd"}
	if m.media != 0 {
		slot.Image, slot.Inserted = imageOf(int(m.media)-1), true
	}
	return &v1alpha1.ObservedMedia{Slots: []v1alpha1.ObservedMediaSlot{slot}}
}

// Asset tags that machines can bear: none, and the stamp of each owner on each machine. Their order is fixed, so that a machine's tag
// is a small number.
var tags, tagNumbers = func() ([]string, map[string]uint8) {
	list := []string{""}
	for i := range maxServers {
		for c := range maxClaims {
			for n := uint8(1); n <= maxUIDs; n++ {
				list = append(list, ledger.Stamp(serverIdentity(i), cluster, string(claimUID(c, n))))
			}
		}
	}
	numbers := map[string]uint8{}
	for i, tag := range list {
		numbers[tag] = uint8(i)
	}
	return list, numbers
}()

func tagOf(i uint8) string { return tags[i] }

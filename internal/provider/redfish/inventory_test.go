// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"slices"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

func inventory(t *testing.T, f *fakeBMC) provider.SystemFacts {
	t.Helper()
	facts, err := f.connect().Observer().Observe(t.Context(), fakeRef, provider.DepthInventory, "")
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// collection adds a collection with its members to the fake, and links it from the system.
func (f *fakeBMC) collection(name string, members ...object) {
	base := fakeSystemPath + "/" + name
	var links []any
	for i, m := range members {
		path := base + "/" + string(rune('A'+i))
		f.docs[path] = m
		links = append(links, link(path))
	}
	f.docs[base] = object{"Members": links}
	f.set(fakeSystemPath, object{name: link(base)})
}

// TestInventoryTolerates: fractions, numbers as strings, nulls, absent parts, GPUs, MACs in any notation (B135, B140).
func TestInventoryTolerates(t *testing.T) {
	f := newFake(t, func(s object) {
		s["Manufacturer"], s["Model"], s["SerialNumber"], s["BiosVersion"] = " Contoso ", "3500", " S1 ", "1.0"
		s["MemorySummary"] = object{"TotalSystemMemoryGiB": "15.5"}
	})
	f.collection("Processors",
		object{"Id": "CPU2", "ProcessorType": "CPU", "TotalCores": "8", "TotalThreads": 16.0, "Model": "Xeon   "},
		object{"Id": "CPU1", "TotalCores": 8, "TotalThreads": nil, "Model": nil, "Name": "x"},
		object{"Id": "CPU3", "ProcessorType": "CPU", "Status": object{"State": "Absent"}},
		object{"Id": "GPU1", "ProcessorType": "GPU"}, object{"Id": "FPGA1", "ProcessorType": "FPGA", "TotalCores": "N/A"},
		object{"Id": "Core1", "ProcessorType": "Core"}, object{"@odata.id": "/hollow"})
	f.collection("EthernetInterfaces",
		object{"Id": "3", "MACAddress": "AA-BB-CC-00-00-03", "LinkStatus": "LinkUp", "SpeedMbps": "25000"},
		object{"Id": "2", "MACAddress": "aabb.cc00.0002", "LinkStatus": "LinkDown", "SpeedMbps": nil},
		object{"Id": "1", "MACAddress": "AABBCC000001", "LinkStatus": nil},
		object{"Id": "4", "MACAddress": "AA:BB:CC:00:00:03"}, // the same once more
		object{"Id": "5", "MACAddress": nil, "PermanentMACAddress": "AA:BB:CC:00:00:05"},
		object{"Id": "6", "MACAddress": "00:00:00:00:00:00"}, object{"Id": "7", "MACAddress": "N/A"}, object{"Id": "8"})
	f.collection("Storage", object{"Name": "s", "Drives": []any{link("/d/1"), link("/d/2"), link("/d/1"), link("/d/3"), link("/d/4"), link("/d/404")}})
	f.docs["/d/1"] = object{"Name": "one", "CapacityBytes": "1000", "MediaType": "SSD", "Protocol": "NVMe", "SerialNumber": " D1 "}
	f.docs["/d/2"] = object{"Name": "two", "CapacityBytes": nil, "MediaType": "odd", "Protocol": 7}
	f.docs["/d/3"] = object{"Name": "absent", "Status": object{"State": "Absent"}}
	f.docs["/d/4"] = object{"@odata.id": "/d/4"}
	facts := inventory(t, f)
	equal(t, "hardware", &provider.Hardware{
		Manufacturer: "Contoso", Model: "3500", Serial: "S1", BIOSVersion: "1.0", MemoryBytes: 15<<30 + 1<<29,
		Processors:   []provider.Processor{{ID: "CPU1", Cores: 8}, {ID: "CPU2", Model: "Xeon", Cores: 8, Threads: 16}},
		Accelerators: []provider.Processor{{ID: "FPGA1"}, {ID: "GPU1"}},
		NICs: []provider.NIC{
			{Name: "1", MAC: "aa:bb:cc:00:00:01"}, {Name: "2", MAC: "aa:bb:cc:00:00:02", LinkUp: new(false)},
			{Name: "3", MAC: "aa:bb:cc:00:00:03", LinkUp: new(true), SpeedMbps: 25000}, {Name: "5", MAC: "aa:bb:cc:00:00:05"},
		},
		Drives: []provider.Drive{{Name: "one", Serial: "D1", MediaType: "SSD", Protocol: "NVMe", CapacityBytes: 1000}, {Name: "two"}},
	}, facts.Hardware)
	equal(t, "gaps", []string{"Drive/404", "EthernetInterfaces.MACAddress", "Processors.TotalCores"}, facts.Gaps)
}

// TestInventoryDoesNotDependOnOrder: ids and order that change between looks change nothing (B158).
func TestInventoryDoesNotDependOnOrder(t *testing.T) {
	nics := []object{
		{"Id": "a", "MACAddress": "AA:BB:CC:00:00:01"}, {"Id": "b", "MACAddress": "AA:BB:CC:00:00:02"}, {"Id": "c", "MACAddress": "AA:BB:CC:00:00:01"},
	}
	f := newFake(t)
	f.collection("EthernetInterfaces", nics...)
	first := inventory(t, f).Hardware
	slices.Reverse(nics)
	f.collection("EthernetInterfaces", nics...)
	equal(t, "hardware", first, inventory(t, f).Hardware)
}

// TestInventoryFallsBack: the summary for processors, modules for memory, SimpleStorage for drives, network adapters for NICs.
func TestInventoryFallsBack(t *testing.T) {
	f := newFake(t, func(s object) {
		s["ProcessorSummary"] = object{"Count": 2, "Model": "Xeon", "CoreCount": 16, "LogicalProcessorCount": 32}
		s["MemorySummary"] = object{"TotalSystemMemoryGiB": 0.0}
		s["Links"] = object{"Chassis": []any{link("/redfish/v1/Chassis/1")}}
	})
	f.collection("Memory", object{"Name": "m", "CapacityMiB": 1024}, object{"Name": "m", "CapacityMiB": nil}, object{"Name": "m", "CapacityMiB": 512, "Status": object{"State": "Absent"}})
	f.collection("SimpleStorage", object{"Name": "s", "Devices": []any{
		object{"Name": "disk", "CapacityBytes": 7}, object{"Name": "bay", "CapacityBytes": 7, "Status": object{"State": "Absent"}},
		object{"Name": "backplane", "CapacityBytes": nil}, object{"Name": "Virtual Cdrom", "CapacityBytes": 2048}, nil,
	}})
	f.docs["/redfish/v1/Chassis/1"] = object{"NetworkAdapters": link("/redfish/v1/Chassis/1/NA")}
	f.docs["/redfish/v1/Chassis/1/NA"] = object{"Members": []any{link("/redfish/v1/Chassis/1/NA/1")}}
	f.docs["/redfish/v1/Chassis/1/NA/1"] = object{"Id": "1", "NetworkDeviceFunctions": link("/redfish/v1/Chassis/1/NA/1/F")}
	f.docs["/redfish/v1/Chassis/1/NA/1/F"] = object{"Members": []any{link("/redfish/v1/Chassis/1/NA/1/F/1"), link("/redfish/v1/Chassis/1/NA/1/F/404")}}
	f.docs["/redfish/v1/Chassis/1/NA/1/F/1"] = object{"Id": "f1", "Ethernet": object{"MACAddress": "AA:BB:CC:00:00:01"}}
	hw := inventory(t, f).Hardware
	equal(t, "processors", slices.Repeat([]provider.Processor{{Model: "Xeon", Cores: 8, Threads: 16}}, 2), hw.Processors)
	equal(t, "memory", int64(1<<30), hw.MemoryBytes)
	equal(t, "drives", []provider.Drive{{Name: "disk", CapacityBytes: 7}}, hw.Drives)
	equal(t, "NICs", []provider.NIC{{Name: "f1", MAC: "aa:bb:cc:00:00:01"}}, hw.NICs)
}

// TestMissingKeysAreNamed: what is not told is told by name, and stops nothing (B141).
func TestMissingKeysAreNamed(t *testing.T) {
	f := newFake(t, func(s object) {
		s["Processors"], s["Storage"] = link("/nowhere"), link("/broken")
		delete(s, "SerialNumber")
	})
	f.docs["/broken"] = `{"Members": [`
	facts := inventory(t, f)
	equal(t, "gaps", []string{
		"ComputerSystem.BiosVersion", "ComputerSystem.Manufacturer", "ComputerSystem.Model", "ComputerSystem.SerialNumber",
		"EthernetInterfaces", "Memory", "Processors", "Storage",
	}, facts.Gaps)
	equal(t, "power", provider.PowerOff, facts.Power)
}

// TestInvalidNICs: what is no address is passed over and named, the others are told in one notation (B161).
func TestInvalidNICs(t *testing.T) {
	f := newFake(t)
	var nics []object
	for _, mac := range []any{"", "N/A", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF", "AA:BB:CC:00:00:0", "not told", nil, 7, "AA-BB-CC-00-00-01"} {
		nics = append(nics, object{"Id": "n", "MACAddress": mac})
	}
	f.collection("EthernetInterfaces", nics...)
	facts := inventory(t, f)
	equal(t, "NICs", []provider.NIC{{Name: "n", MAC: "aa:bb:cc:00:00:01"}}, facts.Hardware.NICs)
	equal(t, "gap told", true, slices.Contains(facts.Gaps, "EthernetInterfaces.MACAddress"))
}

// TestSectionsFailAlone: whatever part of the inventory the BMC refuses, the rest is told, and the machine can be run (B159, B162).
func TestSectionsFailAlone(t *testing.T) {
	sections := []string{"Processors", "Memory", "EthernetInterfaces", "Storage", "SimpleStorage", "VirtualMedia"}
	for _, failing := range append(sections, "all", "forbidden") {
		t.Run(failing, func(t *testing.T) {
			status := http.StatusBadRequest
			if failing == "forbidden" { // of what the account or the licence does not allow
				status = http.StatusForbidden
			}
			f := newFake(t)
			f.collection("Processors", object{"Id": "CPU1"})
			f.collection("Memory", object{"Id": "D1", "CapacityMiB": 1024})
			f.collection("EthernetInterfaces", object{"Id": "1", "MACAddress": "AA:BB:CC:00:00:01"})
			f.collection("Storage", object{"Id": "1", "Drives": []any{link("/d/1")}})
			f.collection("SimpleStorage")
			f.drive()
			f.docs["/d/1"] = object{"Name": "one", "CapacityBytes": 7}
			for _, section := range sections {
				if failing == section || !slices.Contains(sections, failing) {
					f.answer("GET "+fakeSystemPath+"/"+section, status, "odd")
				}
			}
			facts := inventory(t, f)
			got := []bool{len(facts.Hardware.Processors) > 0, facts.Hardware.MemoryBytes > 0, len(facts.Hardware.NICs) > 0, len(facts.Hardware.Drives) > 0, facts.Capabilities.Media}
			for i, section := range []string{"Processors", "Memory", "EthernetInterfaces", "Storage", "VirtualMedia"} {
				equal(t, section+" told", failing != section && slices.Contains(sections, failing), got[i])
			}
			equal(t, "reset types", 3, len(facts.Capabilities.ResetTypes))
			f.answer("POST "+fakeSystemPath+"/Actions/ComputerSystem.Reset", http.StatusNoContent, "")
			if _, err := f.connect().Actor().PowerOn(t.Context(), fakeRef, provider.Expect{Power: provider.PowerOff}); err != nil {
				t.Errorf("it cannot be switched on: %v", err)
			}
		})
	}
}

// TestInventoryIsNotCutOff: a BMC that stops answering in the middle gives no inventory rather than half of one.
func TestInventoryIsNotCutOff(t *testing.T) {
	f := newFake(t)
	f.collection("EthernetInterfaces", object{"Id": "1", "MACAddress": "AA:BB:CC:00:00:01"}, object{"Id": "2", "MACAddress": "AA:BB:CC:00:00:02"})
	f.handle("GET "+fakeSystemPath+"/EthernetInterfaces/B", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := f.connect().Observer().Observe(t.Context(), fakeRef, provider.DepthInventory, "")
	wantError(t, err, provider.Transient, provider.ReasonUnreachable)
}

// TestPlaceholders: what firmware says where nobody entered a serial number is none.
func TestPlaceholders(t *testing.T) {
	for in, want := range map[string]string{" ABC ": "ABC", "To be filled by O.E.M.": "", "          ": "", "Default string": "", "N/A": "", "0": ""} {
		equal(t, in, want, normalSerial(in))
	}
}

// TestManagers: the one that provides the service tells the firmware; services and fabric managers do not.
func TestManagers(t *testing.T) {
	f := newFake(t, func(s object) { s["Links"] = object{"ManagedBy": []any{link("/m/service"), link("/m/404")}} })
	f.docs["/m/service"] = object{"ManagerType": "Service", "FirmwareVersion": "9"}
	f.docs["/m/fabric"] = object{"ManagerType": "BMC", "FirmwareVersion": nil}
	f.docs["/m/bmc"] = object{"ManagerType": "BMC", "FirmwareVersion": "1.2", "Model": "M", "UUID": otherUUID}
	f.docs["/m/other"] = object{"ManagerType": "BMC", "FirmwareVersion": "3.4"}
	f.set("/redfish/v1/Managers", object{"Members": []any{link("/m/fabric"), link("/m/bmc"), link("/m/other")}})
	for _, row := range []struct {
		root object
		want string
	}{
		{object{}, "1.2"}, // B152: no usable ManagedBy
		{object{"Links": object{"ManagerProvidingService": link("/m/other")}}, "3.4"},
	} {
		f.set("/redfish/v1", row.root)
		found, err := f.connect().Observer().Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "firmware", row.want, found.Firmware)
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// inventory reads the hardware of a system. Each part is read for itself: what fails is a gap. An error means that the
// BMC stopped answering in the middle, so that the picture would be cut off.
func (b *BMC) inventory(ctx context.Context, from reader, s *system, g *gaps) (*provider.Hardware, error) {
	h := &provider.Hardware{
		Manufacturer: s.doc.text("Manufacturer"),
		Model:        s.doc.text("Model"),
		Serial:       normalSerial(s.doc.text("SerialNumber")),
		SKU:          s.doc.text("SKU"),
		BIOSVersion:  s.doc.text("BiosVersion"),
	}
	for _, key := range []string{"Manufacturer", "Model", "SerialNumber", "BiosVersion"} {
		if s.doc.text(key) == "" {
			g.note(systemName + "." + key)
		}
	}
	for _, part := range []func(context.Context, reader, *system, *provider.Hardware, *gaps) error{b.processors, b.memory, b.nics, b.drives} {
		if err := part(ctx, from, s, h, g); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// partOf reads each member of a collection that a document links to. Not linked: nothing. Not readable: a gap.
func (b *BMC) partOf(ctx context.Context, from reader, s *system, link, name string, g *gaps, use func(path string, doc document)) error {
	if link == "" {
		return nil
	}
	err := b.each(ctx, from, b.base.resolve(s.path, link), name, g, use)
	if hopeless(err) {
		return err
	}
	if err != nil {
		g.note(name)
	}
	return nil
}

// processors tells populated CPUs and, apart, what else computes. Where the members cannot be read the summary stands in.
func (b *BMC) processors(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	err := b.partOf(ctx, from, s, s.doc.link("Processors"), "Processors", g, func(path string, doc document) {
		if absent(doc) || doc.hollow() {
			return
		}
		p := provider.Processor{
			ID: cmp.Or(doc.text("Id"), lastSegment(path)), Model: doc.text("Model"),
			Cores: int(doc.count("TotalCores")), Threads: int(doc.count("TotalThreads")),
		}
		switch schemas.ProcessorType(doc.text("ProcessorType")) {
		case "", schemas.CPUProcessorType:
			h.Processors = append(h.Processors, p)
		case schemas.CoreProcessorType, schemas.ThreadProcessorType, schemas.PartitionProcessorType: // parts of one
		default:
			h.Accelerators = append(h.Accelerators, p)
		}
	})
	if len(h.Processors) == 0 {
		h.Processors = summarised(s.doc.object("ProcessorSummary"))
	}
	byID := func(x, y provider.Processor) int { return cmp.Compare(x.ID, y.ID) }
	slices.SortFunc(h.Processors, byID)
	slices.SortFunc(h.Accelerators, byID)
	return err
}

// maxSockets bounds what a summary may claim.
const maxSockets = 64

func summarised(summary document) []provider.Processor {
	n := int(min(summary.count("Count"), maxSockets))
	out := make([]provider.Processor, n)
	for i := range out {
		out[i] = provider.Processor{
			Model: summary.text("Model"),
			Cores: int(summary.count("CoreCount")) / n, Threads: int(summary.count("LogicalProcessorCount")) / n,
		}
	}
	return out
}

// memory takes the summary, which is in GiB and may be a fraction; where it says nothing, the sum of the modules.
func (b *BMC) memory(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	if gib, ok := s.doc.object("MemorySummary").number("TotalSystemMemoryGiB"); ok && gib > 0 && gib < 1<<30 {
		h.MemoryBytes = int64(math.Round(gib * (1 << 30)))
		return nil
	}
	err := b.partOf(ctx, from, s, s.doc.link("Memory"), "Memory", g, func(_ string, doc document) {
		if mib := doc.count("CapacityMiB"); !absent(doc) && mib < 1<<40 {
			h.MemoryBytes += mib << 20
		}
	})
	if h.MemoryBytes == 0 {
		g.note("Memory")
	}
	return err
}

// nics tells the interfaces that have a MAC address, each address once, sorted by it: ids and order change between looks (B158).
// The in-band link to the BMC is among them where the vendor lists it.
func (b *BMC) nics(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	found := map[string]provider.NIC{}
	err := b.partOf(ctx, from, s, s.doc.link("EthernetInterfaces"), "EthernetInterfaces", g, func(path string, doc document) {
		addNIC(found, nic(path, doc))
	})
	if err == nil && len(found) == 0 {
		err = b.adapterNICs(ctx, from, s, found, g)
	}
	for _, n := range found {
		h.NICs = append(h.NICs, n)
	}
	slices.SortFunc(h.NICs, func(x, y provider.NIC) int { return cmp.Compare(x.MAC, y.MAC) })
	if len(h.NICs) == 0 {
		g.note("EthernetInterfaces")
	}
	return err
}

// addNIC keeps of several interfaces with one MAC the one with the least name, so that the order of members does not matter.
func addNIC(found map[string]provider.NIC, n provider.NIC) {
	if old, there := found[n.MAC]; n.MAC == "" || there && old.Name <= n.Name {
		return
	}
	found[n.MAC] = n
}

func nic(path string, doc document) provider.NIC {
	if told := doc.text("MACAddress"); told != "" && normalMAC(told) == "" {
		doc.gap("MACAddress") // no address of a machine's: passed over, and told (B161)
	}
	return provider.NIC{
		Name:      cmp.Or(doc.text("Id"), lastSegment(path)),
		MAC:       cmp.Or(normalMAC(doc.text("MACAddress")), normalMAC(doc.text("PermanentMACAddress"))),
		LinkUp:    linkUp(doc.text("LinkStatus")),
		SpeedMbps: int(doc.count("SpeedMbps")),
	}
}

func linkUp(status string) *bool {
	var up bool
	switch strings.ToLower(strings.ReplaceAll(status, " ", "")) {
	case "linkup", "up":
		up = true
	case "linkdown", "nolink", "down":
	default:
		return nil
	}
	return &up
}

// adapterNICs looks where some vendors list NICs alone: in the functions of the network adapters of the system's chassis.
func (b *BMC) adapterNICs(ctx context.Context, from reader, s *system, found map[string]provider.NIC, g *gaps) error {
	for _, l := range s.doc.object("Links").links("Chassis") {
		at := b.base.resolve(s.path, l)
		chassis, _, err := b.get(ctx, from, at, "Chassis", g)
		if hopeless(err) {
			return err
		}
		if err != nil || chassis.link("NetworkAdapters") == "" {
			continue
		}
		var functions []string
		err = b.each(ctx, from, b.base.resolve(at, chassis.link("NetworkAdapters")), "NetworkAdapters", g, func(path string, doc document) {
			if l := doc.link("NetworkDeviceFunctions"); l != "" {
				functions = append(functions, b.base.resolve(path, l))
			}
		})
		if hopeless(err) {
			return err
		}
		for _, f := range functions {
			err := b.each(ctx, from, f, "NetworkDeviceFunctions", g, func(path string, doc document) {
				n := nic(path, doc.object("Ethernet"))
				n.Name = cmp.Or(doc.text("Id"), lastSegment(path))
				addNIC(found, n)
			})
			if hopeless(err) {
				return err
			}
		}
	}
	return nil
}

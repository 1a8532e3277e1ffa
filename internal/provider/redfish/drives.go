// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// drives tells each physical drive once: from Storage, else from SimpleStorage, which repeats Storage where both are there.
func (b *BMC) drives(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	err := b.storageDrives(ctx, from, s, h, g)
	if err == nil && len(h.Drives) == 0 {
		err = b.simpleDrives(ctx, from, s, h, g)
	}
	slices.SortFunc(h.Drives, func(x, y provider.Drive) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Serial, y.Serial), cmp.Compare(x.CapacityBytes, y.CapacityBytes))
	})
	return err
}

// storageDrives follows Storage to its drives. A drive's URI is its key: ids repeat across enclosures, and storages share drives.
func (b *BMC) storageDrives(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	var paths []string
	err := b.partOf(ctx, from, s, s.doc.link("Storage"), "Storage", g, func(path string, doc document) {
		for _, l := range doc.links("Drives") {
			if at := b.base.resolve(path, l); at != "" && !slices.Contains(paths, at) {
				paths = append(paths, at)
			}
		}
	})
	if err != nil {
		return err
	}
	for _, path := range paths {
		doc, _, err := b.get(ctx, from, path, "Drive", g)
		if hopeless(err) {
			return err
		}
		if err != nil {
			g.note("Drive/" + lastSegment(path))
			continue
		}
		if absent(doc) || doc.hollow() {
			continue
		}
		h.Drives = append(h.Drives, provider.Drive{
			Name:          cmp.Or(doc.text("Name"), doc.text("Id"), lastSegment(path)),
			Model:         doc.text("Model"),
			Serial:        doc.text("SerialNumber"),
			MediaType:     mediaType(doc.text("MediaType")),
			Protocol:      protocol(doc.text("Protocol")),
			CapacityBytes: doc.count("CapacityBytes"),
		})
	}
	return nil
}

// simpleDrives reads the devices of SimpleStorage that have a capacity and are there in metal.
func (b *BMC) simpleDrives(ctx context.Context, from reader, s *system, h *provider.Hardware, g *gaps) error {
	return b.partOf(ctx, from, s, s.doc.link("SimpleStorage"), "SimpleStorage", g, func(path string, doc document) {
		for _, device := range doc.list("Devices") {
			size := device.count("CapacityBytes")
			if absent(device) || size == 0 || virtual(device) {
				continue
			}
			h.Drives = append(h.Drives, provider.Drive{
				Name: cmp.Or(device.text("Name"), lastSegment(path)), Model: device.text("Model"),
				Serial: device.text("SerialNumber"), CapacityBytes: size,
			})
		}
	})
}

// virtual says that a device is one the BMC pretends: virtual media show up as USB disks.
func virtual(device document) bool {
	for _, key := range []string{"Name", "Model"} {
		if strings.Contains(strings.ToLower(device.text(key)), "virtual") {
			return true
		}
	}
	return false
}

func mediaType(s string) string {
	switch m := schemas.MediaType(s); m {
	case schemas.SSDMediaType, schemas.HDDMediaType:
		return string(m)
	case schemas.SMRMediaType:
		return string(schemas.HDDMediaType)
	}
	return ""
}

func protocol(s string) string {
	switch p := schemas.Protocol(s); p {
	case schemas.NVMeProtocol, schemas.SATAProtocol, schemas.SASProtocol:
		return string(p)
	}
	return ""
}

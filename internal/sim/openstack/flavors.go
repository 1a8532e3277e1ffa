// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (cl *call) flavorLinks(id string) []obj {
	return []obj{
		{"rel": "self", "href": cl.cloud.url("/compute/v2.1/flavors/" + id)},
		{"rel": "bookmark", "href": cl.cloud.url("/compute/flavors/" + id)},
	}
}

func (cl *call) basicFlavor(f *Flavor) obj {
	doc := obj{"id": f.ID, "name": f.Name, "links": cl.flavorLinks(f.ID)}
	if cl.version >= flavorText {
		doc["description"] = nil
	}
	return doc
}

func (cl *call) showFlavor(f *Flavor) obj {
	doc := cl.basicFlavor(f)
	for key, value := range (obj{
		"ram": f.RAM, "disk": f.Disk, "vcpus": f.CPUs, "swap": "", "rxtx_factor": 1.0, "OS-FLV-EXT-DATA:ephemeral": 0,
		"OS-FLV-DISABLED:disabled": false, "os-flavor-access:is_public": true,
	}) {
		doc[key] = value
	}
	if cl.version >= flavorSpecs {
		doc["extra_specs"] = obj{}
	}
	if cl.version >= strictQueries {
		doc["swap"] = 0
	}
	return doc
}

// embeddedFlavor is the flavor of a server: a link below 2.47, a copy without id from there on.
func (cl *call) embeddedFlavor(id string) obj {
	f := cl.cloud.flavor(id)
	if cl.version < flavorEmbedded || f == nil {
		return obj{"id": id, "links": cl.bookmark("flavors", id)}
	}
	return obj{"vcpus": f.CPUs, "ram": f.RAM, "disk": f.Disk, "ephemeral": 0, "swap": 0, "original_name": f.Name, "extra_specs": obj{}}
}

func (cl *call) getFlavors() *reply { return cl.listFlavors(cl.basicFlavor) }

func (cl *call) getFlavorsDetail() *reply { return cl.listFlavors(cl.showFlavor) }

func (cl *call) listFlavors(show func(*Flavor) obj) *reply {
	rows := slices.Clone(cl.cloud.offer.flavors)
	slices.SortFunc(rows, func(a, b *Flavor) int { return strings.Compare(a.ID, b.ID) })
	if marker := cl.query.Get("marker"); marker != "" {
		i := slices.IndexFunc(rows, func(f *Flavor) bool { return f.ID == marker })
		if i < 0 {
			return cl.refuse(http.StatusBadRequest, "marker [%s] not found", marker)
		}
		rows = rows[i+1:]
	}
	minRAM, minDisk := number(cl.query.Get("minRam")), number(cl.query.Get("minDisk"))
	rows = slices.DeleteFunc(rows, func(f *Flavor) bool { return f.RAM < minRAM || f.Disk < minDisk })
	doc := obj{}
	if limit := number(cl.query.Get("limit")); limit > 0 && limit <= len(rows) {
		rows = rows[:limit]
		query := cl.r.URL.Query()
		query.Set("marker", rows[limit-1].ID)
		doc["flavors_links"] = []obj{{"rel": "next", "href": fmt.Sprintf("%s?%s", cl.cloud.url(cl.r.URL.Path), query.Encode())}}
	}
	docs := make([]obj, 0, len(rows))
	for _, f := range rows {
		docs = append(docs, show(f))
	}
	doc["flavors"] = docs
	return ok(doc)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func onFlavor(handle func(*call, *Flavor) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		f := cl.cloud.flavor(cl.value("flavor"))
		if f == nil {
			return cl.refuse(http.StatusNotFound, "Flavor %s could not be found.", cl.value("flavor"))
		}
		return handle(cl, f)
	}
}

func (cl *call) getFlavor(f *Flavor) *reply { return ok(obj{"flavor": cl.showFlavor(f)}) }

func (cl *call) getExtraSpecs(*Flavor) *reply { return ok(obj{"extra_specs": obj{}}) }

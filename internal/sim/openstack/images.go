// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/md5" //nolint:gosec // what Glance calls checksum
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (cl *call) getImageVersions() *reply {
	var versions []obj
	for minor := 15; minor >= 0; minor-- {
		status := "SUPPORTED"
		if minor == 15 {
			status = "CURRENT"
		}
		versions = append(versions, obj{
			"id": fmt.Sprintf("v2.%d", minor), "status": status, "links": []obj{{"rel": "self", "href": cl.cloud.url("/image/v2/")}},
		})
	}
	r := newReply(http.StatusMultipleChoices, obj{"versions": versions})
	if strings.HasSuffix(cl.r.URL.Path, "/versions") {
		r.status = http.StatusOK
	}
	return r
}

func (cl *call) showImage(i *Image) obj {
	sum, strong := md5.Sum([]byte(i.ID)), sha512.Sum512([]byte(i.ID)) //nolint:gosec // what Glance calls checksum
	since := seconds(cl.cloud.offer.since)
	return obj{
		"id": i.ID, "name": i.Name, "status": i.Status, "visibility": "public", "owner": plainID("project", "operator"), "protected": false,
		"os_hidden": false, "tags": orEmpty(i.Tags), "size": 3600, "virtual_size": 3600, "disk_format": "raw", "container_format": "bare",
		"min_disk": i.MinDisk, "min_ram": i.MinRAM, "checksum": hex.EncodeToString(sum[:]), "os_hash_algo": "sha512",
		"os_hash_value": hex.EncodeToString(strong[:]), "created_at": since, "updated_at": since, "self": "/v2/images/" + i.ID,
		"file": "/v2/images/" + i.ID + "/file", "schema": "/v2/schemas/image", "stores": "file",
	}
}

// getImages answers a listing: those that the query wants, by pages, which are small unless it says.
func (cl *call) getImages() *reply {
	rows := slices.DeleteFunc(slices.Clone(cl.cloud.offer.images), func(i *Image) bool { return !cl.wantsImage(i) })
	slices.SortFunc(rows, func(a, b *Image) int { return strings.Compare(b.ID, a.ID) }) // all were made at once
	if marker := cl.query.Get("marker"); marker != "" {
		i := slices.IndexFunc(rows, func(i *Image) bool { return i.ID == marker })
		if i < 0 {
			return cl.refuse(http.StatusBadRequest, "Invalid marker. Image could not be found.")
		}
		rows = rows[i+1:]
	}
	size := cl.cloud.behaviour.ImagePage
	if size <= 0 {
		size = 25
	}
	if limit := number(cl.query.Get("limit")); limit > 0 {
		size = min(limit, 1000)
	}
	doc := obj{"schema": "/v2/schemas/images", "first": relative(cl.r.URL.Query())}
	if len(rows) >= size {
		rows = rows[:size]
		query := cl.r.URL.Query()
		query.Set("marker", rows[size-1].ID)
		doc["next"] = relative(query)
	}
	docs := make([]obj, 0, len(rows))
	for _, i := range rows {
		docs = append(docs, cl.showImage(i))
	}
	doc["images"] = docs
	return ok(doc)
}

func relative(query interface{ Encode() string }) string {
	if text := query.Encode(); text != "" {
		return "/v2/images?" + text
	}
	return "/v2/images"
}

func (cl *call) wantsImage(i *Image) bool {
	for _, tag := range cl.query["tag"] {
		if !slices.Contains(i.Tags, tag) {
			return false
		}
	}
	values := map[string]string{"id": i.ID, "name": i.Name, "status": i.Status, "visibility": "public"}
	for parameter, value := range values {
		wanted := cl.query.Get(parameter)
		if several, isIn := strings.CutPrefix(wanted, "in:"); isIn {
			if !slices.Contains(strings.Split(several, ","), value) {
				return false
			}
		} else if cl.query.Has(parameter) && wanted != value && (parameter != "visibility" || wanted != "all") {
			return false
		}
	}
	return true
}

func (cl *call) getImage() *reply {
	i := cl.cloud.image(cl.value("image"))
	if i == nil {
		return cl.refuse(http.StatusNotFound, "No image found with ID %s", cl.value("image"))
	}
	return ok(cl.showImage(i))
}

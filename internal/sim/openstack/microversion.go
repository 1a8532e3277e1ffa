// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"net/http"
	"strings"
)

// microversion is the minor version of the compute API, 2.x.
type microversion int

// The range of Zed; and what a member of a server or a parameter of a request first came with.
const (
	minMicroversion  microversion = 1
	maxMicroversion  microversion = 93
	keyTypes         microversion = 2
	lockShown        microversion = 9
	groupOwners      microversion = 13
	descriptions     microversion = 19
	serverTags       microversion = 26
	networksRequired microversion = 37
	noNetworkProxies microversion = 36
	flavorEmbedded   microversion = 47
	tagsAtCreation   microversion = 52
	rebuildKey       microversion = 54
	flavorText       microversion = 55
	rebuildUserData  microversion = 57
	flavorSpecs      microversion = 61
	trustedImages    microversion = 63
	groupPolicy      microversion = 64
	cellsDownShown   microversion = 69
	groupsShown      microversion = 71
	lockReason       microversion = 73
	strictQueries    microversion = 75
	hostnames        microversion = 90
)

func (v microversion) String() string { return fmt.Sprintf("2.%d", int(v)) }

// parseMicroversion reads "2.52".
func parseMicroversion(text string) (microversion, bool) {
	var minor int
	rest := strings.TrimPrefix(text, "2.")
	if _, err := fmt.Sscanf(rest, "%d", &minor); err != nil || fmt.Sprintf("2.%d", minor) != text {
		return 0, false
	}
	return microversion(minor), true
}

// max is the newest microversion that the compute service speaks.
func (c *Cloud) maxVersion() microversion {
	if v, isVersion := parseMicroversion(c.behaviour.MaxMicroversion); isVersion {
		return v
	}
	return maxMicroversion
}

// negotiate finds out which microversion the request speaks: the oldest one unless it says.
func (cl *call) negotiate() *reply {
	if cl.service != compute {
		return nil
	}
	cl.version = minMicroversion
	wanted := cl.r.Header.Get("X-OpenStack-Nova-API-Version")
	for _, line := range cl.r.Header.Values("OpenStack-API-Version") {
		for _, entry := range strings.Split(line, ",") {
			if name, version, found := strings.Cut(strings.TrimSpace(entry), " "); found && name == string(compute) {
				wanted = version
			}
		}
	}
	newest := cl.cloud.maxVersion()
	switch v, isVersion := parseMicroversion(wanted); {
	case wanted == "":
	case wanted == "latest":
		cl.version = newest
	case !isVersion:
		return cl.refuse(http.StatusBadRequest, "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", wanted)
	case v < minMicroversion || v > newest:
		return cl.refuse(http.StatusNotAcceptable, "Version %s is not supported by the API. Minimum is %s and maximum is %s.", wanted, minMicroversion, newest)
	default:
		cl.version = v
	}
	return nil
}

// finish adds what every answer of the service bears.
func (cl *call) finish() {
	header := cl.reply.header
	if header == nil {
		header = http.Header{}
		cl.reply.header = header
	}
	header.Set("X-Openstack-Request-Id", fmt.Sprintf("req-%s", namedUUID("request", fmt.Sprint(cl.seq))))
	if cl.service == compute && cl.version > 0 {
		header.Set("OpenStack-API-Version", "compute "+cl.version.String())
		header.Set("X-OpenStack-Nova-API-Version", cl.version.String())
		header["Vary"] = []string{"OpenStack-API-Version", "X-OpenStack-Nova-API-Version"}
	}
}

func (cl *call) getComputeVersions() *reply {
	old := cl.computeVersion("v2.0", "SUPPORTED", "", "", "2011-01-21T11:33:21Z", "/compute/v2/")
	return ok(obj{"versions": []obj{old, cl.currentCompute()}})
}

func (cl *call) currentCompute() obj {
	return cl.computeVersion("v2.1", "CURRENT", cl.cloud.maxVersion().String(), minMicroversion.String(), "2013-07-23T11:33:21Z", "/compute/v2.1/")
}

func (cl *call) computeVersion(id, status, newest, oldest, updated, path string) obj {
	return obj{
		"id": id, "status": status, "version": newest, "min_version": oldest, "updated": updated,
		"links": []obj{{"rel": "self", "href": cl.cloud.url(path)}},
	}
}

func (cl *call) getComputeVersion() *reply {
	doc := cl.currentCompute()
	doc["links"] = []obj{{"rel": "self", "href": cl.cloud.url("/compute/v2.1/")}, {"rel": "describedby", "type": "text/html", "href": "http://docs.openstack.org/"}}
	doc["media-types"] = []obj{{"base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1"}}
	return ok(obj{"version": doc})
}

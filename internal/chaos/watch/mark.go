// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// MachineID names a machine behind a BMC in the judge's record: a claimed bare-metal server, say "rack1-u07/1".
func MachineID(bmc, system string) string { return bmc + "/" + system }

// imageHost is a host that no network has.
const imageHost = "http://images.test/"

var imageURL = regexp.MustCompile(`^http://images\.test/(.+)/([0-9]+)/boot\.iso$`)

// ImageURL is the address of the image that a machine boots for a tenant, namespace/name#n.
func ImageURL(tenant string) string {
	name, n, _ := strings.Cut(tenant, "#")
	return imageHost + name + "/" + n + "/boot.iso"
}

// tenantOfImage is the tenant whose image that is; empty for a stranger's.
func tenantOfImage(url string) string {
	parts := imageURL.FindStringSubmatch(url)
	if parts == nil {
		return ""
	}
	return parts[1] + "#" + parts[2]
}

var userDataMark = regexp.MustCompile(`(?m)^# workload: (\S+)$`)

// UserData are what a VM boots with for a tenant. They must reach the cloud as they are, without anything added that wraps them.
func UserData(tenant string) string {
	return "#cloud-config\n# workload: " + tenant + "\nhostname: workload\n"
}

// tenantOfUserData is the tenant whom user data name, as they were sent to Nova; empty for a stranger's.
func tenantOfUserData(encoded string) string {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	mark := userDataMark.FindSubmatch(data)
	if mark == nil {
		return ""
	}
	return string(mark[1])
}

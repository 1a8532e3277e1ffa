// SPDX-License-Identifier: Apache-2.0

package api

import "strings"

const (
	endpoint  = "spec.endpoint"
	pinned    = "spec.tls.pinnedSHA256"
	caBundle  = "spec.tls.caBundle"
	labels    = "spec.serverTemplate.labels"
	someTaint = "spec.serverTemplate.taints"
	somePEM   = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	someHex   = "a1B2c3D4e5F60718a1B2c3D4e5F60718a1B2c3D4e5F60718a1B2c3D4e5F60718"
)

var colons = strings.Repeat("A1:", 31) + "A1"

var bmcRules = []rule{
	{
		kind: "BMC", at: "", message: "the name of a BMC is a label's value",
		accept: at("metadata.name", long(63)),
		reject: at("metadata.name", long(64)),
	},
	{
		kind: "BMC", at: "spec", message: "an http:// endpoint has no certificate to verify",
		accept: created(set{endpoint: "http://10.0.0.7"}, set{"spec.tls.insecureSkipVerify": true}),
		reject: created(set{endpoint: "http://10.0.0.7", pinned: someHex}, set{endpoint: "HTTP://10.0.0.7", "spec.tls.insecureSkipVerify": true}),
	},
	{
		kind: "BMC", at: endpoint, message: "must be a URL with https://",
		accept: at(endpoint, "https://10.0.0.7", "http://127.0.0.1:8000", "https://bmc.example:8443", "https://[fd00::7]:443", "https://bmc.example/base/"),
		reject: at(endpoint, "10.0.0.7", "bmc.example", "ssh://10.0.0.7", "ipmi://10.0.0.7", "https://", "https:///redfish/v1", "/redfish/v1", "redfish+https://10.0.0.7", ""),
	},
	{
		kind: "BMC", at: endpoint, message: "must not carry a user name or password",
		accept: at(endpoint, "https://10.0.0.7/a@b"),
		reject: at(endpoint, "https://root:calvin@10.0.0.7", "https://root@10.0.0.7"),
	},
	{
		kind: "BMC", at: endpoint, message: "must not have a query or a fragment",
		accept: at(endpoint, "https://10.0.0.7/"),
		reject: at(endpoint, "https://10.0.0.7/?a=b", "https://10.0.0.7/#a"),
	},
	{
		kind: "BMC", at: endpoint, message: "an IPv6 address goes in brackets",
		accept: at(endpoint, "https://[fd00::7]", "https://[fd00::7]:8443/base", "https://10.0.0.7:8443"),
		reject: at(endpoint, "https://fd00::7", "https://fd00::7:443/redfish/v1", "https://[fe80::1%25eth0]"),
	},
	{
		kind: "BMC", at: endpoint, message: "port must be from 1 to 65535",
		accept: at(endpoint, "https://10.0.0.7:1", "https://10.0.0.7:65535", "https://10.0.0.7:"),
		reject: at(endpoint, "https://10.0.0.7:0", "https://10.0.0.7:65536", "https://10.0.0.7:123456"),
	},
	{
		kind: "BMC", at: "spec.credentialsSecretRef.name", message: aName,
		accept: at("spec.credentialsSecretRef.name", "rack1-u07"),
		reject: at("spec.credentialsSecretRef.name", badNames...),
	},
	{
		kind: "BMC", at: "spec.tls", message: "give one of caBundle, pinnedSHA256 and insecureSkipVerify",
		accept: created(set{"spec.tls": map[string]any{}}, set{caBundle: somePEM}, set{pinned: someHex, "spec.tls.insecureSkipVerify": false},
			set{"spec.tls.insecureSkipVerify": true}),
		reject: created(set{caBundle: somePEM, pinned: someHex}, set{caBundle: somePEM, "spec.tls.insecureSkipVerify": true},
			set{pinned: someHex, "spec.tls.insecureSkipVerify": true}),
	},
	{
		kind: "BMC", at: caBundle, message: "must be certificates in PEM",
		accept: at(caBundle, somePEM, somePEM+somePEM),
		reject: at(caBundle, "", "MIIB", "-----BEGIN CERTIFICATE-----\nMIIB"),
	},
	{
		kind: "BMC", at: caBundle, message: "must not hold a private key",
		accept: at(caBundle, somePEM),
		reject: at(caBundle, somePEM+"-----BEGIN EC PRIVATE KEY-----\ncanary\n-----END EC PRIVATE KEY-----\n"),
	},
	{
		kind: "BMC", at: pinned, message: "must be a SHA-256 fingerprint",
		accept: at(pinned, someHex, colons),
		reject: at(pinned, "", someHex[:63], someHex[:40], colons[:93], strings.Replace(colons, ":", "", 1), strings.Replace(someHex, "a", "g", 1)),
	},
	{
		kind: "BMC", at: labels, message: "every key must be a label key",
		accept: at(labels, map[string]any{"rack": "r1", "example.com/rack": "r1"}),
		reject: at(labels, map[string]any{"a b": "r1"}, map[string]any{"rack": "r1", "a/b/c": "r1"}, map[string]any{long(64): "r1"}),
	},
	{
		kind: "BMC", at: labels, message: "every value must be a label value",
		accept: at(labels, map[string]any{"rack": ""}),
		reject: at(labels, map[string]any{"rack": "r 1"}, map[string]any{"rack": "-"}),
	},
	{
		kind: "BMC", at: labels, message: "labels under holdfast.dev/ are set by the operator",
		accept: at(labels, map[string]any{"holdfast.dev.example/bmc": "x"}),
		reject: at(labels, map[string]any{"holdfast.dev/bmc": "x"}),
	},
	{
		kind: "BMC", at: someTaint + "[].key", message: aLabelKey,
		accept: created(taint(someTaint, "gpu", "")),
		reject: created(taint(someTaint, "a b", "")),
	},
	{
		kind: "BMC", at: someTaint + "[].value", message: aLabel,
		accept: created(taint(someTaint, "gpu", "a100")),
		reject: created(taint(someTaint, "gpu", "a b")),
	},
}

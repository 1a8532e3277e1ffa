// SPDX-License-Identifier: Apache-2.0

package api

const (
	classLabels = "spec.labels"
	cloudBundle = "spec.caBundle"
)

var classRules = []rule{
	{
		kind: "ServerClass", at: openstack, message: "a claim brings its own user data",
		accept: created(set{}), reject: at(openstack+".userDataSecretRef.name", "a"),
	},
	{
		kind: "ServerClass", at: "spec.reclaimPolicy", message: "a VM is deleted or retained",
		accept: at("spec.reclaimPolicy", "Delete", "Retain"), reject: at("spec.reclaimPolicy", "Recycle"),
	},
	{
		kind: "ServerClass", at: classLabels, message: "every key must be a label key",
		accept: at(classLabels, map[string]any{"size": "small", "example.com/size": "small"}),
		reject: at(classLabels, map[string]any{"a b": "small"}, map[string]any{long(64): "small"}),
	},
	{
		kind: "ServerClass", at: classLabels, message: "every value must be a label value",
		accept: at(classLabels, map[string]any{"size": ""}), reject: at(classLabels, map[string]any{"size": "s m"}),
	},
	{
		kind: "ServerClass", at: classLabels, message: "labels under holdfast.dev/ are set by the operator",
		accept: at(classLabels, map[string]any{"holdfast.dev.example/size": "x"}), reject: at(classLabels, map[string]any{"holdfast.dev/size": "x"}),
	},
	{
		kind: "ServerClass", at: "spec.taints[].key", message: aLabelKey,
		accept: created(taint("spec.taints", "gpu", "")), reject: created(taint("spec.taints", "a b", "")),
	},
	{
		kind: "ServerClass", at: "spec.taints[].value", message: aLabel,
		accept: created(taint("spec.taints", "gpu", "a100")), reject: created(taint("spec.taints", "gpu", "a b")),
	},
	{
		kind: "ServerClaim", at: "spec", message: "what a class makes is what the class says",
		accept: created(set{className: "small"}),
		reject: created(set{className: "small", "spec.requirements.cpuCores": int64(4)}, set{className: "small", "spec.requirements": map[string]any{}}),
	},
	{
		kind: "ServerClaim", at: "spec", message: "a VM boots the image of its class",
		accept: created(set{className: "small", "spec.boot.userDataSecretRef.name": "s"}, set{"spec.boot.image": "http://a/1"}),
		reject: created(set{className: "small", "spec.boot.image": "http://a/1"},
			set{className: "small", "spec.boot.method": "VirtualMedia", "spec.boot.image": "http://a/1"}),
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen, className cannot change any more",
		accept: []try{
			{before: set{className: "small"}, now: set{className: "large"}},
			{before: set{className: "small", chosen: "a"}, now: set{"spec.power": "Off"}},
		},
		reject: []try{
			{before: set{className: "small", chosen: "a"}, now: set{className: "large"}},
			{before: set{className: "small", chosen: "a"}, now: set{className: nil}},
			{before: set{chosen: "a"}, now: set{className: "small"}},
		},
	},
	{
		kind: "ServerClaim", at: className, message: "must be the name of a ServerClass",
		accept: at(className, "small", "eu.small"), reject: at(className, notTheName, "a/b", "-a"),
	},
}

var cloudRules = []rule{
	{
		kind: "Cloud", at: "spec.cloudsSecretRef.name", message: aName,
		accept: at("spec.cloudsSecretRef.name", "fra1"), reject: at("spec.cloudsSecretRef.name", badNames...),
	},
	{
		kind: "Cloud", at: cloudBundle, message: "must be certificates in PEM",
		accept: at(cloudBundle, somePEM, somePEM+somePEM), reject: at(cloudBundle, "", "MIIB", "-----BEGIN CERTIFICATE-----\nMIIB"),
	},
	{
		kind: "Cloud", at: cloudBundle, message: "must not hold a private key",
		accept: at(cloudBundle, somePEM),
		reject: at(cloudBundle, somePEM+"-----BEGIN EC PRIVATE KEY-----\ncanary\n-----END EC PRIVATE KEY-----\n"),
	},
}

// SPDX-License-Identifier: Apache-2.0

package api

const (
	chosen    = "spec.serverName"
	className = "spec.className"
)

var claimRules = []rule{
	{
		kind: "ServerClaim", at: "spec", message: "give at most one of serverRef, selector and className",
		accept: created(set{}, set{"spec.serverRef.name": "a"}, set{"spec.selector": labelled("rack", "r1")}, set{className: "small"}),
		reject: created(set{"spec.serverRef.name": "a", "spec.selector": labelled("rack", "r1")},
			set{className: "small", "spec.serverRef.name": "a"}, set{className: "small", "spec.selector": map[string]any{}},
			set{"spec.serverRef.name": "a", "spec.selector": map[string]any{}}),
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen, serverRef cannot change any more",
		accept: []try{
			{before: set{"spec.serverRef.name": "a"}, now: set{"spec.serverRef.name": "b"}},
			{before: set{"spec.serverRef.name": "a", chosen: "a"}, now: set{"spec.power": "Off"}},
			{before: set{"spec.serverRef.name": "a"}, now: set{"spec.serverRef.name": "b", chosen: "b"}},
		},
		reject: []try{
			{before: set{"spec.serverRef.name": "a", chosen: "a"}, now: set{"spec.serverRef.name": "b"}},
			{before: set{"spec.serverRef.name": "a", chosen: "a"}, now: set{"spec.serverRef": nil}},
			{before: set{chosen: "a"}, now: set{"spec.serverRef.name": "a"}},
		},
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen, selector cannot change any more",
		accept: []try{
			{before: set{"spec.selector": labelled("rack", "r1")}, now: set{"spec.selector": labelled("rack", "r2")}},
			{before: set{"spec.selector": labelled("rack", "r1"), chosen: "a"}, now: set{"spec.power": "Off"}},
		},
		reject: []try{
			{before: set{"spec.selector": labelled("rack", "r1"), chosen: "a"}, now: set{"spec.selector": labelled("rack", "r2")}},
			{before: set{"spec.selector": labelled("rack", "r1"), chosen: "a"}, now: set{"spec.selector": nil}},
			{before: set{chosen: "a"}, now: set{"spec.selector": labelled("rack", "r1")}},
		},
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen, requirements cannot change any more",
		accept: []try{
			{before: set{"spec.requirements.memory": "64Gi"}, now: set{"spec.requirements.memory": "128Gi"}},
			{before: set{"spec.requirements.memory": "64Gi", chosen: "a"}, now: set{"spec.tolerations": tolerations("gpu", "Exists", "")}},
		},
		reject: []try{
			{before: set{"spec.requirements.memory": "64Gi", chosen: "a"}, now: set{"spec.requirements.memory": "128Gi"}},
			{before: set{"spec.requirements.memory": "64Gi", chosen: "a"}, now: set{"spec.requirements": nil}},
			{before: set{chosen: "a"}, now: set{"spec.requirements.cpuCores": int64(4)}},
		},
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen, boot.method and boot.when cannot change any more",
		accept: []try{
			{before: set{"spec.boot.when": "Always"}, now: set{"spec.boot.when": "Once"}},
			{before: set{chosen: "a"}, now: set{"spec.restartedAt": "2026-11-29T12:00:00Z"}},
			{before: set{chosen: "a"}, now: set{chosen: nil}},
		},
		reject: []try{
			{before: set{chosen: "a"}, now: set{"spec.boot.method": "Disk"}},
			{before: set{chosen: "a"}, now: set{"spec.boot.when": "Always"}},
			{before: set{"spec.boot.when": "Always", chosen: "a"}, now: set{"spec.boot.when": "Once"}},
			{before: set{chosen: "a"}, now: set{chosen: nil, "spec.boot.when": "Always"}},
		},
	},
	{
		kind: "ServerClaim", at: "spec", message: "a server is chosen and boots from the network once",
		accept: []try{
			{before: set{"spec.boot.image": "http://a/1"}, now: set{"spec.boot.image": "http://a/2"}},
			{before: set{"spec.boot.image": "http://a/1", "spec.boot.when": "Always", chosen: "a"}, now: set{"spec.boot.image": "http://a/2"}},
		},
		reject: []try{
			{before: set{"spec.boot.image": "http://a/1", chosen: "a"}, now: set{"spec.boot.image": "http://a/2"}},
			{before: set{chosen: "a"}, now: set{"spec.boot.userDataSecretRef.name": "s"}},
			{before: set{"spec.boot.userDataSecretRef.name": "s", chosen: "a"}, now: set{"spec.boot.userDataSecretRef": nil}},
		},
	},
	{
		kind: "ServerClaim", at: "spec.serverName", message: "serverName goes from one server to another only by being cleared",
		accept: []try{
			{before: set{}, now: set{chosen: "a"}},
			{before: set{chosen: "a"}, now: set{chosen: nil}},
		},
		reject: []try{{before: set{chosen: "a"}, now: set{chosen: "b"}}},
	},
	{
		kind: "ServerClaim", at: "spec.serverName", message: "must be the name of a Server",
		accept: at(chosen, "rack1-u07"),
		reject: at(chosen, notTheName),
	},
	{
		kind: "ServerClaim", at: "spec.serverRef.name", message: aName,
		accept: at("spec.serverRef.name", "rack1-u07"),
		reject: at("spec.serverRef.name", badNames...),
	},
	{
		kind: "ServerClaim", at: "spec.requirements.memory", message: "must not be negative",
		accept: at("spec.requirements.memory", "0", "64Gi", int64(1), "1.5T"),
		reject: at("spec.requirements.memory", "-1", "-64Gi", int64(-1)),
	},
	{
		kind: "ServerClaim", at: "spec.requirements.disks[].minSize", message: "must not be negative",
		accept: created(disk("400Gi"), disk(int64(400))),
		reject: created(disk("-400Gi"), disk(int64(-400))),
	},
	{
		kind: "ServerClaim", at: "spec.tolerations[]", message: "without a key, operator must be Exists",
		accept: created(set{"spec.tolerations": tolerations("", "Exists", "")}, set{"spec.tolerations": tolerations("gpu", "Equal", "a100")}),
		reject: created(set{"spec.tolerations": tolerations("", "Equal", "")}, set{"spec.tolerations": []any{map[string]any{}}}),
	},
	{
		kind: "ServerClaim", at: "spec.tolerations[]", message: "operator Exists takes no value",
		accept: created(set{"spec.tolerations": tolerations("gpu", "Exists", "")}, set{"spec.tolerations": tolerations("gpu", "Equal", "a100")}),
		reject: created(set{"spec.tolerations": tolerations("gpu", "Exists", "a100")}),
	},
	{
		kind: "ServerClaim", at: "spec.tolerations[].key", message: aLabelKey,
		accept: created(set{"spec.tolerations": tolerations("example.com/gpu", "Exists", "")}),
		reject: created(set{"spec.tolerations": tolerations("a b", "Exists", "")}),
	},
	{
		kind: "ServerClaim", at: "spec.tolerations[].value", message: aLabel,
		accept: created(set{"spec.tolerations": tolerations("gpu", "Equal", "a100")}),
		reject: created(set{"spec.tolerations": tolerations("gpu", "Equal", "a b")}),
	},
}

func labelled(key, value string) map[string]any {
	return map[string]any{"matchLabels": map[string]any{key: value}}
}

func tolerations(key, operator, value string) []any {
	return []any{map[string]any{"key": key, "operator": operator, "value": value}}
}

func disk(minSize any) set {
	return set{"spec.requirements.disks": []any{map[string]any{"minSize": minSize}}}
}

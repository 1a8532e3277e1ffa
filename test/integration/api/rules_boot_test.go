// SPDX-License-Identifier: Apache-2.0

package api

const bootImage = "spec.boot.image"

// What a claim may ask to be booted from: no file of a controller, no address that answers secrets to whoever is near (B242).
var bootRules = []rule{
	{
		kind: "ServerClaim", at: "spec.boot", message: "method Disk boots what is on the disk",
		accept: created(set{"spec.boot.method": "Disk"}, set{"spec.boot.method": "Disk", "spec.boot.when": "Once"},
			set{"spec.boot.method": "PXE", "spec.boot.when": "Always", bootImage: "http://a/b"}),
		reject: created(set{"spec.boot.method": "Disk", bootImage: "http://a/b"},
			set{"spec.boot.method": "Disk", "spec.boot.when": "Always"},
			set{"spec.boot.method": "Disk", "spec.boot.userDataSecretRef.name": "s"}),
	},
	{
		kind: "ServerClaim", at: "spec.boot", message: "methods HTTP and VirtualMedia boot an image",
		accept: created(set{"spec.boot.method": "HTTP", bootImage: "http://a/b.iso"},
			set{"spec.boot.method": "VirtualMedia", bootImage: "https://a/b.iso", "spec.boot.userDataSecretRef.name": "s"},
			set{"spec.boot.method": "VirtualMedia", bootImage: "http://a/b.iso", "spec.boot.when": "Always"},
			set{"spec.boot.method": "PXE"}),
		reject: created(set{"spec.boot.method": "HTTP"}, set{"spec.boot.method": "VirtualMedia"},
			set{"spec.boot.method": "VirtualMedia", "spec.boot.when": "Always"}),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must be a URL with http:// or https:// and a host",
		accept: at(bootImage, "http://images.example/debian-12.iso", "https://images.example:8443/a?b=c#d", "HTTP://10.0.0.1/x"),
		reject: at(bootImage, "file:///etc/passwd", "/etc/passwd", "debian-12", "ftp://a/b", "nfs://a/b", "http:///a", "http:a", "http://", ""),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must not carry a user name or password",
		accept: at(bootImage, "http://images.example/a@b"),
		reject: at(bootImage, "http://user:canary@images.example/a", "https://user@images.example/a"),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must be plain ASCII",
		accept: at(bootImage, "http://xn--bcher-kva.example/a%20b"),
		reject: at(bootImage, "http://bücher.example/a", "http://169。254。169。254/", "http://images.example/a b"),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must name its host by name, by four decimal numbers",
		accept: at(bootImage, "http://10.0.0.1/a", "http://[fd00::1]:8080/a", "http://r2d2.example/a", "http://1.images.example/a"),
		reject: at(bootImage, "http://2852039166/a", "http://0xa9fea9fe/a", "http://0251.0376.0251.0376/a", "http://169.254.43518/a",
			"http://169.254.169.254./a", "http://[::ffff:169.254.169.254]/a", "http://[fe80::1%25eth0]/a"),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must not point to a link-local or cloud metadata address",
		accept: at(bootImage, "http://169.253.1.1/a", "http://192.168.1.1/169.254.169.254"),
		reject: at(bootImage, "http://169.254.169.254/latest/meta-data", "http://169.254.0.1:80/", "https://[fe80::1]/a", "http://[FE80:0::1]/a",
			"http://[fd00:ec2::254]/a", "http://[fd00:0ec2:0:0:0:0:0:254]/a", "http://100.100.100.200/a"),
	},
	{
		kind: "ServerClaim", at: bootImage, message: "must not point to a cloud metadata service",
		accept: at(bootImage, "http://metadata.example/a", "http://images.example/metadata"),
		reject: at(bootImage, "http://metadata.google.internal/a", "http://Metadata.Google.Internal.:80/a", "http://metadata/a"),
	},
	{
		kind: "ServerClaim", at: "spec.boot.userDataSecretRef.name", message: aName,
		accept: at("spec.boot.userDataSecretRef.name", "my-user-data"),
		reject: at("spec.boot.userDataSecretRef.name", badNames...),
	},
}

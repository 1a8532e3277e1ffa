#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches Debian's cloud-init, sshd and busybox into bin/cloudinit, without installing them: the tests of internal/cloudinit ask them
# what they make of what we render. Does nothing where they are already. Needs Debian and python3; no root but for the package lists, where
# there are none.
set -euo pipefail

target=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bin/cloudinit
# They, with what they depend on beyond a minimal system.
packages=(
	cloud-init python3-attr python3-certifi python3-chardet python3-configobj python3-idna python3-jinja2 python3-json-pointer
	python3-jsonpatch python3-jsonschema python3-markupsafe python3-oauthlib python3-pyrsistent python3-requests python3-serial
	python3-six python3-urllib3 python3-yaml
	openssh-server libwrap0 busybox-static
)
# The marker is of this list: another list is fetched anew.
wanted="${packages[*]}"
if [[ -f $target/complete && $(<"$target/complete") == "$wanted" ]]; then
	exit 0
fi

partial=$target.partial
rm -rf "$partial" "$target"
mkdir -p "$partial/packages" "$partial/root"
trap 'rm -rf "$partial"' EXIT
cd "$partial/packages"
download() { apt-get download -q -o APT::Sandbox::User=root "${packages[@]}"; }
if ! download 2>"$partial/errors"; then
	apt-get update -q
	download
fi
for package in *.deb; do
	dpkg-deb -x "$package" "$partial/root"
done
rm -rf "$partial/errors" "$partial/packages"
printf '%s' "$wanted" >"$partial/complete"
mv "$partial" "$target"
trap - EXIT
echo "fetched cloud-init and sshd to ${target#"$PWD"/}"

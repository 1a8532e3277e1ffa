#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the virtual suite against real OpenStack services. HOLDFAST_OPENSTACK names the directory of the scripts that handle them
# (up.sh, ctl.sh, down.sh); unset: ../shared/openstack beside the checkout. Where there is none the suite is skipped, and says so. What
# this starts it stops again; services that run already are used and left running.
#
#	hack/e2e-openstack.sh [flags of go test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts=${HOLDFAST_OPENSTACK:-$(realpath -m ../shared/openstack)}
if [[ ! -x $scripts/up.sh ]]; then
	if [[ -n ${HOLDFAST_OPENSTACK:-} ]]; then
		echo "HOLDFAST_OPENSTACK=$scripts has no up.sh" >&2
		exit 1
	fi
	echo "SKIPPED: there is no OpenStack to start ($scripts/up.sh); the virtual suite did not run"
	exit 0
fi
started=$SECONDS
if ! "$scripts/ctl.sh" status >/dev/null 2>&1; then
	if ((EUID != 0)); then
		echo "SKIPPED: starting an OpenStack installs packages and needs root; the virtual suite did not run"
		exit 0
	fi
	trap '"$scripts/down.sh"' EXIT
	"$scripts/up.sh"
fi
echo "OpenStack up after $((SECONDS - started)) s"

# One package at a time: each strikes whole services. The most that a run may take is part of what is tested.
HOLDFAST_OPENSTACK=$scripts ${GO:-go} test -count=1 -v -p 1 -parallel 6 -timeout 15m "$@" ./test/e2e/openstack/...

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the control plane that tests and `holdfast dev` run on (kube-apiserver
# and etcd), or kubectl, from the sources that go.mod pins.
#
#   build.sh [controlplane|kubectl|dir]
#
# Binaries go to bin/controlplane/<version>, or to HOLDFAST_CONTROLPLANE_DIR, so
# that several clones can share one build. A second call finds its stamp and does
# nothing. KUBEBUILDER_ASSETS, when set, is used as it is and nothing is built.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${1:-controlplane}
# Two compilations at a time keep the build below 4 GiB of memory.
jobs=${HOLDFAST_BUILD_JOBS:-2}

version=$(awk '$1 == "k8s.io/kubernetes" && $2 ~ /^v/ { print $2; exit }' "$here/go.mod")
root=$(cd "$here/../.." && pwd)
dir=${HOLDFAST_CONTROLPLANE_DIR:-$root/bin/controlplane/$version}

# Clients parse the version of the API server, and features depend on it; a plain
# `go build` leaves it as v0.0.0-master.
release=${version#v}
major=${release%%.*}
minor=${release#*.}
minor=${minor%%.*}
ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major"
	ldflags+=" -X $package.gitMinor=$minor -X $package.gitTreeState=archive"
done

# build <binary> <package>: the rename makes a half-written binary impossible to
# find, also for a test that runs while another clone builds.
build() {
	echo "building $1 for Kubernetes $version (the first time takes minutes)"
	(cd "$here" && CGO_ENABLED=0 go build -p "$jobs" -trimpath -ldflags "$ldflags" -o "$dir/.$1.$$" "$2")
	mv -f "$dir/.$1.$$" "$dir/$1"
}

# sources prints what the binaries are made of: the stamp of a finished build.
sources() {
	{ cat "$here/go.mod" && echo "$ldflags"; } | cksum
}

case $target in
dir)
	echo "${KUBEBUILDER_ASSETS:-$dir}"
	exit
	;;
controlplane) binaries=(etcd kube-apiserver) ;;
kubectl) binaries=(kubectl) ;;
*)
	echo "usage: build.sh [controlplane|kubectl|dir]" >&2
	exit 2
	;;
esac

if [[ $target == controlplane && -n ${KUBEBUILDER_ASSETS:-} ]]; then
	for binary in "${binaries[@]}"; do
		if [[ ! -x $KUBEBUILDER_ASSETS/$binary ]]; then
			echo "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS has no $binary" >&2
			exit 1
		fi
	done
	exit
fi

mkdir -p "$dir"
stamp=$dir/.$target.stamp
complete() {
	local binary
	for binary in "${binaries[@]}"; do
		[[ -x $dir/$binary ]] || return 1
	done
	[[ -f $stamp && $(<"$stamp") == "$(sources)" ]]
}
if complete; then
	exit
fi

# One build at a time for all clones that share the folder.
if command -v flock >/dev/null; then
	exec 9>"$dir/.lock"
	flock 9
	if complete; then
		exit
	fi
fi

started=$SECONDS
case $target in
controlplane)
	build etcd go.etcd.io/etcd/server/v3
	build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	;;
kubectl) build kubectl k8s.io/kubernetes/cmd/kubectl ;;
esac
sources >"$stamp"
echo "$target is in $dir ($((SECONDS - started)) s)"

// SPDX-License-Identifier: Apache-2.0

// Package testenv runs a real control plane, etcd and kube-apiserver, for
// integration tests and for `holdfast dev`.
//
// The binaries are built from source by `make controlplane` (hack/controlplane)
// and found by [FindAssets]. The processes are driven by controller-runtime's
// envtest; this package adds what envtest leaves to its users: finding the
// binaries, state that survives a restart, an audit log that can be counted,
// manifests of any kind, outages on purpose, and children that die with their
// parent.
//
// It is an API server and nothing else: no controller manager runs. So a deleted
// namespace stays Terminating, owner references are not collected, service
// accounts get no tokens and ValidatingAdmissionPolicies report no status. RBAC
// and authentication are on; the admission plugins are the API server's defaults
// without ServiceAccount.
//
// A test that finds no binaries fails and says how to build them. It never skips:
// a suite that passes because it ran nothing proves nothing.
package testenv

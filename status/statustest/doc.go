// SPDX-License-Identifier: Apache-2.0

// Package statustest checks whether a kind can be reported on with package status: its Go type, its
// CustomResourceDefinition, and what an API server makes of the two.
//
//	var kind = statustest.Kind{
//		New:     func() status.Object { return &v1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "w-"}} },
//		Regions: []string{"observed"},
//	}
//
//	func TestWidgetStatus(t *testing.T) {
//		statustest.Accessors(t, kind)            // the Go type; no cluster
//		statustest.Schema(t, kind, crd)          // the CRD; no cluster
//		statustest.Server(t, kind, config, scheme) // an API server, as from envtest
//	}
//
// Each reports every violation it finds, with what to change, and goes on. Package widget under this one
// is a kind that passes.
package statustest

// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds that are read.
const (
	KindServer      = "Server"
	KindClaim       = "ServerClaim"
	KindBMC         = "BMC"
	KindCloud       = "Cloud"
	KindClass       = "ServerClass"
	KindAuthority   = "SSHCertificateAuthority"
	KindMaintenance = "ServerMaintenance"
	KindSecret      = "Secret"
	KindNamespace   = "Namespace"
)

// order is how kinds are told.
var order = []string{KindServer, KindClaim, KindMaintenance, KindBMC, KindCloud, KindClass, KindAuthority, KindSecret, KindNamespace}

// Origin is where an object was read.
type Origin struct {
	// File as it was named, with the path inside an archive after a "!"; "" for a live cluster.
	File string `json:"file,omitempty"`
	// Line on which the object begins, from 1; 0 where there is none.
	Line int `json:"line,omitempty"`
}

// String is file:line.
func (o Origin) String() string {
	switch {
	case o.File == "":
		return "the cluster"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Item is one object of a backup, as it was exported.
type Item struct {
	Kind   string
	Origin Origin
	// Object is of the API's own type; of Secrets and Namespaces only the metadata is kept, so that no credential is.
	Object client.Object
}

// Name is namespace/name, or the name of a cluster-scoped object.
func (i Item) Name() string { return nameOf(i.Object) }

func nameOf(object client.Object) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// Problem is something that could not be read. Nothing else is lost by it.
type Problem struct {
	Origin Origin `json:"origin"`
	Text   string `json:"text"`
}

// Set is what was read.
type Set struct {
	Items    []Item
	Problems []Problem
	// Others counts objects of kinds that are nothing of Holdfast's.
	Others int
}

func (s *Set) add(kind string, origin Origin, object client.Object) {
	s.Items = append(s.Items, Item{Kind: kind, Origin: origin, Object: object})
}

func (s *Set) problem(origin Origin, format string, arguments ...any) {
	s.Problems = append(s.Problems, Problem{Origin: origin, Text: fmt.Sprintf(format, arguments...)})
}

// sort puts the items into the order in which they are told: by kind, then by name; of one name as they were read.
func (s *Set) sort() {
	slices.SortStableFunc(s.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), strings.Compare(a.Name(), b.Name()))
	})
}

// of are the items of a kind whose objects are of type T.
func of[T client.Object](s *Set, kind string) []T {
	var objects []T
	for _, item := range s.Items {
		if object, is := item.Object.(T); is && item.Kind == kind {
			objects = append(objects, object)
		}
	}
	return objects
}

// system is the UID of the namespace that names a cluster; "" where it was not read.
func (s *Set) system() string {
	for _, item := range s.Items {
		if item.Kind == KindNamespace && item.Object.GetName() == metav1.NamespaceSystem {
			return string(item.Object.GetUID())
		}
	}
	return ""
}

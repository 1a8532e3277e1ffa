// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// document is one YAML or JSON document of a file.
type document struct {
	content []byte
	line    int // on which it begins, from 1
}

// documents takes a file apart at its document markers. That is done by line, and not by a YAML decoder, so that a document that cannot
// be read takes none after it along.
func documents(content []byte) []document {
	var found []document
	current := document{line: 1}
	take := func() {
		if len(bytes.TrimSpace(current.content)) > 0 {
			found = append(found, current)
		}
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		if isMarker(line) {
			take()
			current = document{line: number + 1}
			continue
		}
		current.content = append(current.content, line...)
	}
	take()
	return found
}

// isMarker says whether a line begins a document: three dashes in the first column, alone or before a comment.
func isMarker(line []byte) bool {
	rest, marks := bytes.CutPrefix(line, []byte("---"))
	rest = bytes.TrimSpace(rest)
	return marks && (len(rest) == 0 || rest[0] == '#')
}

// decode reads the documents of one file into the set.
func (s *Set) decode(file string, content []byte) {
	for _, d := range documents(content) {
		origin := Origin{File: file, Line: d.line}
		// YAML as the API server's clients read it: `power: On` without quotes is a boolean to them, and so it is here.
		raw, err := yaml.YAMLToJSON(d.content)
		if err != nil {
			origin.Line += lineIn(err)
			s.problem(origin, "not YAML: %s", reason(err))
			continue
		}
		s.decodeObject(origin, raw, d)
	}
}

// decodeObject reads an object, or each of a list.
func (s *Set) decodeObject(origin Origin, raw []byte, d document) {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Kind == "" {
		if !bytes.Equal(raw, []byte("null")) { // comments alone
			s.problem(origin, "no Kubernetes object: it has no kind")
		}
		return
	}
	if !strings.HasSuffix(head.Kind, "List") {
		s.decodeOne(origin, raw, head.TypeMeta)
		return
	}
	lines := itemLines(d)
	for i, item := range head.Items {
		at := origin
		if i < len(lines) {
			at.Line = d.line - 1 + lines[i]
		}
		var kind metav1.TypeMeta
		if err := json.Unmarshal(item, &kind); err != nil || kind.Kind == "" {
			kind = metav1.TypeMeta{APIVersion: head.APIVersion, Kind: strings.TrimSuffix(head.Kind, "List")} // lists of one kind may leave it out
		}
		s.decodeOne(at, item, kind)
	}
}

// itemLines are the lines on which the items of a list begin, within their document.
func itemLines(d document) []int {
	var root yamlv3.Node
	if yamlv3.Unmarshal(d.content, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	var lines []int
	fields := root.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i].Value != "items" {
			continue
		}
		for _, item := range fields[i+1].Content {
			lines = append(lines, item.Line)
		}
	}
	return lines
}

// kinds makes an empty object of each kind of ours.
var kinds = map[string]func() client.Object{
	KindServer:      func() client.Object { return &v1alpha1.Server{} },
	KindClaim:       func() client.Object { return &v1alpha1.ServerClaim{} },
	KindBMC:         func() client.Object { return &v1alpha1.BMC{} },
	KindCloud:       func() client.Object { return &v1alpha1.Cloud{} },
	KindClass:       func() client.Object { return &v1alpha1.ServerClass{} },
	KindAuthority:   func() client.Object { return &v1alpha1.SSHCertificateAuthority{} },
	KindMaintenance: func() client.Object { return &v1alpha1.ServerMaintenance{} },
}

func (s *Set) decodeOne(origin Origin, raw []byte, kind metav1.TypeMeta) {
	group, _, _ := strings.Cut(kind.APIVersion, "/")
	switch {
	case kind.APIVersion == corev1.SchemeGroupVersion.String() && (kind.Kind == KindSecret || kind.Kind == KindNamespace):
		s.decodeMetadata(origin, raw, kind)
	case group != v1alpha1.GroupVersion.Group:
		s.Others++
	case kind.APIVersion != v1alpha1.GroupVersion.String():
		s.problem(origin, "%s of version %s: this Holdfast knows %s", kind.Kind, kind.APIVersion, v1alpha1.GroupVersion)
	case kinds[kind.Kind] == nil:
		s.problem(origin, "%s has no kind %s", kind.APIVersion, kind.Kind)
	default:
		s.decodeOurs(origin, raw, kind.Kind)
	}
}

// decodeOurs reads an object as the API server does: fields by their exact names, those that it does not know told and passed over.
func (s *Set) decodeOurs(origin Origin, raw []byte, kind string) {
	object := kinds[kind]()
	strict, err := kjson.UnmarshalStrict(raw, object)
	if err != nil {
		s.problem(origin, "%s: %v", kind, err)
		return
	}
	if object.GetName() == "" {
		s.problem(origin, "%s without a name", kind)
		return
	}
	if kind == KindClaim && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	if len(strict) > 0 {
		s.problem(origin, "%s %s: the API server would drop or refuse this: %v", kind, nameOf(object), errors.Join(strict...))
	}
	s.add(kind, origin, object)
}

// decodeMetadata keeps of an object that it exists, and its labels: never its content.
func (s *Set) decodeMetadata(origin Origin, raw []byte, kind metav1.TypeMeta) {
	object := &metav1.PartialObjectMetadata{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object); err != nil || object.Name == "" {
		s.problem(origin, "%s without readable metadata", kind.Kind) // the cause could quote a credential
		return
	}
	if kind.Kind == KindSecret && object.Namespace == "" {
		object.Namespace = metav1.NamespaceDefault
	}
	object.TypeMeta = kind
	object.Annotations = nil // kubectl apply keeps a copy of the whole secret there
	s.add(kind.Kind, origin, object)
}

var (
	yamlLine  = regexp.MustCompile(`line (\d+)`)
	yamlPlace = regexp.MustCompile(`line \d+: `)
)

// lineIn is how many lines after the first of its document a YAML error stands; 0 where it does not tell.
func lineIn(err error) int {
	told := yamlLine.FindStringSubmatch(err.Error())
	if told == nil {
		return 0
	}
	line, _ := strconv.Atoi(told[1])
	return max(0, line-1)
}

// reason is a YAML error without its line, which is relative to the document, and without what it quotes of it.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	text = strings.TrimPrefix(text, "yaml: ")
	first, _, _ := strings.Cut(yamlPlace.ReplaceAllString(text, ""), "\n")
	return first
}

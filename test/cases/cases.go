// SPDX-License-Identifier: Apache-2.0

// Package cases knows what has gone wrong for people who run servers in this way, from public reports, and which tests show that it
// does not here. A test shows a case by citing its id, B001 and so on, in its doc comment, its body or the doc comment of a table that
// it uses. docs/cases.md is made from this by
//
//	go test ./test/cases -update
package cases

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed cases.tsv
var table string

// Case is one kind of fault that was reported in public.
type Case struct {
	// ID is what tests cite.
	ID string
	// Source is the report.
	Source string
	// Kind of the fault.
	Kind string
	// Must says what has to happen.
	Must string
}

// All cases, in the order of their ids.
func All() ([]Case, error) {
	var all []Case
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("cases.tsv: %d fields in %q", len(fields), line)
		}
		all = append(all, Case{ID: fields[0], Source: fields[1], Kind: fields[2], Must: fields[3]})
	}
	return all, nil
}

// Citation is a test that shows a case.
type Citation struct {
	// File from the root of the checkout.
	File string
	// Test is the name of the top-level function; of a helper's or a table's, where that cites the case.
	Test string
}

var id = regexp.MustCompile(`\bB\d{3}\b`)

// Citations are all tests below root that cite a case, by its id.
func Citations(root string) (map[string][]Citation, error) {
	found := map[string][]Citation{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "testdata", "cases"}, entry.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return cite(path, filepath.ToSlash(name), found)
	})
	return found, err
}

// cite adds what one file cites.
func cite(path, name string, found map[string][]Citation) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !id.Match(source) {
		return nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		test, doc := named(declaration)
		start, end := declaration.Pos(), declaration.End()
		if doc != nil {
			start = doc.Pos()
		}
		text := source[set.Position(start).Offset:set.Position(end).Offset]
		for _, match := range id.FindAll(text, -1) {
			citation := Citation{File: name, Test: test}
			if !slices.Contains(found[string(match)], citation) {
				found[string(match)] = append(found[string(match)], citation)
			}
		}
	}
	return nil
}

func named(declaration ast.Decl) (string, *ast.CommentGroup) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				return s.Names[0].Name, d.Doc
			case *ast.TypeSpec:
				return s.Name.Name, d.Doc
			}
		}
		return "", d.Doc
	}
	return "", nil
}

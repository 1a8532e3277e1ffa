// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Stdin names the standard input among paths.
const Stdin = "-"

// longest file that is read, in bytes: a list of a hundred thousand servers is a tenth of it. Others are named as a problem.
const longest = 1 << 30

// Read reads what was exported: files of YAML or JSON with one object, with several documents, or with lists; directories of them, at any
// depth, as Velero, kubectl and Git lay them out; gzipped tar archives of such a directory; and stdin for the path "-". What cannot be
// read is named in Problems. The error is for a path that does not exist or cannot be opened.
func Read(paths []string, stdin io.Reader) (*Set, error) {
	set := &Set{}
	for _, path := range paths {
		if err := set.read(path, stdin); err != nil {
			return nil, err
		}
	}
	set.sort()
	return set, nil
}

func (s *Set) read(path string, stdin io.Reader) error {
	if path == Stdin {
		s.readFrom("stdin", stdin)
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.readFile(path)
	}
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.problem(Origin{File: file}, "%v", err)
		case entry.IsDir() && file != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir // such as .git
		case entry.Type().IsRegular() && (isManifest(file) || isArchive(file)):
			if err := s.readFile(file); err != nil {
				s.problem(Origin{File: file}, "%v", err)
			}
		}
		return nil
	})
}

func isManifest(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func isArchive(path string) bool {
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
}

// readFile reads a file whatever its name, if it was named itself.
func (s *Set) readFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	if isArchive(path) {
		s.readArchive(path, file)
		return nil
	}
	s.readFrom(path, file)
	return nil
}

func (s *Set) readFrom(name string, from io.Reader) {
	content, err := io.ReadAll(io.LimitReader(from, longest+1))
	switch {
	case err != nil:
		s.problem(Origin{File: name}, "%v", err)
	case len(content) > longest:
		s.problem(Origin{File: name}, "longer than %d bytes", longest)
	default:
		s.decode(name, content)
	}
}

// readArchive reads an archive up to where it is whole.
func (s *Set) readArchive(path string, from io.Reader) {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		s.problem(Origin{File: path}, "not gzipped: %v", err)
		return
	}
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			s.problem(Origin{File: path}, "the archive ends before its end: %v", err)
			return
		}
		if header.Typeflag == tar.TypeReg && isManifest(header.Name) {
			s.readFrom(fmt.Sprintf("%s!%s", path, header.Name), archive)
		}
	}
}

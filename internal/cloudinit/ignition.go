// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	ignition "github.com/coreos/ignition/v2/config"
	ignerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/util"
	latest "github.com/coreos/ignition/v2/config/v3_6_experimental"
	"github.com/coreos/ignition/v2/config/v3_6_experimental/types"
	"github.com/coreos/ignition/v2/config/validate"
	"github.com/coreos/vcontext/report"
)

// trustUnit runs our script before sshd starts, at each boot.
const trustUnit = `# Written by Holdfast.
[Unit]
Description=Trust the SSH certificate authorities of Holdfast
After=sshd-keygen.target
Before=sshd.service sshd.socket

[Service]
Type=oneshot
ExecStart=/bin/sh ` + scriptPath + `

[Install]
WantedBy=multi-user.target
`

// mergeIgnition makes a config that merges the user's, as it is, and one with our files after it: Ignition lets the later override. The
// files are not put into the user's config, because a config that names another to replace it loses all that is in it.
func mergeIgnition(userConfig []byte, files []file) (Rendered, *Error) {
	theirs, rep, err := ignition.Parse(userConfig)
	if err != nil {
		return Rendered{}, invalidIgnition(rep, err)
	}
	version, _, err := util.GetConfigVersion(userConfig)
	if err != nil {
		return Rendered{}, invalidIgnition(report.Report{}, err)
	}
	var ours []byte
	if len(files) > 0 {
		ours = ourConfig(version.String(), files)
		if err := compatible(theirs, ours); err != nil {
			return Rendered{}, err
		}
	}
	return merging(version.String(), userConfig, ours)
}

// merging takes the user's config uncompressed where it fits. References with compression are known from version 3.1 on; a whole
// config that is compressed is never understood.
func merging(version string, theirs, ours []byte) (Rendered, *Error) {
	plain := mergedConfig(version, reference{Source: dataURL(theirs)}, ours)
	if encodedLen(plain) <= MaxEncoded {
		return Rendered{Data: plain, Form: FormIgnition}, nil
	}
	if version == "3.0.0" {
		return Rendered{}, tooLarge(encodedLen(plain))
	}
	compressed := mergedConfig(version, reference{Source: dataURL(compress(theirs)), Compression: "gzip"}, ours)
	if encodedLen(compressed) > MaxEncoded {
		return Rendered{}, errorf(ReasonTooLarge, "%s; compressed, %d", sizes(encodedLen(plain)), encodedLen(compressed))
	}
	return Rendered{Data: compressed, Form: FormIgnition, Compressed: true}, nil
}

// The configs that we write, of members that have been the same since version 3.0: the library's types are each of one version.
type (
	config struct {
		Ignition ignitionMember `json:"ignition"`
		Storage  *storage       `json:"storage,omitempty"`
		Systemd  *systemd       `json:"systemd,omitempty"`
	}
	ignitionMember struct {
		Version string      `json:"version"`
		Config  *references `json:"config,omitempty"`
	}
	references struct {
		Merge []reference `json:"merge"`
	}
	reference struct {
		Source      string `json:"source"`
		Compression string `json:"compression,omitempty"`
	}
	storage struct {
		Files []ignitionFile `json:"files"`
	}
	ignitionFile struct {
		Path      string    `json:"path"`
		Mode      int64     `json:"mode"`
		Overwrite bool      `json:"overwrite"`
		Contents  reference `json:"contents"`
	}
	systemd struct {
		Units []unit `json:"units"`
	}
	unit struct {
		Name     string `json:"name"`
		Enabled  bool   `json:"enabled"`
		Contents string `json:"contents"`
	}
)

func mergedConfig(version string, theirs reference, ours []byte) []byte {
	merge := []reference{theirs}
	if ours != nil {
		merge = append(merge, reference{Source: dataURL(ours)})
	}
	return encode(config{Ignition: ignitionMember{Version: version, Config: &references{Merge: merge}}})
}

func ourConfig(version string, files []file) []byte {
	files = append(slices.Clone(files), file{Path: scriptPath, Permissions: modeFile, Content: string(trustScript)})
	var stored storage
	for _, f := range files {
		mode, err := strconv.ParseInt(f.Permissions, 8, 64)
		if err != nil {
			panic(err) // a constant of ours
		}
		stored.Files = append(stored.Files, ignitionFile{Path: f.Path, Mode: mode, Overwrite: true, Contents: reference{Source: dataURL([]byte(f.Content))}})
	}
	return encode(config{
		Ignition: ignitionMember{Version: version},
		Storage:  &stored,
		Systemd:  &systemd{Units: []unit{{Name: unitName, Enabled: true, Contents: trustUnit}}},
	})
}

func encode(c config) []byte {
	encoded, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append(encoded, '\n')
}

func dataURL(data []byte) string { return "data:;base64," + base64.StdEncoding.EncodeToString(data) }

// compatible merges both as the machine will, and tells what of the user's stands in the way of ours: a file of theirs at a path of
// ours would be replaced without a word, and a link or file where we need a directory fails the boot.
func compatible(theirs types.Config, ours []byte) *Error {
	parsed, rep, err := ignition.Parse(ours)
	if err != nil {
		return invalidIgnition(rep, err)
	}
	taken := map[string]bool{}
	for _, f := range theirs.Storage.Files {
		taken[f.Path] = true
	}
	for _, d := range theirs.Storage.Directories {
		taken[d.Path] = true
	}
	for _, l := range theirs.Storage.Links {
		taken[l.Path] = true
	}
	for _, f := range parsed.Storage.Files {
		if taken[f.Path] {
			return errorf(ReasonPathTaken, "the Ignition config has %s, where Holdfast's own must be", f.Path)
		}
	}
	for _, u := range theirs.Systemd.Units {
		if u.Name == unitName {
			return errorf(ReasonPathTaken, "the Ignition config has the unit %s, which must be Holdfast's own", unitName)
		}
	}
	if rep := validate.ValidateWithContext(latest.Merge(theirs, parsed), nil); rep.IsFatal() {
		return errorf(ReasonPathTaken, "the Ignition config has a link or file above the paths of Holdfast's own in %s", guestDir).because(errors.New(rep.String()))
	}
	return nil
}

// invalidIgnition tells where the library found what, and not what: its texts may quote the config.
func invalidIgnition(rep report.Report, err error) *Error {
	if errors.Is(err, ignerrors.ErrUnknownVersion) {
		return errorf(ReasonIgnitionUnsupported, "the Ignition config is of a version that is not supported: 3.0 to %d.%d are",
			types.MaxVersion.Major, types.MaxVersion.Minor-1).because(err)
	}
	cause, where := err, ""
	if errors.Is(err, ignerrors.ErrInvalidVersion) {
		where = ": it has no version"
	}
	for _, entry := range rep.Entries {
		if entry.Kind == report.Error {
			where, cause = at(entry), errors.New(entry.String())
			break
		}
	}
	return errorf(ReasonMalformed, "the Ignition config is not valid%s", where).because(cause)
}

func at(entry report.Entry) string {
	where := ""
	if entry.Context.Len() > 0 {
		where = ": " + entry.Context.String()
	}
	if entry.Marker.StartP != nil {
		where += ", line " + strconv.FormatInt(entry.Marker.StartP.Line, 10)
	}
	return where
}

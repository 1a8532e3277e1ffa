// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Where our files are on a server. The drop-in sorts first: of a keyword that is said twice sshd takes the first.
const (
	guestDir      = "/etc/ssh/holdfast/"
	keysPath      = guestDir + "user_ca.pub"
	principalsDir = guestDir + "principals/"
	scriptPath    = guestDir + "trust.sh"
	dropinPath    = "/etc/ssh/sshd_config.d/00-holdfast.conf"
	unitName      = "holdfast-ssh-trust.service"

	modeFile = "0644" // sshd refuses principals that a group may write
)

// mergeType lets our part add to the lists of the parts before it and replace nothing, whatever these say of merging (B216).
const mergeType = "list(append)+dict(no_replace,recurse_list)+str()"

// scriptName sorts before cloud-init's names for parts: no script of the user's keeps ours from running.
const scriptName = "00-holdfast-ssh-trust.sh"

// trustScript makes sshd read the drop-in where the distribution's does not, and reloads it.
//
//go:embed guest/trust.sh
var trustScript []byte

// file is one that a server has of us.
type file struct {
	Path        string `json:"path"`
	Permissions string `json:"permissions"`
	Content     string `json:"content"`
}

// files are the keys, the drop-in that names them, and the principals.
func (t *authorities) files() []file {
	dropin := "# Written by Holdfast.\nTrustedUserCAKeys " + keysPath + "\n"
	if t.principals != nil {
		dropin += "AuthorizedPrincipalsFile " + principalsDir + "%u\n"
	}
	files := []file{
		{Path: keysPath, Permissions: modeFile, Content: lines(t.keys)},
		{Path: dropinPath, Permissions: modeFile, Content: dropin},
	}
	for _, name := range slices.Sorted(maps.Keys(t.principals)) {
		if principals := t.principals[name]; len(principals) > 0 {
			files = append(files, file{Path: principalsDir + name, Permissions: modeFile, Content: lines(principals)})
		}
	}
	return files
}

func lines(of []string) string { return strings.Join(of, "\n") + "\n" }

// filesPart is a cloud-config that writes files, before sshd starts on most distributions.
func filesPart(files []file) entity {
	config, err := yaml.Marshal(map[string][]file{"write_files": files})
	if err != nil {
		panic(err) // strings only
	}
	return part("text/cloud-config", append([]byte("#cloud-config\n"), config...),
		header{"Merge-Type", mergeType}, header{"Content-Disposition", `attachment; filename="holdfast-ssh-trust.yaml"`})
}

// scriptPart is a part of its own and no runcmd: an exit in the user's runcmd would end ours too.
func scriptPart() entity {
	return part("text/x-shellscript", trustScript, header{"Content-Disposition", `attachment; filename="` + scriptName + `"`})
}

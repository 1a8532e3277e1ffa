// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// DefaultStateDir is where dev mode keeps its state unless it is told otherwise: in the user's cache, for it can all be made again.
func DefaultStateDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the state of dev mode, give one with --state-dir: %w", err)
	}
	return filepath.Join(cache, "holdfast", "dev"), nil
}

// marker is a file that only a state directory has, so that Wipe removes nothing else.
const marker = ".holdfast-dev"

// prepare makes dir a state directory.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o600); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// Wipe removes a state directory. A folder that is none is left alone, with an error.
func Wipe(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("wipe the state: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
		return fmt.Errorf("%s is no state directory of dev mode (it has no %s): remove it by hand", dir, marker)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("wipe the state: %w", err)
	}
	return nil
}

// places are the files of a state directory.
type places struct{ dir string }

const portsFile = "ports.json"

// ports are kept, so that kubeconfigs in use, the endpoints of BMCs and the address of the cloud stay good from one start to the next.
type ports struct {
	API   int `json:"api"`
	Rack  int `json:"rack"`
	Cloud int `json:"cloud"`
}

// ports gives the ports of the last start; zero for none.
func (p places) ports() (ports, error) {
	var last ports
	content, err := os.ReadFile(filepath.Join(p.dir, portsFile))
	if err == nil {
		err = json.Unmarshal(content, &last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ports{}, fmt.Errorf("read the ports of the last start: %w", err)
	}
	return last, nil
}

func (p places) remember(used ports) error {
	content, err := json.Marshal(used)
	if err != nil {
		return fmt.Errorf("remember the ports: %w", err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, portsFile), content, 0o600); err != nil {
		return fmt.Errorf("remember the ports: %w", err)
	}
	return nil
}

// free returns port where nobody listens on it, else one that is free now.
func free(port int) (int, error) {
	for _, candidate := range []int{port, 0} {
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("0.0.0.0:%d", candidate))
		if err != nil {
			continue
		}
		found := listener.Addr().(*net.TCPAddr).Port
		return found, listener.Close()
	}
	return 0, errors.New("find a free port")
}

// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"os"
	"syscall"
)

func killManager(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	return c.endManager(step.Target, syscall.SIGKILL)
}

func restartManager(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	return c.endManager(step.Target, syscall.SIGTERM)
}

func (c *campaign) endManager(name string, signal syscall.Signal) (func(context.Context) error, error) {
	if c.managers.running(name) == nil {
		return nil, errNothing
	}
	undo := func(context.Context) error { return c.managers.start(name, nil) }
	return undo, c.managers.end(name, signal)
}

// freezeManager stops a manager for longer than its lease lasts: it wakes with what it was about to do, and another leads.
func freezeManager(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	frozen := c.managers.running(step.Target)
	if frozen == nil {
		return nil, errNothing
	}
	undo := func(context.Context) error {
		if err := frozen.command.Process.Signal(syscall.SIGCONT); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil // it was killed meanwhile
	}
	return undo, frozen.command.Process.Signal(syscall.SIGSTOP)
}

// freezeEtcd has the store stand still, and all who write wait.
func freezeEtcd(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	return nil, c.freeze(ctx, step, c.world.env.PauseEtcd, c.world.env.ResumeEtcd)
}

func freezeAPIServer(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	return nil, c.freeze(ctx, step, c.world.env.PauseAPIServer, c.world.env.ResumeAPIServer)
}

// freeze is over when it returns: nobody may take a snapshot meanwhile, which stops and resumes etcd itself.
func (c *campaign) freeze(ctx context.Context, step Step, stop, resume func() error) error {
	c.plane.Lock()
	defer c.plane.Unlock()
	if err := stop(); err != nil {
		return err
	}
	pause(ctx, step.Lasts)
	return resume()
}

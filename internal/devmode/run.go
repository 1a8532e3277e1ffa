// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"errors"
	"io"
)

// Run starts everything, tells people how to reach it, and narrates until ctx ends, which is no error.
func Run(ctx context.Context, options Options, out io.Writer) (err error) {
	stack, err := Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.Close()) }()
	if _, err := stack.Enroll(ctx); err != nil {
		return err
	}
	if err := stack.StartManager(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-stack.ManagerEnded():
		return nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// manager is one run of the operator.
type manager struct {
	stop context.CancelFunc
	done chan struct{} // closed once it has ended
	err  error         // read after done
}

var errEnded = errors.New("the manager has ended by itself")

// StartManager starts a manager with the rights that an installation gives it, and no others: it acts as the operator's service account.
func (s *Stack) StartManager(ctx context.Context) error {
	if s.manager != nil {
		return errors.New("a manager runs already")
	}
	options := s.options.Tempo.operatorOptions()
	options.Config = s.Env.Impersonate(config.OperatorUsername, config.ServiceAccountGroups()...)
	options.Registerer = prometheus.NewRegistry()
	ctx, stop := context.WithCancel(ctx)
	m := &manager{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		err := operator.Run(ctx, options)
		switch {
		case ctx.Err() != nil && errors.Is(err, context.Canceled): // stopped while it was starting
		case ctx.Err() == nil && err == nil:
			m.err = errEnded
		default:
			m.err = err
		}
	}()
	s.manager = m
	return nil
}

// ManagerEnded is closed when the manager ends; StopManager then tells why. It is nil while none was started.
func (s *Stack) ManagerEnded() <-chan struct{} {
	if s.manager == nil {
		return nil
	}
	return s.manager.done
}

// StopManager ends the manager and waits until it has logged out of all BMCs. It does nothing where none runs.
func (s *Stack) StopManager() error {
	if s.manager == nil {
		return nil
	}
	s.manager.stop()
	<-s.manager.done
	err := s.manager.err
	s.manager = nil
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	return nil
}

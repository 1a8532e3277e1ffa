// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	// settleTime is how long after a reset BMCs were seen to refuse, in all sorts of words, what they take at other times.
	settleTime = 5 * time.Minute
	// postTime bounds how long refusals are put down to a POST that goes on: some tell for ever that they are in it.
	postTime = 30 * time.Minute
	// rowSilence is longer than effects are ever put off between two tries (five minutes): refusals that lie further apart are no row.
	rowSilence = 10 * time.Minute
)

// unsettled says that the machine is at such a point: on its way on or off, in POST where that is told, or lately reset by us.
func (t turn) unsettled(s *system) bool {
	facts := t.facts(s)
	return facts.Power == provider.PoweringOn || facts.Power == provider.PoweringOff ||
		facts.BootProgress == provider.BootProgressBooting || t.known.resetLately(s.path, t.opts.Clock())
}

// waitable turns a refusal into patience where it is about the machine's state: by its own words, or because the machine is unsettled
// and the refusal is not about the form of the request. What time does not heal stays Terminal.
func (t turn) waitable(s *system, err error) error {
	var status *statusError
	if !errors.As(err, &status) || provider.ClassOf(err) != provider.Terminal {
		return err
	}
	if !anyOf(status.messages, stateMessages) &&
		(status.status != http.StatusBadRequest || anyOf(status.messages, formMessages) || !t.unsettled(s) ||
			t.known.refusedFor(s.path, t.opts.Clock()) >= postTime) {
		return err
	}
	return inThisState(status)
}

func inThisState(status *statusError) error {
	return fail(provider.Busy, provider.ReasonBusy, refusal(status.status, status.messages)+": in the machine's present state, for all that can be told", status)
}

// SPDX-License-Identifier: Apache-2.0

// Package conformance is what every provider of metal must pass: the promises of package provider, each checked against machines
// whose truth is seen from outside the provider.
//
// A provider runs it from a test with a Bed of its own:
//
//	conformance.Run(t, func(t testing.TB, start conformance.Start) conformance.Machine { … })
package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Start is how a fresh machine is.
type Start struct {
	Power    provider.PowerState // On or Off; On means that its operating system runs
	AssetTag string
}

// Bed makes a fresh machine for one test and takes it away when the test ends. Nothing is armed or lit on it. What it cannot do it tells
// by Lacks.
type Bed func(t testing.TB, start Start) Machine

// Machine is one machine with the provider under test. What is not Observer or Actor looks at the machine past the provider.
type Machine interface {
	Observer() provider.Observer
	Actor() provider.Actor
	// Ref names the machine by UUID and by Id.
	Ref() provider.SystemRef

	// Power, AssetTag, Override and Indicator are how the machine truly is.
	Power() provider.PowerState
	AssetTag() string
	Override() provider.BootOverride
	Indicator() provider.IndicatorLED
	// Media is the image in the virtual CD drive, "" where there is none.
	Media() string
	// Booted is what the machine has booted since it was made, oldest first: images by URL.
	Booted() []string

	// Settle lets the machine finish what it is about, without waiting.
	Settle()
	// SwitchOff is somebody at the power button.
	SwitchOff()
	// Writes counts what the provider sent that was to change the machine, ever. Writes refused for want of a
	// precondition do not count: they changed nothing and are part of asking.
	Writes() int
	// RefusedLogins counts how often the provider showed credentials and was refused, ever.
	RefusedLogins() int

	// Lacks says that the machine does not have that; cases that need it are left out, and those about its lack are run.
	Lacks(Feature) bool

	// Break injects trouble until Repair.
	Break(Trouble)
	Repair()
	// Secrets are what must appear in no error.
	Secrets() []string
}

// Feature is what not every machine has.
type Feature int

const (
	// Always is what every machine has.
	Always Feature = iota
	// MediaDrive is a drive for virtual media.
	MediaDrive
	// HTTPBoot is a URI to boot from over HTTP.
	HTTPBoot
)

// Trouble is something that goes wrong between provider and machine.
type Trouble int

const (
	// Unreachable: connections are refused.
	Unreachable Trouble = iota
	// Silent: connections open and nothing answers.
	Silent
	// LosesReply: writes are carried out, and the connection breaks before the answer.
	LosesReply
	// Fails: every request is answered with a server error.
	Fails
	// Busy: every request is answered with "not now, ask again in 7 seconds".
	Busy
	// WrongCredentials: the credentials are no longer right.
	WrongCredentials
	// CutsAnswers: answers to reads end in the middle.
	CutsAnswers
	// AltersTags: an asset tag is kept, but shortened.
	AltersTags
	// IgnoresResets: resets are accepted and have no effect.
	IgnoresResets
	// FailsTasks: work that goes on as a task comes to nothing.
	FailsTasks
)

// RetryAfter is what a machine in trouble Busy asks for.
const RetryAfter = 7 * time.Second

// callTimeout bounds every call of the suite.
const callTimeout = 20 * time.Second

// Run runs the suite.
func Run(t *testing.T, bed Bed) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"look", lookCases}, {"precondition", preconditionCases}, {"power", powerCases},
		{"boot", bootCases}, {"http", httpCases}, {"media", mediaCases}, {"task", taskCases}, {"stamp", stampCases}, {"indicator", indicatorCases}, {"trouble", troubleCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					start := c.start
					if start.Power == "" {
						start.Power = provider.PowerOff
					}
					m := bed(t, start)
					if m.Lacks(c.needs) || (c.without != Always && !m.Lacks(c.without)) {
						t.Skip("not this kind of machine")
					}
					c.run(newFixture(t, m))
				})
			}
		})
	}
}

type testCase struct {
	name  string // the behaviour, as a sentence
	start Start
	run   func(f *fixture)
	// needs and without are what the machine must have and must lack.
	needs, without Feature
}

// fixture is a machine with what the cases ask again and again.
type fixture struct {
	*testing.T
	Machine
	ctx context.Context //nolint:containedctx // of one test
}

func newFixture(t *testing.T, m Machine) *fixture {
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	t.Cleanup(cancel)
	return &fixture{T: t, Machine: m, ctx: ctx}
}

// byUUID names the machine by UUID alone.
func (f *fixture) byUUID() provider.SystemRef { return provider.SystemRef{UUID: f.Ref().UUID} }

// look takes a picture that must come.
func (f *fixture) look() provider.SystemFacts {
	f.Helper()
	facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthState, "")
	if err != nil {
		f.Fatalf("Observe: %v", err)
	}
	return facts
}

// quiet runs do, and wants that it wrote nothing.
func (f *fixture) quiet(do func()) {
	f.Helper()
	before := f.Writes()
	do()
	if n := f.Writes() - before; n != 0 {
		f.Errorf("%d writes reached the machine, want none", n)
	}
}

// once runs do, and wants one write.
func (f *fixture) once(do func()) {
	f.Helper()
	before := f.Writes()
	do()
	if n := f.Writes() - before; n != 1 {
		f.Errorf("%d writes reached the machine, want one", n)
	}
}

// done wants that an acting call was carried out.
func (f *fixture) done(out provider.Outcome, err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("the call failed: %v", err)
	}
	if out.Unchanged {
		f.Fatal("the call found nothing to do")
	}
}

// unchanged wants that an acting call found nothing to do.
func (f *fixture) unchanged(out provider.Outcome, err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("the call failed: %v", err)
	}
	if !out.Unchanged {
		f.Error("the call does not say that nothing was to be done")
	}
}

// fails wants an error of that class, and of that reason if one is given. It must be whole and hold no secret.
func (f *fixture) fails(err error, class provider.Class, reason string) {
	f.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		f.Fatalf("got %v, want a provider.Error", err)
	}
	if e.Class != class || (reason != "" && e.Reason != reason) {
		f.Errorf("got %v, want class %s, reason %s", e, class, reason)
	}
	if e.Reason == "" || e.Message == "" || len(e.Message) >= 256 || strings.ContainsAny(e.Message, "\r\n") {
		f.Errorf("reason %q and message %q are not fit to be shown", e.Reason, e.Message)
	}
	for _, secret := range f.Secrets() {
		if strings.Contains(e.Error(), secret) {
			f.Errorf("the error shows a secret: %v", e)
		}
	}
}

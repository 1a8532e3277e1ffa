// SPDX-License-Identifier: Apache-2.0

// Package cloud is what every provider of virtual machines must pass: the promises of package provider, each checked against a project
// whose truth is seen from outside the provider.
//
// A provider runs it from a test with a Bed of its own:
//
//	cloud.Run(t, func(t testing.TB) cloud.Project { … })
package cloud

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Bed makes a project for one test, in which nothing bears Owner, and sees to it that nothing of the test is left when it ends.
type Bed func(t testing.TB) Project

// Project is one project of a cloud with the provider under test. What is not Observer or Actor looks and acts past the provider: it is
// somebody else with access to the project.
type Project interface {
	Observer() provider.CloudObserver
	Actor() provider.CloudActor
	// Another is the Actor of another process: it shares nothing with Actor but the cloud.
	Another() provider.CloudActor
	// Owner is the id of the cluster whose things these are.
	Owner() string
	Offer() Offer

	// VMs, Ports and FloatingIPs are what there truly is under that name or identity.
	VMs(name string) []VM
	Ports(identity string) []Port
	FloatingIPs(identity string) []FloatingIP

	// MakeVM makes a VM without a port of ours.
	MakeVM(name string, tags []string, metadata map[string]string) (id string)
	// MakePort makes a port that nobody uses.
	MakePort(description string) (id string)
	// StripVM takes the tags of a VM away.
	StripVM(id string)
	RemoveVM(id string)
	RemovePort(id string)
	// StopVM switches a VM off.
	StopVM(id string)
	SetGroups(port string, groups ...string)
	// GiveFloatingIP allocates a floating IP of no identity and leads it to the port.
	GiveFloatingIP(port string) (id string)

	// Settle lets the cloud finish what it is about, as far as it is about Owner's things.
	Settle()
	// LetLapse lets so much time pass that a request sent before is not carried out any more.
	LetLapse()
	// Writes counts what the provider sent that was to change something at the cloud, ever. Logins do not count.
	Writes() int
	// Requests counts all that the provider sent, logins too.
	Requests() int

	// Lacks says that this cannot be had from this cloud; cases that need it are left out.
	Lacks(Feature) bool
	// Break injects trouble until Repair.
	Break(Trouble)
	Repair()
	// Secrets are what must appear in no error.
	Secrets() []string
}

// VM, Port and FloatingIP are as the cloud tells them to somebody else.
type (
	// VM of the project.
	VM struct {
		ID, Name, State, Image string
		Tags                   []string
		Metadata               map[string]string
		Launched               bool
	}
	// Port of the project.
	Port struct {
		ID, Name, Description, Device string
		Groups, Tags                  []string
		Revision                      int
	}
	// FloatingIP of the project.
	FloatingIP struct {
		ID, Description, Port string
		Tags                  []string
	}
)

// Offer is what there is to make VMs of, by name.
type Offer struct {
	Flavor, Image, OtherImage, BrokenImage string
	// Unhostable is a flavor for which no host is large enough.
	Unhostable      string
	Network, Public string // Public is where floating IPs come from
	Group           string // a security group
	GroupID         string
	Zone            string
}

// Feature is what not every cloud lets a test have.
type Feature int

const (
	// Always is what every project has.
	Always Feature = iota
	// Troubles can be injected.
	Troubles
	// Quotas can be lowered, by the trouble NoQuota.
	Quotas
	// Duplicates of what is on offer can be made, by the trouble TwoImages.
	Duplicates
	// Time can be made to pass.
	Time
)

// Trouble is something that goes wrong at the cloud, or between it and the provider.
type Trouble int

const (
	// Unreachable: connections are refused.
	Unreachable Trouble = iota
	// LosesReply: whatever is to be made is made, and the connection breaks before the answer.
	LosesReply
	// SlowCreation: the next creation of a VM is carried out only after Settle, and the connection breaks at once.
	SlowCreation
	// Fails: every request is answered with a server error.
	Fails
	// RateLimits: the next request is answered with "too many, ask again in RetryAfter".
	RateLimits
	// WrongCredentials: the credentials are no longer right.
	WrongCredentials
	// TokensDie: all tokens given out so far are no longer good.
	TokensDie
	// TokensAreRefused: tokens are given out and taken nowhere.
	TokensAreRefused
	// LoginIsLimited: the identity service asks for fewer requests, in RetryAfter.
	LoginIsLimited
	// OldCompute: the compute service speaks no version that knows tags.
	OldCompute
	// ProxyPages: everything is answered 404 by a proxy that does not know the way.
	ProxyPages
	// Garbage: answers to reads end in the middle.
	Garbage
	// NoQuota: the quota of VMs is used up.
	NoQuota
	// NoPortQuota: the quota of ports is used up.
	NoPortQuota
	// TwoImages: there is a second image of the same name.
	TwoImages
	// SmallPages: a page of a listing has two rows.
	SmallPages
)

// RetryAfter is what a cloud in trouble asks for.
const RetryAfter = 7 * time.Second

// callTimeout bounds every case of the suite: a real cloud may have others to serve.
const callTimeout = 15 * time.Minute

// Run runs the suite.
func Run(t *testing.T, bed Bed) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"look", lookCases}, {"create", createCases}, {"once", onceCases}, {"failed", failedCases}, {"dismantle", dismantleCases}, {"ports", portCases},
		{"floating-ip", floatingIPCases}, {"power", powerCases}, {"rebuild", rebuildCases}, {"stamp", stampCases}, {"trouble", troubleCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					p := bed(t)
					for _, need := range c.needs {
						if p.Lacks(need) {
							t.Skip("this cloud does not let a test do that")
						}
					}
					c.run(newFixture(t, p))
				})
			}
		})
	}
}

type testCase struct {
	name  string // the behaviour, as a sentence
	run   func(f *fixture)
	needs []Feature
}

// fixture is a project with what the cases ask again and again.
type fixture struct {
	*testing.T
	Project
	ctx  context.Context //nolint:containedctx // of one test
	ref  provider.InstanceRef
	spec provider.InstanceSpec
}

func newFixture(t *testing.T, p Project) *fixture {
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	t.Cleanup(cancel)
	identity := uuid.NewString()
	offer := p.Offer()
	return &fixture{
		T: t, Project: p, ctx: ctx,
		ref: provider.InstanceRef{Identity: identity, Owner: p.Owner(), Name: p.Owner() + "-" + identity[:8]},
		spec: provider.InstanceSpec{
			Flavor: provider.Selector{Name: offer.Flavor}, Image: provider.Selector{Name: offer.Image}, Claim: "claim-1",
			UserData: []byte("#cloud-config\n# canary-user-data\n"),
			Ports:    []provider.PortSpec{{Network: provider.Selector{Name: offer.Network}, SecurityGroups: []provider.Selector{{Name: offer.Group}}}},
		},
	}
}

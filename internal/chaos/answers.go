// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

type serverAnswer func(ctx context.Context, p *person, server *v1alpha1.Server) error

// serverAnswers are what a person does about Servers, by the reason for which they are held.
var serverAnswers = map[string]serverAnswer{
	v1alpha1.ReasonFoundRunning:     switchOff,
	v1alpha1.ReasonStampMismatch:    switchOff,
	v1alpha1.ReasonBootNotConfirmed: tellWhetherBooted,
	v1alpha1.ReasonClaimMissing:     findClaim,
	v1alpha1.ReasonClaimMismatch:    letGo,
	v1alpha1.ReasonBoundElsewhere:   endOther,
	v1alpha1.ReasonMaintenanceMissing: func(ctx context.Context, p *person, s *v1alpha1.Server) error {
		return p.clear(ctx, s, "maintenanceRef")
	},
	v1alpha1.ReasonRestoredSnapshot: resume,
	v1alpha1.ReasonCreateFailed: func(ctx context.Context, p *person, s *v1alpha1.Server) error {
		return p.annotate(ctx, s, v1alpha1.AnnotationRetry, identityOf(s))
	},
	v1alpha1.ReasonLost:            giveUpVM,
	v1alpha1.ReasonSystemReplaced:  enrollAnew,
	v1alpha1.ReasonUserDataMissing: makeUserData,
	v1alpha1.ReasonFoundExisting:   adoptVM,
}

type claimAnswer func(ctx context.Context, p *person, claim *v1alpha1.ServerClaim) error

// claimAnswers are what a person does about claims. A claim that is held because its Server is gets well with it.
var claimAnswers = map[string]claimAnswer{
	v1alpha1.ReasonServerMissing:   findServer,
	v1alpha1.ReasonServerReplaced:  giveUpClaim,
	v1alpha1.ReasonServerTaken:     giveUpClaim,
	v1alpha1.ReasonAlreadyReleased: giveUpClaim,
	v1alpha1.ReasonClaimRestored:   findMachine,
}

type bmcAnswer func(ctx context.Context, p *person, bmc *v1alpha1.BMC) error

// bmcAnswers are what a person does about BMCs.
var bmcAnswers = map[string]bmcAnswer{
	v1alpha1.ReasonCredentialsInvalid: func(ctx context.Context, p *person, bmc *v1alpha1.BMC) error { return p.rotate(ctx, idOf(bmc)) },
	v1alpha1.ReasonServerMissing:      findServers,
}

// switchOff consents to a machine being switched off, once nobody needs it.
func switchOff(ctx context.Context, p *person, server *v1alpha1.Server) error {
	if err := p.vacate(ctx, server, ""); err != nil {
		return err
	}
	if machine := p.world.machineOf(server); machine != nil {
		stranger := strangerOn(machine.BMC().Name())
		if machine.Status().Disk == watch.ImageURL(stranger) { // a person finds out whose it is, and that it may go
			p.journal.note(judge.Event{Kind: judge.GaveUp, Tenant: stranger})
		}
	}
	return p.consent(ctx, judge.Event{Kind: judge.ConsentedOff}, server, v1alpha1.AnnotationPowerOff, asked(server, v1alpha1.AnnotationPowerOff))
}

// adoptVM has a server take a VM that bears its name under another identity, where that is its tenant's own, as after a claim forgot who it was;
// otherwise its tenant does without.
func adoptVM(ctx context.Context, p *person, server *v1alpha1.Server) error {
	t := p.tenantOf(server)
	if t == nil {
		return errNothing
	}
	if vm := p.world.vmNamed(server.Name); vm.ID != "" && vm.UserData == encodedUserData(t) && !t.over() {
		return p.annotate(ctx, server, v1alpha1.AnnotationAdopt, vm.ID)
	}
	return p.tenants.giveUp(ctx, t)
}

// tellWhetherBooted says what is on the machine's disk.
func tellWhetherBooted(ctx context.Context, p *person, server *v1alpha1.Server) error {
	ref := server.Spec.ClaimRef
	if ref == nil {
		return errNothing
	}
	t := p.tenants.get(ref.Name)
	switch {
	case t == nil:
		return errNothing
	case p.world.installedFor(server, t):
		return p.annotate(ctx, server, v1alpha1.AnnotationBooted, ref.Identity)
	}
	return p.consent(ctx, judge.Event{Kind: judge.ConsentedBoot, Tenant: t.id}, server, v1alpha1.AnnotationBootAgain, ref.Identity)
}

// findClaim restores the claim that has the server if its tenant still wants it, and lets the server go otherwise.
func findClaim(ctx context.Context, p *person, server *v1alpha1.Server) error {
	ref := server.Spec.ClaimRef
	if ref == nil {
		return errNothing
	}
	t := p.tenants.get(ref.Name)
	last := p.sight.newest(id{"claim", client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}}, restorable)
	if t == nil || t.over() || last == nil {
		return letGo(ctx, p, server)
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	p.tenants.broughtBack(time.Now(), last.(*v1alpha1.ServerClaim))
	return ignoreExists(p.world.admin.Create(ctx, asBackup(last)))
}

// letGo has the tenant of a server's claim give up, and clears the reference: a release.
func letGo(ctx context.Context, p *person, server *v1alpha1.Server) error {
	if server.Spec.ClaimRef == nil {
		return errNothing
	}
	if t := p.tenants.get(server.Spec.ClaimRef.Name); t != nil {
		if err := p.tenants.giveUp(ctx, t); err != nil {
			return err
		}
	}
	if err := p.clear(ctx, server, "claimRef"); err != nil || server.Spec.ClassRef == nil {
		return err
	}
	// A VM that was made for a claim is nobody's without it: it would run on as a Server of its own.
	return client.IgnoreNotFound(p.world.admin.Delete(ctx, server.DeepCopy()))
}

// endOther has the tenants give up whose claims are bound to a machine that another claim has.
func endOther(ctx context.Context, p *person, server *v1alpha1.Server) error {
	var failures []error
	for name, claim := range seen[*v1alpha1.ServerClaim](p.sight) {
		has := server.Spec.ClaimRef != nil && server.Spec.ClaimRef.Name == name
		if t := p.tenants.get(name); t != nil && !has && claim.Annotations[ledger.KeyBound] == identityOf(server) {
			failures = append(failures, p.tenants.giveUp(ctx, t))
		}
	}
	return errors.Join(failures...)
}

// resume lets a server go on after the cluster was restored, when what runs on its machine is what the object says.
func resume(ctx context.Context, p *person, server *v1alpha1.Server) error {
	claim := ""
	if ref := server.Spec.ClaimRef; ref != nil {
		claim = ref.Name
	}
	if t := p.occupant(server); t != nil && t.name != claim {
		if err := p.tenants.giveUp(ctx, t); err != nil {
			return err
		}
		return p.consent(ctx, judge.Event{Kind: judge.ConsentedOff}, server, v1alpha1.AnnotationResume, asked(server, v1alpha1.AnnotationResume))
	}
	return p.annotate(ctx, server, v1alpha1.AnnotationResume, asked(server, v1alpha1.AnnotationResume))
}

// giveUpVM gives up a VM that the cloud has lost.
func giveUpVM(ctx context.Context, p *person, server *v1alpha1.Server) error {
	if ref := server.Spec.ClaimRef; ref != nil {
		if t := p.tenants.get(ref.Name); t != nil {
			return p.tenants.giveUp(ctx, t)
		}
	}
	return client.IgnoreNotFound(p.world.admin.Delete(ctx, server.DeepCopy()))
}

// makeUserData makes the secret anew that a claim was brought back without: it came after the snapshot of the cluster that was restored.
func makeUserData(ctx context.Context, p *person, server *v1alpha1.Server) error {
	t := p.tenantOf(server)
	if t == nil {
		return errNothing
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	return ignoreExists(p.world.admin.Create(ctx, userData(t)))
}

// enrollAnew deletes a Server that is not the machine's, which the BMC makes anew.
func enrollAnew(ctx context.Context, p *person, server *v1alpha1.Server) error {
	if err := p.vacate(ctx, server, ""); err != nil {
		return err
	}
	return client.IgnoreNotFound(p.world.admin.Delete(ctx, server.DeepCopy()))
}

// findServer restores the server of a claim.
func findServer(ctx context.Context, p *person, claim *v1alpha1.ServerClaim) error {
	last := p.sight.newest(id{"server", client.ObjectKey{Name: claim.Spec.ServerName}}, restorable)
	if last == nil {
		return giveUpClaim(ctx, p, claim)
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	return ignoreExists(p.world.admin.Create(ctx, asBackup(last)))
}

// findMachine brings the copy of a claim back that knows what it got. Where nobody ever saw one, and no machine is its tenant's, it never had
// a machine, and may choose.
func findMachine(ctx context.Context, p *person, claim *v1alpha1.ServerClaim) error {
	t := p.tenants.get(claim.Name)
	if t == nil || t.over() {
		return giveUpClaim(ctx, p, claim)
	}
	last := p.sight.newest(idOf(claim), func(o object) bool {
		return restorable(o) && identityOf(o) == identityOf(claim) && o.GetAnnotations()[ledger.KeyBound] != ""
	})
	switch {
	case last == nil && p.hasMachine(t):
		return giveUpClaim(ctx, p, claim)
	case last == nil:
		return p.annotate(ctx, claim, v1alpha1.AnnotationChooseAnew, string(claim.UID))
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	if err := p.destroy(ctx, claim); err != nil {
		return err
	}
	p.tenants.broughtBack(time.Now(), last.(*v1alpha1.ServerClaim))
	return ignoreExists(p.world.admin.Create(ctx, asBackup(last)))
}

// hasMachine says that some machine is a tenant's, whatever objects say.
func (p *person) hasMachine(t *tenancy) bool {
	for _, server := range seen[*v1alpha1.Server](p.sight) {
		if p.world.look(server).of(t) {
			return true
		}
	}
	return false
}

// findServers restores the Server that a restored BMC waits for, or has it made anew where nobody has kept it.
func findServers(ctx context.Context, p *person, bmc *v1alpha1.BMC) error {
	last := p.sight.newest(id{"server", client.ObjectKey{Name: bmc.Name}}, restorable)
	if last == nil {
		return p.annotate(ctx, bmc, v1alpha1.AnnotationEnrollAnew, string(bmc.UID))
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	return ignoreExists(p.world.admin.Create(ctx, asBackup(last)))
}

func giveUpClaim(ctx context.Context, p *person, claim *v1alpha1.ServerClaim) error {
	if t := p.tenants.get(claim.Name); t != nil {
		return p.tenants.giveUp(ctx, t)
	}
	return client.IgnoreNotFound(p.world.admin.Delete(ctx, claim.DeepCopy()))
}

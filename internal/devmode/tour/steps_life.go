// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Who has what in the tour: web asks for a server by name, batch by labels. The server of web bears an asset tag that a person wrote.
const (
	web, webServer = "web", "rack1-u02"
	webTag         = "INV-4711"
	webImage       = "http://images.example/debian-12.iso"
	batchImage     = "http://images.example/flatcar.efi"
	batch          = "batch"
	batchRack      = "r2"
	batchServer    = "rack2-u01" // the first by name of two alike
)

// Keys of what is kept for later steps.
const (
	keptWebServer   = "the server of web"
	keptWebClaim    = "the claim web"
	keptBatchClaim  = "the claim batch"
	keptOlderServer = "the server of batch as it was before the claim"
)

func enroll(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if err := t.stack.StartManager(ctx); err != nil {
		return err
	}
	names, err := t.stack.Enroll(ctx)
	if err != nil {
		return err
	}
	t.did("registered %d BMCs (TLS, a CA of their own) and their credentials", len(names))
	for _, name := range names {
		if err := t.serverIs(ctx, name, v1alpha1.PhaseAvailable); err != nil {
			return err
		}
	}
	if err := t.checked("servers Available and Ready", len(names), 4); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	if err := t.wrote(m); err != nil {
		return err
	}
	return t.keepEarly(ctx)
}

// wrote tells how often the operator wrote to the API server since m.
func (t *tour) wrote(m mark) error {
	f, err := t.since(m)
	if err == nil {
		t.saw("API writes of the operator: %s", f.objects())
	}
	return err
}

// keepEarly keeps, for later disasters, what is true before any claim.
func (t *tour) keepEarly(ctx context.Context) error {
	server, err := t.server(ctx, webServer)
	if err != nil {
		return err
	}
	hardware := server.Status.Observed.Hardware
	if hardware == nil {
		return fmt.Errorf("server %s has no inventory", webServer)
	}
	t.saw("%s: %s %s, %d cores, %s memory, %d drives, asset tag %q", webServer, hardware.Manufacturer, hardware.Model,
		hardware.CPUs.Cores, hardware.Memory, hardware.DriveCount, server.Status.Observed.AssetTag)
	if t.keptStatus, err = statusOf(server); err != nil {
		return err
	}
	return t.backup(ctx, keptOlderServer, serverNamed(batchServer))
}

func claimTwo(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	byName, byLabels := claimNamed(web), claimNamed(batch)
	byName.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: webServer}
	byName.Spec.Boot = v1alpha1.ClaimBoot{Method: v1alpha1.BootVirtualMedia, Image: webImage}
	byLabels.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"rack": batchRack}}
	byLabels.Spec.Boot = v1alpha1.ClaimBoot{Method: v1alpha1.BootHTTP, Image: batchImage}
	for _, claim := range []*v1alpha1.ServerClaim{byName, byLabels} {
		if err := t.tenant.Create(ctx, claim); err != nil {
			return fmt.Errorf("create the claim %s: %w", claim.Name, err)
		}
	}
	t.did("a tenant claims %s by name (%s), to be installed by virtual media, and a server with rack=%s (%s), by HTTP boot", webServer, web, batchRack, batch)
	chosen, err := t.claimReady(ctx, batch)
	if err != nil {
		return err
	}
	if err := t.checked("server chosen for "+batch, chosen, batchServer); err != nil {
		return err
	}
	for server, claim := range map[string]string{webServer: web, batchServer: batch} {
		if err := t.runs(ctx, server, claim); err != nil {
			return err
		}
	}
	if err := t.called(m, 2, webServer+" On", batchServer+" On"); err != nil {
		return err
	}
	if err := t.installedBy(ctx, m); err != nil {
		return err
	}
	return t.wrote(m)
}

// installedBy checks what each machine was installed from, and that no image is left in a drive.
func (t *tour) installedBy(ctx context.Context, m mark) error {
	f, err := t.since(m)
	if err != nil {
		return err
	}
	for _, install := range f.installs {
		want, source := webImage, "Cd"
		if install.BMC == batchServer {
			want, source = batchImage, "UefiHttp"
		}
		if err := t.checked("installed on "+install.BMC, install.Detail, want); err != nil {
			return err
		}
		if err := t.checked("booted from", firstSource(f.boots, install.BMC), source); err != nil {
			return err
		}
	}
	err = t.until(ctx, "the image out of the drive of "+webServer, func(ctx context.Context) error {
		server, err := t.server(ctx, webServer)
		if err != nil {
			return err
		}
		if image := t.stack.Machine(webServer).Status().Media; image != "" || server.Status.Observed.Media != nil {
			return fmt.Errorf("%q is in it", image)
		}
		return nil
	})
	if err == nil {
		t.saw("the image was ejected from %s once its system was up", webServer)
	}
	return err
}

// firstSource is what a machine booted from first.
func firstSource(boots []sim.Event, bmc string) string {
	for _, boot := range boots {
		if boot.BMC == bmc {
			return boot.Source
		}
	}
	return ""
}

// called checks, since m, the power calls, sorted, and how many disks were written over.
func (t *tour) called(m mark, installs int, resets ...string) error {
	f, err := t.since(m)
	if err != nil {
		return err
	}
	if err := t.checked("power calls", f.resets(), joined(resets)); err != nil {
		return err
	}
	return t.checked("disks installed", len(f.installs), installs)
}

func tenantPowersOff(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	t.stack.Machine(webServer).PowerOffByTenant()
	t.did("the system on %s switches its machine off", webServer)
	if err := t.runsAgain(ctx, m); err != nil {
		return err
	}
	return t.called(m, 0, webServer+" On")
}

// runsAgain waits until web's machine was started from its disk since m, and is up.
func (t *tour) runsAgain(ctx context.Context, m mark) error {
	err := t.until(ctx, "machine of "+webServer+" started again", func(context.Context) error {
		f, err := t.since(m)
		if err != nil {
			return err
		}
		for _, boot := range f.boots {
			if boot.BMC == webServer {
				return nil
			}
		}
		return fmt.Errorf("power calls: %s", f.resets())
	})
	if err != nil {
		return err
	}
	if err := t.runs(ctx, webServer, web); err != nil {
		return err
	}
	f, err := t.since(m)
	if err != nil {
		return err
	}
	return t.checked("booted from", f.boots[len(f.boots)-1].Source, "Hdd")
}

func restart(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"spec":{"restartedAt":%q}}`, time.Now().UTC().Format(time.RFC3339))
	if err := t.tenant.Patch(ctx, claimNamed(web), client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		return err
	}
	t.did("the tenant sets spec.restartedAt of %s", web)
	if err := t.runsAgain(ctx, m); err != nil {
		return err
	}
	return t.called(m, 0, webServer+" GracefulShutdown", webServer+" On")
}

func release(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	claim := claimNamed(web)
	if err := t.tenant.Delete(ctx, claim); err != nil {
		return err
	}
	t.did("the tenant deletes the claim %s", web)
	if err := t.gone(ctx, claim); err != nil {
		return err
	}
	if err := t.serverIs(ctx, webServer, v1alpha1.PhaseAvailable); err != nil {
		return err
	}
	machine := t.stack.Machine(webServer).Status()
	if err := t.checked("machine", string(machine.Power), "Off"); err != nil {
		return err
	}
	if err := t.checked("asset tag, as a person had written it", machine.AssetTag, webTag); err != nil {
		return err
	}
	if err := t.called(m, 0, webServer+" GracefulShutdown"); err != nil {
		return err
	}
	return t.wrote(m)
}

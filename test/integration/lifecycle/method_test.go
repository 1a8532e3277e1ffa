// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

const image = "http://images.example/debian-12.iso"

// playing lets the machine be one of a vendor's model.
func playing(profile string) func(*harness.Enrollment) {
	return func(e *harness.Enrollment) {
		p := sim.Profiles()[profile]
		e.Simulated.Profile = &p
	}
}

func bootBy(method v1alpha1.BootMethod) func(*v1alpha1.ServerClaim) {
	return func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Method, c.Spec.Boot.Image = method, image }
}

// An image is inserted, booted once, and taken out when the operating system is up; at rest nothing is left of it. At the next Off the
// machine boots from its disk (I10, B104), and a release leaves an empty drive. The models differ in where the drive hangs, how an image
// is inserted, and what they call the boot target.
func TestAClaimBootsByVirtualMedia(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"hpe-ilo6", "supermicro-x13", "conforming"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "media")
			machine := k.Enroll(playing(profile))
			mark := k.Mark()
			claim := k.Booted(machine.Name, bootBy(v1alpha1.BootVirtualMedia))
			k.Until("the image ejected and forgotten", ejected(k, machine))
			expectBootedFrom(k, mark, machine, "Cd", "CD/DVD", "UsbCd")
			expectMediaOrder(k, mark, machine)

			off := k.Mark()
			machine.PowerOffByTenant()
			k.UntilPower(machine, v1alpha1.ObservedOn)
			k.UntilQuiet(machine.Name)
			if f := k.Since(off, machine); f.Armings() != 0 || len(f.Installs) != 0 || len(mediaWrites(f)) != 0 {
				t.Errorf("armed %d times, installed %d times, media writes %v", f.Armings(), len(f.Installs), mediaWrites(f))
			}
			k.Delete(claim)
			k.UntilGone(claim)
			if status := machine.Status(); status.Media != "" || status.Power != sim.PowerOff {
				t.Errorf("released with %q in the drive, power %s", status.Media, status.Power)
			}
		})
	}
}

// A machine that does not tell how far it has booted keeps its image until its next Off: pulling it earlier might pull it from under the
// installer (B123). The image goes before the machine is powered on from its disk, and with a release.
func TestTheImageGoesAtTheNextOff(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"dell-idrac9", "lenovo-xcc"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "mediaoff")
			machine := k.Enroll(playing(profile))
			mark := k.Mark()
			claim := k.Claim(machine.Name, bootBy(v1alpha1.BootVirtualMedia))
			k.UntilReady(claim)
			k.Until("its system installed and up", func(context.Context) error {
				if s := machine.Status(); s.Progress != "OSRunning" || s.Disk != image {
					return fmt.Errorf("progress %s, disk %q", s.Progress, s.Disk)
				}
				return nil
			})
			k.Watched(mark, machine)
			if s := machine.Status(); s.Media != image || s.Power != sim.PowerOn {
				t.Errorf("%q in the drive, power %s: the image was pulled while it may be in use", s.Media, s.Power)
			}

			off := k.Mark()
			machine.PowerOffByTenant()
			k.Until("powered on from disk", restarted(k, off, machine))
			k.UntilRunning(machine)
			k.Until("the image ejected and forgotten", ejected(k, machine))
			expectBootedFrom(k, mark, machine, "Cd")
			if f := k.Since(off, machine); f.Armings() != 0 || len(f.Boots) != 1 || f.Boots[0].Source != "Hdd" {
				t.Errorf("armed %d times, boots %+v", f.Armings(), f.Boots)
			}
			expectMediaOrder(k, mark, machine)
			k.Delete(claim)
			k.UntilGone(claim)
		})
	}
}

// A release takes the image out before the server is free, also of a machine that never got so far as to eject it by itself.
func TestAReleaseTakesTheImageOut(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "mediarelease")
	machine := k.Enroll(playing("dell-idrac9"))
	claim := k.Claim(machine.Name, bootBy(v1alpha1.BootVirtualMedia))
	k.UntilReady(claim)
	if s := machine.Status(); s.Media != image {
		t.Fatalf("%q in the drive", s.Media)
	}
	k.Delete(claim)
	k.UntilGone(claim)
	if s := machine.Status(); s.Media != "" {
		t.Errorf("released with %q in the drive", s.Media)
	}
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
}

// The firmware is given the image's URL for one boot.
func TestAClaimBootsByHTTP(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"conforming", "nvidia-dgx-h100"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "http")
			machine := k.Enroll(playing(profile))
			mark := k.Mark()
			claim := k.Claim(machine.Name, bootBy(v1alpha1.BootHTTP))
			k.UntilReady(claim)
			k.UntilRunning(machine)
			expectBootedFrom(k, mark, machine, "UefiHttp")
			if f := k.Since(mark, machine); len(mediaWrites(f)) != 0 {
				t.Errorf("media writes: %v", mediaWrites(f))
			}
			k.Delete(claim)
			k.UntilGone(claim)
		})
	}
}

// A machine without what the method needs says so, and is never booted in another way instead.
func TestAMachineThatCannotBootAsAskedIsNotBootedOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		method  v1alpha1.BootMethod
	}{{"openbmc", v1alpha1.BootVirtualMedia}, {"lenovo-xcc", v1alpha1.BootHTTP}, {"dell-idrac9", v1alpha1.BootHTTP}} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "cannot")
			machine := k.Enroll(playing(c.profile))
			mark := k.Mark()
			claim := k.Claim(machine.Name, bootBy(c.method))
			k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonBootMethodUnsupported)
			k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionFalse, v1alpha1.ReasonBootMethodUnsupported)
			k.UntilHeld(claim, v1alpha1.ReasonBootMethodUnsupported) // the tenant is told, and by what kstatus understands
			k.Watched(mark, machine)
			if f := k.Since(mark, machine); f.Armings() != 0 || len(f.Resets) != 0 || len(f.Boots) != 0 {
				t.Errorf("armed %d times, resets %v, boots %+v", f.Armings(), f.Resets, f.Boots)
			}
			k.Delete(claim)
			k.UntilGone(claim)
		})
	}
}

// What a BMC refuses only when it is asked is told to the tenant too, in the BMC's words (B103: what is not told is tried).
func TestATenantIsToldWhatTheBMCRefusesWhenItIsAsked(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "refused")
	machine := k.Enroll()
	if _, err := machine.BMC.Inject(sim.Fault{Kind: sim.FaultStatus, Method: http.MethodPatch, Status: http.StatusMethodNotAllowed}); err != nil {
		t.Fatal(err)
	}
	mark := k.Mark()
	claim := k.Claim(machine.Name)
	k.UntilHeld(claim, v1alpha1.ReasonEffectFailed, "405")
	k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionFalse, v1alpha1.ReasonEffectFailed)
	if f := k.Since(mark, machine); len(f.Resets) != 0 {
		t.Errorf("resets %v", f.Resets)
	}
	machine.BMC.ClearFaults()
	k.UntilReady(claim)
	k.Delete(claim)
	k.UntilGone(claim)
}

// ejected: the drive is empty, and neither ledger nor status speak of it.
func ejected(k *harness.Kit, machine *harness.Machine) func(context.Context) error {
	return func(context.Context) error {
		server := harness.Read(k, k.Server(machine.Name))
		led, err := ledger.ParseServer(server.Annotations)
		if err != nil || led.Boot == nil || led.Boot.Media != "" || server.Status.Observed.Media != nil || machine.Status().Media != "" {
			return fmt.Errorf("in the drive %q, ledger %s, told %+v", machine.Status().Media, server.Annotations[ledger.KeyBoot], server.Status.Observed.Media)
		}
		return nil
	}
}

// expectBootedFrom: one install of the image, from one of the sources, armed and powered on once (I10).
func expectBootedFrom(k *harness.Kit, mark harness.Mark, machine *harness.Machine, sources ...string) {
	k.T.Helper()
	f := k.Since(mark, machine)
	var others []string
	for _, boot := range f.Boots {
		if slices.Contains(sources, boot.Source) {
			sources = []string{boot.Source}
		} else {
			others = append(others, boot.Source)
		}
	}
	if len(f.Installs) != 1 || f.Armings() != 1 || slices.ContainsFunc(others, func(s string) bool { return s != "Hdd" }) || len(others) == len(f.Boots) {
		k.T.Errorf("%d installs, %d armings, boots %+v", len(f.Installs), f.Armings(), f.Boots)
	}
	if disk := machine.Status().Disk; disk != image {
		k.T.Errorf("on its disk %q, want %q", disk, image)
	}
}

func mediaWrites(f harness.Figures) []string {
	var out []string
	for _, r := range f.Writes {
		if strings.Contains(r.Path, "/VirtualMedia/") {
			out = append(out, r.Path+" "+r.Body)
		}
	}
	return out
}

// expectMediaOrder: inserted before armed, armed before powered on, and nothing pulled before the machine has booted (B123).
func expectMediaOrder(k *harness.Kit, mark harness.Mark, machine *harness.Machine) {
	k.T.Helper()
	var order []string
	for _, r := range k.Since(mark, machine).Writes {
		switch {
		case strings.Contains(r.Path, "/VirtualMedia/") && strings.Contains(r.Body, image):
			order = append(order, "insert")
		case strings.Contains(r.Path, "/VirtualMedia/"):
			order = append(order, "eject")
		case strings.HasSuffix(r.Path, ".Reset"):
			order = append(order, "reset")
		case strings.Contains(r.Body, "BootSourceOverride") && !strings.Contains(r.Body, "Disabled"):
			order = append(order, "arm")
		}
	}
	got := strings.Join(slices.Compact(order), " ")
	if got != "insert arm reset eject" && got != "insert arm reset eject reset" {
		k.T.Errorf("order of writes: %s", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// recorded is the ledger after the effect of a scene's step succeeded and made something.
func recorded(t *testing.T, scene lt.Override, op lifecycle.Op, made *provider.Made) ledger.Server {
	t.Helper()
	v := lt.View(scene)
	d := virtual.Decide(v)
	if d.Step.Effect == nil || d.Step.Effect.Op != op {
		t.Fatalf("%s: effect %+v, want %s", d.Step.Clause, d.Step.Effect, op)
	}
	if p := virtual.Recorded(v.Server, d.Step, made); p != nil {
		p.Apply(v.Server)
	}
	led, err := ledger.ParseServer(v.Server.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	return led
}

// TestWhatWasMadeIsRemembered: the id that saves from a second VM, and what the VM was built from (B187).
func TestWhatWasMadeIsRemembered(t *testing.T) {
	led := recorded(t, given(lt.Unmade, web), lifecycle.OpCreateInstance, &provider.Made{InstanceID: "vm-5", ImageID: lt.ImageID, SecurityGroups: [][]string{{"sg-web"}}})
	if led.ProviderID != "vm-5" || !cmp.Equal(led.Image, &ledger.Image{Selector: "name:" + lt.ImageName, ID: lt.ImageID}) {
		t.Errorf("VM %q, image %+v", led.ProviderID, led.Image)
	}
	if led.Network == nil || led.Network.Hash == "" || !cmp.Equal(led.Network.Groups, [][]string{{"sg-web"}}) {
		t.Errorf("network %+v", led.Network)
	}
}

// TestARebuildRemembersWhatItsImageResolvedTo: what is waited for is known before it shows.
func TestARebuildRemembersWhatItsImageResolvedTo(t *testing.T) {
	led := recorded(t, rebuild(rebuildOpen), lifecycle.OpRebuild, &provider.Made{ImageID: "img-13"})
	if led.Intent == nil || led.Intent.ID != "i-1" || led.Intent.ImageID != "img-13" || led.Intent.Image != "name:debian-13" {
		t.Errorf("intent %+v", led.Intent)
	}
	if led.Image.ID != lt.ImageID {
		t.Errorf("image %+v is recorded before it runs", led.Image)
	}
}

// TestTheNetworkRemembersWhatItWasBroughtTo: each part leaves the other alone.
func TestTheNetworkRemembersWhatItWasBroughtTo(t *testing.T) {
	led := recorded(t, given(web, keptIP, publicIP, attached), lifecycle.OpUpdatePorts, &provider.Made{SecurityGroups: [][]string{{"sg-web"}}})
	if n := led.Network; n == nil || n.Hash == "" || n.FloatingIP != "name:public" || len(n.Groups) != 1 {
		t.Errorf("after the ports: %+v", n)
	}
	led = recorded(t, given(webKept, publicIP), lifecycle.OpAttachFloatingIP, &provider.Made{FloatingIP: "fip-1"})
	if n := led.Network; n == nil || n.Hash == "" || n.FloatingIP != "name:public" {
		t.Errorf("after the floating IP: %+v", n)
	}
	led = recorded(t, given(keptIP, attached), lifecycle.OpReleaseFloatingIP, nil)
	if led.Network.FloatingIP != "" {
		t.Errorf("after its release: %+v", led.Network)
	}
}

// TestNothingToldIsNothingGuessed: an effect that tells nothing leaves the step's own record, or none.
func TestNothingToldIsNothingGuessed(t *testing.T) {
	led := recorded(t, given(lt.Unmade), lifecycle.OpCreateInstance, nil)
	if led.ProviderID != "" || led.Image != nil {
		t.Errorf("VM %q, image %+v", led.ProviderID, led.Image)
	}
	v := lt.View(given(lt.Stopped))
	if p := virtual.Recorded(v.Server, virtual.Decide(v).Step, &provider.Made{InstanceID: "vm-9"}); p != nil {
		t.Errorf("a start records %+v", p)
	}
}

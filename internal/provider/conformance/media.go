// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	image      = "http://images.example/debian-12.iso"
	otherImage = "http://images.example/rescue.iso"
)

// insist calls until the machine is not Busy any more, and lets it finish what the call started.
func (f *fixture) insist(call func() (provider.Outcome, error)) provider.Outcome {
	f.Helper()
	const attempts = 5
	for range attempts {
		out, err := call()
		if provider.ClassOf(err) == provider.Busy {
			f.Settle()
			continue
		}
		if err != nil {
			f.Fatalf("the call failed: %v", err)
		}
		if out.Task != "" {
			f.Settle()
		}
		return out
	}
	f.Fatalf("the machine is busy for ever")
	return provider.Outcome{}
}

func (f *fixture) insert(image string) provider.Outcome {
	f.Helper()
	return f.insist(func() (provider.Outcome, error) {
		return f.Actor().InsertMedia(f.ctx, f.byUUID(), image, provider.Expect{})
	})
}

func (f *fixture) eject(image string) provider.Outcome {
	f.Helper()
	return f.insist(func() (provider.Outcome, error) {
		return f.Actor().EjectMedia(f.ctx, f.byUUID(), image, provider.Expect{})
	})
}

// holds says whether a look shows that image inserted.
func (f *fixture) holds(image string) bool {
	f.Helper()
	facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthMedia, "")
	if err != nil {
		f.Fatal(err)
	}
	for _, slot := range facts.Media {
		if slot.Holds(image) {
			return true
		}
	}
	return false
}

var mediaCases = []testCase{
	{needs: MediaDrive, name: "a look at the state reads no media, and one that does is never NotModified", run: func(f *fixture) {
		if f.look().Media != nil {
			f.Error("a look at the state read the media")
		}
		tag := f.look().ETag
		for range 3 {
			facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthMedia, tag)
			if err != nil || facts.NotModified || len(facts.Media) == 0 || facts.Power != provider.PowerOff {
				f.Fatalf("got %+v, %v", facts, err)
			}
		}
	}},
	{needs: MediaDrive, name: "an image is inserted by one write, shows, and is inserted once", run: func(f *fixture) {
		f.once(func() { f.insert(image) })
		f.same("image in the drive", image, f.Media())
		f.same("shown", true, f.holds(image))
		f.quiet(func() { f.same("unchanged", true, f.insert(image).Unchanged) })
	}},
	{needs: MediaDrive, name: "one image replaces another", run: func(f *fixture) {
		f.insert(image)
		f.insert(otherImage)
		f.same("image in the drive", otherImage, f.Media())
		f.same("the first one shown", false, f.holds(image))
	}},
	{needs: MediaDrive, name: "an image is ejected by one write, and ejected once; another stays", run: func(f *fixture) {
		f.quiet(func() { f.same("unchanged", true, f.eject(image).Unchanged) })
		f.insert(image)
		f.quiet(func() { f.same("unchanged", true, f.eject(otherImage).Unchanged) })
		f.same("image in the drive", image, f.Media())
		f.once(func() { f.eject(image) })
		f.same("image in the drive", "", f.Media())
		f.quiet(func() { f.same("unchanged", true, f.eject(image).Unchanged) })
	}},
	{needs: MediaDrive, name: "an image ejected a moment ago is inserted anew, whatever the drive shows (B113)", run: func(f *fixture) {
		f.insert(image)
		f.eject(image)
		f.insert(image)
		f.same("image in the drive", image, f.Media())
		f.same("shown", true, f.holds(image))
	}},
	{needs: MediaDrive, name: "a machine boots the image, and the override is used up", run: func(f *fixture) {
		f.insert(image)
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), provider.BootOverride{Target: provider.BootCD, Enabled: provider.BootOnce}, provider.Expect{}))
		f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{Power: provider.PowerOff, Boot: &provider.BootExpect{Armed: true, Target: provider.BootCD}}))
		f.Settle()
		if booted := f.Booted(); len(booted) == 0 || booted[0] != image {
			f.Errorf("booted %v, want %s first", booted, image)
		}
		f.same("armed after the boot", false, f.look().Boot.Armed())
	}},
	{needs: MediaDrive, name: "media are left alone by every call that is not about them (B123)", run: func(f *fixture) {
		f.insert(image)
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), provider.BootOverride{Target: provider.BootCD, Enabled: provider.BootOnce}, provider.Expect{}))
		f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{}))
		f.Settle()
		f.done(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{}))
		f.Settle()
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{}))
		f.done(f.Actor().ClearBootOverride(f.ctx, f.byUUID(), provider.Expect{}))
		f.same("image in the drive", image, f.Media())
	}},
	{name: "what is no image is Terminal, and nothing was done", run: func(f *fixture) {
		for _, bad := range []string{"", "debian-12.iso", "nfs://images.example/debian-12.iso"} {
			f.quiet(func() {
				_, err := f.Actor().InsertMedia(f.ctx, f.byUUID(), bad, provider.Expect{})
				f.fails(err, provider.Terminal, provider.ReasonMediaRefused)
			})
		}
	}},
	{needs: MediaDrive, name: "a lost reply to an insertion is looked at before anything is repeated", run: func(f *fixture) {
		f.look()
		f.Break(LosesReply)
		f.once(func() {
			_, err := f.Actor().InsertMedia(f.ctx, f.byUUID(), image, provider.Expect{})
			f.fails(err, provider.Transient, "")
		})
		f.Repair()
		f.Settle()
		f.quiet(func() { f.same("unchanged", true, f.insert(image).Unchanged) })
		f.same("image in the drive", image, f.Media())
	}},
	{without: MediaDrive, name: "a machine without a drive is told so, and is never booted from something else instead", run: func(f *fixture) {
		f.quiet(func() {
			_, err := f.Actor().InsertMedia(f.ctx, f.byUUID(), image, provider.Expect{})
			f.fails(err, provider.Terminal, provider.ReasonMediaMissing)
			f.same("unchanged", true, f.eject(image).Unchanged)
		})
		facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthMedia, "")
		if err != nil || facts.Media == nil || len(facts.Media) > 0 {
			f.Errorf("got %v, %v, want no slots", facts.Media, err)
		}
		f.same("armed", false, f.Override().Armed())
	}},
}

var httpCases = []testCase{
	{needs: HTTPBoot, name: "a URI to boot from over HTTP is armed and shows", run: func(f *fixture) {
		want := provider.BootOverride{Target: provider.BootHTTP, Enabled: provider.BootOnce, HTTPURI: "http://images.example/boot.efi"}
		f.once(func() { f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), want, provider.Expect{})) })
		seen := f.look().Boot
		f.same("target", provider.BootHTTP, seen.Target)
		f.same("URI", want.HTTPURI, seen.HTTPURI)
		f.quiet(func() { f.unchanged(f.Actor().SetBootOverride(f.ctx, f.byUUID(), want, provider.Expect{})) })
	}},
	{needs: HTTPBoot, name: "another URI replaces it: the target alone is not enough", run: func(f *fixture) {
		want := provider.BootOverride{Target: provider.BootHTTP, Enabled: provider.BootOnce, HTTPURI: "http://images.example/boot.efi"}
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), want, provider.Expect{}))
		want.HTTPURI = "http://images.example/other.efi"
		f.once(func() { f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), want, provider.Expect{})) })
		f.same("URI", want.HTTPURI, f.look().Boot.HTTPURI)
	}},
	{without: HTTPBoot, name: "a machine that takes no URI is told so, and is never booted over PXE instead", run: func(f *fixture) {
		f.quiet(func() {
			want := provider.BootOverride{Target: provider.BootHTTP, Enabled: provider.BootOnce, HTTPURI: "http://images.example/boot.efi"}
			_, err := f.Actor().SetBootOverride(f.ctx, f.byUUID(), want, provider.Expect{})
			f.fails(err, provider.Terminal, provider.ReasonBootTargetMissing)
		})
		f.same("armed", false, f.Override().Armed())
	}},
}

// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	fakeSystemPath = "/redfish/v1/Systems/1"
	fakeReset      = fakeSystemPath + "/Actions/ComputerSystem.Reset"
)

// TestPowerWords: On and Off in the words of BMCs; what nobody knows is Unknown, and no reset follows from it (B028).
func TestPowerWords(t *testing.T) {
	for _, row := range []struct {
		told any
		want provider.PowerState
	}{
		{"On", provider.PowerOn}, {"ON", provider.PowerOn}, {"on", provider.PowerOn}, {"Chassis Power is on", provider.PowerOn}, {" On ", provider.PowerOn},
		{"Off", provider.PowerOff}, {"off", provider.PowerOff}, {"Chassis Power is off", provider.PowerOff},
		{"PoweringOn", provider.PoweringOn}, {"Powering Off", provider.PoweringOff},
		{"", provider.PowerUnknown}, {nil, provider.PowerUnknown}, {"Paused", provider.PowerUnknown}, {"Reset", provider.PowerUnknown}, {7, provider.PowerUnknown},
		{"Station", provider.PowerUnknown}, {object{}, provider.PowerUnknown},
	} {
		f := newFake(t, func(s object) { s["PowerState"] = row.told })
		b := f.connect()
		equal(t, "power", row.want, observe(t, b).Power)
		if row.want != provider.PowerUnknown {
			continue
		}
		for _, act := range []func() error{
			func() error { _, err := b.Actor().PowerOn(t.Context(), fakeRef, provider.Expect{}); return err },
			func() error { _, err := b.Actor().ShutDown(t.Context(), fakeRef, provider.Expect{}); return err },
			func() error { _, err := b.Actor().ForceOff(t.Context(), fakeRef, provider.Expect{}); return err },
			func() error { return b.Actor().ConfirmOff(t.Context(), fakeRef, provider.Expect{}) },
		} {
			wantError(t, act(), provider.Mismatch, provider.ReasonStateMismatch)
		}
		equal(t, "resets", 0, len(resets(f)))
	}
}

// TestResetTypes: chosen from what the system allows, told in place or in ActionInfo or not at all; graceful never becomes forced (B025, B027).
func TestResetTypes(t *testing.T) {
	inline := func(types ...any) func(object) {
		return func(s object) {
			s["Actions"] = object{"#ComputerSystem.Reset": object{"target": fakeReset, "ResetType@Redfish.AllowableValues": types}}
		}
	}
	linked := func(s object) {
		s["Actions"] = object{"#ComputerSystem.Reset": object{"target": fakeReset, "@Redfish.ActionInfo": fakeSystemPath + "/ResetActionInfo"}}
	}
	silent := func(s object) { s["Actions"] = object{"#ComputerSystem.Reset": object{"target": fakeReset}} }
	for _, row := range []struct {
		name   string
		change func(object)
		power  string
		call   func(t *testing.T, a provider.Actor) error
		want   string // "" is ResetTypeMissing
	}{
		{"on", inline("On", "ForceOn"), "Off", powerOn, "On"},
		{"on, by ForceOn", inline("ForceOn"), "Off", powerOn, "ForceOn"},
		{"on, never by the power button", inline("PushPowerButton", "PowerCycle"), "Off", powerOn, ""},
		{"graceful", inline("GracefulShutdown", "ForceOff"), "On", shutDown, "GracefulShutdown"},
		{"graceful is not allowed", inline("ForceOff", "On"), "On", shutDown, ""},
		{"forced", inline("GracefulShutdown", "ForceOff"), "On", forceOff, "ForceOff"},
		{"forced is not allowed", inline("GracefulShutdown"), "On", forceOff, ""},
		{"ActionInfo", linked, "Off", powerOn, "ForceOn"},
		{"not told: tried", silent, "On", shutDown, "GracefulShutdown"},
		{"no reset at all", func(s object) { s["Actions"] = nil }, "Off", powerOn, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t, row.change, func(s object) { s["PowerState"] = row.power })
			f.docs[fakeSystemPath+"/ResetActionInfo"] = object{"Parameters": []any{
				object{"Name": "Other", "AllowableValues": []any{"On"}}, object{"Name": "ResetType", "AllowableValues": []any{"ForceOn", "ForceOff"}},
			}}
			f.answer("POST "+fakeReset, http.StatusNoContent, "")
			err := row.call(t, f.connect().Actor())
			posts := f.got(http.MethodPost)
			if row.want == "" {
				wantError(t, err, provider.Terminal, provider.ReasonResetTypeMissing)
				equal(t, "resets", 0, len(posts))
				return
			}
			if err != nil || len(posts) != 1 {
				t.Fatalf("%d resets, %v", len(posts), err)
			}
			equal(t, "body", `{"ResetType":"`+row.want+`"}`, posts[0].body)
			equal(t, "If-Match on an action (B127)", "", posts[0].header.Get("If-Match"))
			equal(t, "content type (B120)", "application/json", posts[0].header.Get("Content-Type"))
		})
	}
}

func powerOn(t *testing.T, a provider.Actor) error {
	_, err := a.PowerOn(t.Context(), fakeRef, provider.Expect{})
	return err
}

func shutDown(t *testing.T, a provider.Actor) error {
	_, err := a.ShutDown(t.Context(), fakeRef, provider.Expect{})
	return err
}

func forceOff(t *testing.T, a provider.Actor) error {
	_, err := a.ForceOff(t.Context(), fakeRef, provider.Expect{})
	return err
}

// TestActionInfoIsAskedOnce: a reset needs no other look between the check and the action.
func TestActionInfoIsAskedOnce(t *testing.T) {
	f := newFake(t, func(s object) {
		s["Actions"] = object{"#ComputerSystem.Reset": object{"target": fakeReset, "@Redfish.ActionInfo": object{"@odata.id": fakeSystemPath + "/ResetActionInfo"}}}
	})
	f.docs[fakeSystemPath+"/ResetActionInfo"] = object{"Parameters": []any{object{"Name": "ResetType", "AllowableValues": []any{"On"}}}}
	f.answer("POST "+fakeReset, http.StatusNoContent, "")
	b := f.connect()
	if _, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthInventory, ""); err != nil {
		t.Fatal(err)
	}
	before := len(f.got(""))
	if err := powerOn(t, b.Actor()); err != nil {
		t.Fatal(err)
	}
	var after []string
	for _, r := range f.got("")[before:] {
		after = append(after, r.method+" "+r.path)
	}
	equal(t, "requests", []string{"GET " + fakeSystemPath, "POST " + fakeReset}, after)
}

// TestTasks: work that goes on gives the URI of its task monitor, as a path of this service, from wherever it is told (B142, B144).
func TestTasks(t *testing.T) {
	for _, row := range []struct{ name, location, body, want string }{
		{"relative", "/redfish/v1/TaskService/TaskMonitors/7", "", "/redfish/v1/TaskService/TaskMonitors/7"},
		{"absolute", "https://192.0.2.1/redfish/v1/TaskService/TaskMonitors/7", "", "/redfish/v1/TaskService/TaskMonitors/7"},
		{"in the body", "", `{"@odata.id":"/redfish/v1/TaskService/Tasks/7","TaskMonitor":"/redfish/v1/TaskService/TaskMonitors/7"}`, "/redfish/v1/TaskService/TaskMonitors/7"},
		{"the task itself", "", `{"@odata.id":"/redfish/v1/TaskService/Tasks/7"}`, "/redfish/v1/TaskService/Tasks/7"},
		{"nothing told", "", "", ""},
		{"nonsense", "", "<html>", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.handle("POST "+fakeReset, func(w http.ResponseWriter, _ *http.Request) {
				if row.location != "" {
					w.Header().Set("Location", row.location)
				}
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write([]byte(row.body))
			})
			out, err := f.connect().Actor().PowerOn(t.Context(), fakeRef, provider.Expect{})
			if err != nil || out.Task != row.want || out.Unchanged {
				t.Errorf("got %+v, %v; want %q", out, err, row.want)
			}
		})
	}
}

// TestConditionsAreCheckedLast: after a search among several systems the one meant is read again before anything is done.
func TestConditionsAreCheckedLast(t *testing.T) {
	f := twoSystems(t)
	f.answer("POST "+fakeReset, http.StatusNoContent, "")
	second := f.docs["/redfish/v1/Systems/2"]
	f.handle("GET /redfish/v1/Systems/2", func(w http.ResponseWriter, _ *http.Request) {
		f.set(fakeSystemPath, object{"PowerState": "On"}) // somebody presses the button while the search goes on
		f.send(w, second)
	})
	_, err := f.connect().Actor().PowerOn(t.Context(), fakeRef, provider.Expect{Power: provider.PowerOff})
	wantError(t, err, provider.Mismatch, provider.ReasonStateMismatch)
	equal(t, "resets", 0, len(resets(f)))
}

// TestIndicators: the property there is, in the words of the vendor.
func TestIndicators(t *testing.T) {
	for _, row := range []struct {
		name   string
		vendor string
		has    object
		seen   provider.IndicatorLED
		want   provider.IndicatorLED
		sends  string // "" is IndicatorMissing
	}{
		{"LED", "", object{"IndicatorLED": "Off"}, provider.IndicatorOff, provider.IndicatorBlinking, `{"IndicatorLED":"Blinking"}`},
		{"location", "", object{"LocationIndicatorActive": false}, provider.IndicatorOff, provider.IndicatorLit, `{"LocationIndicatorActive":true}`},
		{"location cannot blink", "", object{"LocationIndicatorActive": false}, provider.IndicatorOff, provider.IndicatorBlinking, ""},
		{"both: the one that blinks", "", object{"LocationIndicatorActive": false, "IndicatorLED": "Lit"}, provider.IndicatorLit, provider.IndicatorOff, `{"IndicatorLED":"Off"}`},
		{"LED null", "", object{"IndicatorLED": nil, "LocationIndicatorActive": true}, provider.IndicatorLit, provider.IndicatorOff, `{"LocationIndicatorActive":false}`},
		{"none", "", object{}, "", provider.IndicatorLit, ""},
		{"Dell: Lit is normal", "Dell", object{"IndicatorLED": "Lit"}, provider.IndicatorOff, provider.IndicatorLit, `{"IndicatorLED":"Blinking"}`},
		{"Dell: Blinking is lit", "Dell Inc.", object{"IndicatorLED": "Blinking"}, provider.IndicatorLit, provider.IndicatorOff, `{"IndicatorLED":"Lit"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.set(fakeSystemPath, row.has)
			b := connect(t, Endpoint{URL: f.srv.URL, Vendor: row.vendor})
			equal(t, "seen", row.seen, observe(t, b).Indicator)
			_, err := b.Actor().SetIndicator(t.Context(), fakeRef, row.want, provider.Expect{})
			patches := f.got(http.MethodPatch)
			if row.sends == "" {
				wantError(t, err, provider.Terminal, provider.ReasonIndicatorMissing)
				equal(t, "writes", 0, len(patches))
				return
			}
			if err != nil || len(patches) != 1 {
				t.Fatalf("%d writes, %v", len(patches), err)
			}
			equal(t, "sent", row.sends, patches[0].body)
		})
	}
}

// TestStampSupport: without the property there is no stamp, and nothing is tried; a refusal or an altered tag is the same, told by class.
func TestStampSupport(t *testing.T) {
	write := func(f *fakeBMC) error {
		_, err := f.connect().Actor().WriteAssetTag(t.Context(), fakeRef, "hf1:abc", provider.Expect{AssetTag: new("")})
		return err
	}
	f := newFake(t, func(s object) { delete(s, "AssetTag") })
	equal(t, "support", false, observe(t, f.connect()).StampSupport)
	wantError(t, write(f), provider.Terminal, provider.ReasonStampUnsupported)
	equal(t, "writes", 0, len(f.got(http.MethodPatch)))

	refuses := newFake(t)
	refuses.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, redfishError("PropertyNotWritable", ""))
	equal(t, "support", true, observe(t, refuses.connect()).StampSupport)
	wantError(t, write(refuses), provider.Terminal, provider.ReasonStampUnsupported)

	slow := newFake(t)
	slow.answer("PATCH "+fakeSystemPath, http.StatusNoContent, "")
	wantError(t, write(slow), provider.Transient, provider.ReasonProtocolError)

	alters := newFake(t)
	alters.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		shown := "HF1:ABC"
		if len(alters.got(http.MethodPatch)) > 1 {
			shown = ""
		}
		alters.set(fakeSystemPath, object{"AssetTag": shown})
		w.WriteHeader(http.StatusOK)
	})
	wantError(t, write(alters), provider.Terminal, provider.ReasonStampUnsupported)
	var bodies []string
	for _, r := range alters.got(http.MethodPatch) {
		bodies = append(bodies, r.body)
	}
	equal(t, "writes", []string{`{"AssetTag":"hf1:abc"}`, `{"AssetTag":""}`}, bodies)
}

// TestPreconditionsOfTheService: If-Match is sent where it is demanded, with the tag of the very resource, fresh after a 412, and only
// while what the caller relies on still holds (B131).
func TestPreconditionsOfTheService(t *testing.T) {
	f := newFake(t, func(s object) { s["@odata.etag"] = `"1"`; s["IndicatorLED"] = "Off" })
	var matches []string
	f.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, r *http.Request) {
		match := r.Header.Get("If-Match")
		matches = append(matches, match)
		switch {
		case match == "":
			w.WriteHeader(http.StatusPreconditionRequired)
		case len(matches) == 2: // somebody changed it in between
			f.set(fakeSystemPath, object{"@odata.etag": `"2"`})
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	b := f.connect()
	if _, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{Power: provider.PowerOff}); err != nil {
		t.Fatal(err)
	}
	equal(t, "If-Match", []string{"", `"1"`, `"2"`}, matches)
	if _, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "If-Match, once it is known to be demanded", `"2"`, matches[3])

	moved := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
	moved.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		moved.set(fakeSystemPath, object{"PowerState": "On"})
		w.WriteHeader(http.StatusPreconditionFailed)
	})
	_, err := moved.connect().Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{Power: provider.PowerOff})
	wantError(t, err, provider.Mismatch, provider.ReasonStateMismatch)
	equal(t, "writes", 1, len(moved.got(http.MethodPatch)))
}

// TestServiceBehindAPath: the path before /redfish is kept for every request, whatever the links say (B134).
func TestServiceBehindAPath(t *testing.T) {
	f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
	f.mu.Lock()
	for path, doc := range f.docs {
		f.docs["/bmc1"+path] = doc
	}
	f.mu.Unlock()
	b := connect(t, Endpoint{URL: f.srv.URL + "/bmc1"})
	if _, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(f.got(""), func(r sent) bool { return !strings.HasPrefix(r.path, "/bmc1/redfish/v1") }); i >= 0 {
		t.Errorf("asked for %s", f.got("")[i].path)
	}
}

// SPDX-License-Identifier: Apache-2.0

package redfish

// Behaviour is the mood of a BMC and its machines. It can be changed at any time, from Go by
// [BMC.Behave] and over the control endpoint. The zero value is a BMC at its best.
type Behaviour struct {
	// IgnoreShutdown: the operating system does not react to the power button or a graceful shutdown.
	IgnoreShutdown bool `json:"ignoreShutdown,omitempty"`
	// IgnoreReset: every reset is answered with success and has no effect.
	IgnoreReset bool `json:"ignoreReset,omitempty"`
	// RefuseNoopReset: On for a machine that is on, or ForceOff for one that is off, is 409.
	RefuseNoopReset bool `json:"refuseNoopReset,omitempty"`
	// HideTransitions: PowerState shows the old state until the new one is reached, never PoweringOn or
	// PoweringOff.
	HideTransitions bool `json:"hideTransitions,omitempty"`
	// BlankAfterReboot: for so long after the BMC has restarted, machines read Off and boot progress None,
	// whatever they do.
	BlankAfterReboot Duration `json:"blankAfterReboot,omitzero"`

	// OverrideLag: a boot override is shown, and used, only so long after it was accepted.
	OverrideLag Duration `json:"overrideLag,omitzero"`
	// EjectLag: ejected media is shown as inserted for so long.
	EjectLag Duration `json:"ejectLag,omitzero"`

	// AssetTag: "refuse" answers writes with 400, "ignore" accepts and forgets them, "truncate" cuts them
	// to AssetTagLength bytes without a word. Empty: written.
	AssetTag       AssetTagMode `json:"assetTag,omitempty"`
	AssetTagLength int          `json:"assetTagLength,omitempty"`

	// UnknownWhileOff: while a machine is off nothing is known of it but its power: no UUID, serial number,
	// model, memory or processors.
	UnknownWhileOff bool `json:"unknownWhileOff,omitempty"`
	// ChassisSaysOn: the chassis reads On whatever its machine does (B031).
	ChassisSaysOn bool `json:"chassisSaysOn,omitempty"`
	// TraysNeedPower: trays answer 503 unless the first machine is on (B130).
	TraysNeedPower bool `json:"traysNeedPower,omitempty"`
	// ShuffleMembers: collections list their members the other way round at every second look (B149).
	ShuffleMembers bool `json:"shuffleMembers,omitempty"`

	// PagesLoop: the last page of a collection names itself as the next one (B137).
	PagesLoop bool `json:"pagesLoop,omitempty"`
	// NumbersAsText: numbers in documents are texts (B135).
	NumbersAsText bool `json:"numbersAsText,omitempty"`
	// ErrorShape is how refusals are worded.
	ErrorShape ErrorShape `json:"errorShape,omitempty"`

	// NotNowAfterReset: for so long after a reset was taken, another one and changes of the system are 503.
	NotNowAfterReset Duration `json:"notNowAfterReset,omitzero"`
	// NoBootInPOST: the boot override cannot be changed during power-on self-test.
	NoBootInPOST bool `json:"noBootInPOST,omitempty"`
	// BootNeeds are members every change of the boot override must name (B095, B110).
	BootNeeds []string `json:"bootNeeds,omitempty"`
	// LegacyUnlessTold: a boot target that comes without a mode is booted in legacy mode (B094).
	LegacyUnlessTold bool `json:"legacyUnlessTold,omitempty"`

	// MediaNeeds are parameters an insert must have besides Image (B119); with MediaOnlyImage it may have
	// no others (B117). MediaNoQuery refuses images whose URL has a query (B122).
	MediaNeeds     []string `json:"mediaNeeds,omitempty"`
	MediaOnlyImage bool     `json:"mediaOnlyImage,omitempty"`
	MediaNoQuery   bool     `json:"mediaNoQuery,omitempty"`
	// MediaNeedsInserted: an image that is written without Inserted is kept and not attached.
	MediaNeedsInserted bool `json:"mediaNeedsInserted,omitempty"`

	// NoMatchOnActions: an action with If-Match is 412 (B127). NoEmptyBody: one without a body is 415 (B120).
	NoMatchOnActions bool `json:"noMatchOnActions,omitempty"`
	NoEmptyBody      bool `json:"noEmptyBody,omitempty"`
	// StaleTags: the entity tag of a system does not change with its power and boot progress. EmptyTags:
	// tags are empty, and none matches (B131). GzipTags: the header's tag is not the one to match (B128).
	StaleTags bool `json:"staleTags,omitempty"`
	EmptyTags bool `json:"emptyTags,omitempty"`
	GzipTags  bool `json:"gzipTags,omitempty"`
	// RequireIfMatch: a PATCH of a system without If-Match is 428.
	RequireIfMatch bool `json:"requireIfMatch,omitempty"`

	// AsyncReset, AsyncPatch, AsyncMedia: a reset, a change of a system, an insert or eject is answered 202
	// with a task monitor and carried out when the task is done, after TaskDuration; with TaskFails the
	// task ends in Exception and nothing is carried out. A new task's resources answer 404 for TaskHidden.
	AsyncReset   bool     `json:"asyncReset,omitempty"`
	AsyncPatch   bool     `json:"asyncPatch,omitempty"`
	AsyncMedia   bool     `json:"asyncMedia,omitempty"`
	TaskDuration Duration `json:"taskDuration,omitzero"`
	TaskFails    bool     `json:"taskFails,omitempty"`
	TaskHidden   Duration `json:"taskHidden,omitzero"`

	// TaskBare: 202 comes without a body (B144). TaskSeeOther: the monitor of a task that is done answers 303
	// with the task's own place (B145). TaskVanishes: it answers 404.
	TaskBare     bool `json:"taskBare,omitempty"`
	TaskSeeOther bool `json:"taskSeeOther,omitempty"`
	TaskVanishes bool `json:"taskVanishes,omitempty"`
	// TaskLocation is how 202 says where the monitor is.
	TaskLocation LocationStyle `json:"taskLocation,omitempty"`

	// ClockSkew is how far the BMC's own clock is ahead of the true one.
	ClockSkew Duration `json:"clockSkew,omitzero"`

	// Timing, when set, replaces the rack's for this BMC and its machines.
	Timing *Timing `json:"timing,omitempty"`
}

// AssetTagMode is how a BMC treats writes of the asset tag.
type AssetTagMode string

// How asset tags may be treated.
const (
	AssetTagWritten   AssetTagMode = ""
	AssetTagRefused   AssetTagMode = "refuse"
	AssetTagIgnored   AssetTagMode = "ignore"
	AssetTagTruncated AssetTagMode = "truncate"
)

// LocationStyle is how a BMC writes the Location of a task monitor.
type LocationStyle string

// How locations may be written.
const (
	LocationPath LocationStyle = ""     // a path
	LocationURL  LocationStyle = "url"  // a URL with the name the BMC has for itself
	LocationNone LocationStyle = "none" // not at all: the body tells
)

// Behave lets edit change the BMC's behaviour.
func (b *BMC) Behave(edit func(*Behaviour)) {
	defer b.rack.enter()()
	edit(&b.behaviour)
}

// Behaviour returns how the BMC behaves now.
func (b *BMC) Behaviour() Behaviour {
	defer b.rack.enter()()
	return b.behaviour
}

func (b *BMC) timing() Timing {
	if b.behaviour.Timing != nil {
		return *b.behaviour.Timing
	}
	return b.rack.timing
}

// SPDX-License-Identifier: Apache-2.0

package provider

import "context"

// Depth says how much a look at a system reads.
type Depth int

const (
	// DepthState reads the ComputerSystem alone.
	DepthState Depth = iota
	// DepthInventory reads processors, memory, NICs, drives and capabilities too.
	DepthInventory
	// DepthMedia reads the ComputerSystem and the slots for virtual media: for a system that boots by them, or is about to. Never
	// answered NotModified.
	DepthMedia
)

// Observer looks at a BMC and the systems behind it. It never changes anything. Used by the monitor only (P7).
type Observer interface {
	// Discover tells what the BMC is and which systems are behind it.
	Discover(ctx context.Context) (BMCFacts, error)
	// Observe takes a picture of one system. With etag set it MAY answer NotModified; it MUST NOT where the BMC's ETags are not to be trusted.
	Observe(ctx context.Context, system SystemRef, depth Depth, etag string) (SystemFacts, error)
	// ObserveTask tells how the work behind Outcome.Task goes. uri is that text, from this process or an earlier one. A task that is
	// not known to the BMC is TaskRunning for a grace period, counted from the first time this connection was asked about it (B147),
	// and TaskGone from then on. An error says nothing about the task: ask again.
	ObserveTask(ctx context.Context, uri string) (TaskState, error)
}

// Expect is the state an acting call relies on. Zero fields are not relied on. The call re-reads the system on its own
// connection and answers Mismatch where a named field is not as expected.
type Expect struct {
	Power    PowerState  // exact power state
	AssetTag *string     // exact asset tag
	Boot     *BootExpect // the override
	// Serial is the serial number of the machine that was seen, compared where the machine tells one: behind the same Redfish Id another
	// machine may answer by now.
	Serial string
}

// BootExpect is what a call relies on about the boot override.
type BootExpect struct {
	Armed  bool
	Target BootTarget // only compared when Armed
}

// Outcome is what an accepted acting call leaves behind.
type Outcome struct {
	// Task is the URI of the task monitor where the work goes on as a task; "" where it does not.
	Task string
	// Unchanged is true where the machine already was as wanted and nothing was sent.
	Unchanged bool
	// Made is what a call at a cloud tells to be remembered; nil where it tells nothing.
	Made *Made
}

// Power switches a machine. See the package documentation for what every call must keep.
type Power interface {
	// PowerOn switches the machine on. A machine that is already On is Unchanged unless Expect says Off, then it is a Mismatch.
	PowerOn(ctx context.Context, system SystemRef, expect Expect) (Outcome, error)
	// ShutDown asks the operating system to stop (GracefulShutdown). Never silently becomes ForceOff (B025).
	ShutDown(ctx context.Context, system SystemRef, expect Expect) (Outcome, error)
	// ForceOff cuts the power.
	ForceOff(ctx context.Context, system SystemRef, expect Expect) (Outcome, error)
	// ConfirmOff changes nothing: nil when the machine itself says Off now and the rest of expect holds, Mismatch otherwise.
	ConfirmOff(ctx context.Context, system SystemRef, expect Expect) error
	// ConfirmOn is ConfirmOff for a machine that says On.
	ConfirmOn(ctx context.Context, system SystemRef, expect Expect) error
}

// Boot arms and clears the boot source override.
type Boot interface {
	// SetBootOverride arms override and reads it back; an override that does not show is a Transient error, looked at again by the next pass.
	SetBootOverride(ctx context.Context, system SystemRef, override BootOverride, expect Expect) (Outcome, error)
	// ClearBootOverride disables whatever override is armed.
	ClearBootOverride(ctx context.Context, system SystemRef, expect Expect) (Outcome, error)
}

// Media puts images into a system's virtual CD drive. Which slot that is the provider knows: see MediaSlot.
type Media interface {
	// InsertMedia makes the image at that http or https URL the one in the drive, and reads it back. What else is in the drive is ejected
	// first. Unchanged where the image is in it already, by a picture that is not left over from an ejection a moment ago (B113): so it
	// MUST be called before each boot that is to take the image, whatever an earlier look showed. An image that does not show is a
	// Transient error; a machine that must finish something first is Busy. A system without a drive, or that refuses the image, is Terminal.
	InsertMedia(ctx context.Context, system SystemRef, image string, expect Expect) (Outcome, error)
	// EjectMedia takes that image out, wherever it is in; other images stay. Unchanged where it is in no drive.
	EjectMedia(ctx context.Context, system SystemRef, image string, expect Expect) (Outcome, error)
}

// Stamper writes the mark by which a machine remembers whose it is.
type Stamper interface {
	// WriteAssetTag writes tag ("" clears) and reads it back. A BMC that refuses or alters it is Terminal(ReasonStampUnsupported), and what was there before is put back.
	// Expect.AssetTag MUST be set: nobody's tag is overwritten unseen.
	WriteAssetTag(ctx context.Context, system SystemRef, tag string, expect Expect) (Outcome, error)
}

// Indicator switches the identification light.
type Indicator interface {
	SetIndicator(ctx context.Context, system SystemRef, led IndicatorLED, expect Expect) (Outcome, error)
}

// Actor is all that the reconciler may do to a system of bare metal.
type Actor interface {
	Power
	Boot
	Media
	Stamper
	Indicator
}

// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// What the fields of entries may say. Times are brought to UTC here, so that two readings of one entry compare equal.

func (p *PowerOn) check() error {
	return errors.Join(
		oneOf("by", p.By, ByClaim, BySpec, ByMaintenance, ByUnknown),
		when(p.By == ByClaim || p.By == ByMaintenance, present("id", p.ID)),
		given(&p.At),
	)
}

func (b *Boot) check() error {
	return errors.Join(
		present("claim", b.Claim),
		oneOf("stage", b.Stage, StageBooting, StageStarting, StageBooted),
		given(&b.At),
	)
}

func (r *Released) check() error { return errors.Join(present("claim", r.Claim), given(&r.At)) }

func (*AssetTag) check() error { return nil }

func (i *Intent) check() error {
	i.Asked = i.Asked.UTC()
	return errors.Join(
		present("id", i.ID),
		oneOf("op", i.Op, IntentPowerOff, IntentRebuild, IntentRetry),
		oneOf("why", i.Why, WhyDiscovery, WhySpec, WhyBootClaim, WhyClaimPower, WhyRestart, WhyReleased, WhyMaintenance, WhyImage, WhyCreate, WhyConsent),
		present("target", i.Target),
		given(&i.At),
	)
}

func (p *Provisioned) check() error { return errors.Join(present("id", p.ID), given(&p.At)) }

func (a *CreateAttempts) check() error {
	return errors.Join(present("hash", a.Hash), when(a.Count < 1, fmt.Errorf("field count is %d", a.Count)), given(&a.At))
}

func (i *Image) check() error {
	return errors.Join(present("selector", i.Selector), present("id", i.ID))
}

func (*Network) check() error { return nil }

func oneOf[T ~string](field string, value T, allowed ...T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("field %s is %q, which this version does not know", field, value)
}

func present(field, value string) error {
	if value == "" {
		return fmt.Errorf("field %s is missing", field)
	}
	return nil
}

func when(applies bool, err error) error {
	if applies {
		return err
	}
	return nil
}

func given(at *time.Time) error {
	if at.IsZero() {
		return errors.New("field at is missing")
	}
	*at = at.UTC()
	return nil
}

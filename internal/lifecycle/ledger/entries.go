// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Entries are changes to a ledger, by full annotation key, as lifecycle.Patch.Ledger takes them: a value sets the entry, "" removes
// it, and a key that is not named is left alone. Each method notes one change and returns the receiver.
type Entries map[string]string

// Identity sets this object's identity. It is written once; the API server refuses to change it.
func (e Entries) Identity(id string) Entries { return e.set(KeyIdentity, id) }

// Owner sets who may act.
func (e Entries) Owner(clusterID string) Entries { return e.set(KeyOwner, clusterID) }

// ObjectUID confirms the ledger for an object.
func (e Entries) ObjectUID(uid types.UID) Entries { return e.set(KeyObjectUID, string(uid)) }

// RestoreEpoch notes for which epoch a person has resumed the server.
func (e Entries) RestoreEpoch(epoch string) Entries { return e.set(KeyRestoreEpoch, epoch) }

// DiscoveredAt sets the latch; the zero time clears it.
func (e Entries) DiscoveredAt(t time.Time) Entries { return e.set(KeyDiscoveredAt, instantText(t)) }

// Restarted sets the restart carried out; the zero time clears it.
func (e Entries) Restarted(t time.Time) Entries { return e.set(KeyRestarted, instantText(t)) }

// DirtySince sets the latch; the zero time clears it.
func (e Entries) DirtySince(t time.Time) Entries { return e.set(KeyDirtySince, instantText(t)) }

// OffAt notes when a power-off of ours was last seen done; the zero time clears it.
func (e Entries) OffAt(t time.Time) Entries { return e.set(KeyOffAt, instantText(t)) }

// PowerOn sets why the machine may be On; nil clears it.
func (e Entries) PowerOn(p *PowerOn) Entries { return e.set(KeyPowerOn, objectText(p)) }

// Boot sets how far the boot has come; nil clears it.
func (e Entries) Boot(b *Boot) Entries { return e.set(KeyBoot, objectText(b)) }

// Released sets the last release finished; nil clears it.
func (e Entries) Released(r *Released) Entries { return e.set(KeyReleased, objectText(r)) }

// AssetTag sets what there was before our stamp; nil clears it.
func (e Entries) AssetTag(a *AssetTag) Entries { return e.set(KeyAssetTag, objectText(a)) }

// Intent announces a destructive effect; nil withdraws or closes it.
func (e Entries) Intent(i *Intent) Entries { return e.set(KeyIntent, objectText(i)) }

// ProvisionedAt sets the latch of the first launch. It is written once; the API server refuses to change it.
func (e Entries) ProvisionedAt(p *Provisioned) Entries { return e.set(KeyProvisionedAt, objectText(p)) }

// ProviderID sets the id of the VM; "" clears it.
func (e Entries) ProviderID(id string) Entries { return e.set(KeyProviderID, id) }

// CreateAttempts sets the budget used; nil clears it.
func (e Entries) CreateAttempts(a *CreateAttempts) Entries {
	return e.set(KeyCreateAttempts, objectText(a))
}

// Image sets what the VM was built from; nil clears it.
func (e Entries) Image(i *Image) Entries { return e.set(KeyImage, objectText(i)) }

// Network sets what ports and floating IP were brought to; nil clears it.
func (e Entries) Network(n *Network) Entries { return e.set(KeyNetwork, objectText(n)) }

// Project sets in which project of the cloud everything of the server is.
func (e Entries) Project(id string) Entries { return e.set(KeyProject, id) }

// Bound sets the identity of the server that a claim got.
func (e Entries) Bound(serverIdentity string) Entries { return e.set(KeyBound, serverIdentity) }

func (e Entries) set(key, value string) Entries {
	e[key] = value
	return e
}

func instantText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// objectText renders an entry of this package: plain fields, which always render.
func objectText[T any](entry *T) string {
	if entry == nil {
		return ""
	}
	var raw strings.Builder
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false) // a URL of an image may be full of ampersands
	if err := encoder.Encode(entry); err != nil {
		// A year beyond 9999 alone can fail. An unreadable entry parks the object, which is what a broken clock should do.
		return "unrenderable: " + err.Error()
	}
	return strings.TrimSuffix(raw.String(), "\n")
}

// Render gives the whole ledger as annotations; what is absent has none.
func (s Server) Render() map[string]string {
	return withoutAbsent(Entries{}.
		Identity(s.Identity).Owner(s.Owner).ObjectUID(s.ObjectUID).RestoreEpoch(s.RestoreEpoch).
		DiscoveredAt(s.DiscoveredAt).Restarted(s.Restarted).DirtySince(s.DirtySince).OffAt(s.OffAt).
		PowerOn(s.PowerOn).Boot(s.Boot).Released(s.Released).AssetTag(s.AssetTag).Intent(s.Intent).
		ProvisionedAt(s.ProvisionedAt).ProviderID(s.ProviderID).CreateAttempts(s.CreateAttempts).Image(s.Image).Network(s.Network).Project(s.Project))
}

// Render gives the whole ledger as annotations; what is absent has none.
func (c Claim) Render() map[string]string {
	return withoutAbsent(Entries{}.Identity(c.Identity).Bound(c.Bound))
}

func withoutAbsent(entries Entries) map[string]string {
	for key, value := range entries {
		if value == "" {
			delete(entries, key)
		}
	}
	return entries
}
